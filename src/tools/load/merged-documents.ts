/** `-S m`: finds the keys of documents, and decides what happens to each document. */
import { createHash, type Hash } from 'node:crypto';
import { InputError } from '../../engine/diagnostics.ts';
import { parseKeyPaths, type KeyPath, createKeyReader } from '../../engine/merge-keys.ts';
import { pathSteps } from '../../engine/model/name-labels.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { RowElementName } from '../../engine/shred/row-tag/elements.ts';
import { createNameTable } from '../../engine/xml/names/interned.ts';
import { AppError } from '../../errors.ts';
import type { WatchedFiles } from '../../service/jobs/request/shape.ts';
import type { CurrentDocument, MergedDocument, MergeOrder, RowSink } from '../../ports/row-sink.ts';
import type { ReplacedFile } from '../../ports/stores/watches.ts';
import type { InputSet } from '../../inputs/list-files.ts';
import type { InputMember } from '../../inputs/members.ts';
import { hashDocument, readDocument } from '../../inputs/read-document.ts';
import { documentsOf, nameWithoutGz } from '../../service/watches/define.ts';
import {
  filesOfJob,
  isLater,
  type FileOfWatch,
  type FilesOfDocuments,
  type FindRemovedFiles,
} from '../session/watched-files.ts';
import type { ToolSession } from '../session/tool-session.ts';
import { createDocumentCut, documentName } from './document-cut.ts';
import { partHash, type DocumentHashes } from './document-hashes.ts';
import type { Rejects } from './findings.ts';

export interface MergeInputs {
  readonly inputs: InputSet;
  readonly rejects: Rejects;
  readonly model: RelationalModel;
  readonly rowTag: RowElementName | null;
  /** the schema evolves to include new content */
  readonly evolves: boolean;
  /** current documents of the target; absent if it does not support the save mode */
  readonly currentDocuments?: RowSink['currentDocuments'] | undefined;
  readonly unmappedContent?: RowSink['unmappedContent'] | undefined;
  /** for a watch: the documents that its files brought before; absent: it has no files */
  readonly filesOf?: FilesOfDocuments | undefined;
  /** absent: nobody asks */
  readonly removedFiles?: FindRemovedFiles | undefined;
}

type MergeSession = Pick<ToolSession, 'request' | 'log' | 'limits' | 'kernels' | 'progress'>;

/** A document of the inputs. */
interface KeyedDocument extends MergedDocument {
  readonly inputIndex: number;
  /** number in its file, from 1; null if the file is the document */
  readonly number: number | null;
}

/**
 * Chooses the documents to load: new and changed ones. A document that is in the target unchanged, according to its SHA-256, is left
 * out, unless `_unmapped` holds content of it for which the schema has a place. A document without a key is rejected, or ends the job
 * with an InputError. So is one with the same key as another, unless they are from a watch: then the later one counts.
 */
export async function chooseMerged(session: MergeSession, merge: MergeInputs): Promise<DocumentHashes> {
  const { request, log } = session;
  const { rejects } = merge;
  const removesGone = request.deleteMissing === true && request.watched !== undefined;
  const files: (string | null)[] = [];
  const watched = documentsOfWatch(request, merge);
  const documents = await keyedDocuments(session, merge, files, watched);
  const there = new Map<string, CurrentDocument[]>();
  const missing: string[] = [];
  const namesOfMissing: string[] = [];
  const incomplete = await incompleteDocuments(merge);
  const isMissing = missingDocuments(request);
  const asked = isMissing === null ? new Set(documents.keys()) : null;
  let otherwiseKeyed = 0;
  for await (const current of merge.currentDocuments?.(asked) ?? []) {
    const { key, documentKey, name } = current;
    if (documents.has(key)) there.set(key, [...(there.get(key) ?? []), current]);
    else if (isMissing?.(name) === true) {
      missing.push(documentKey);
      namesOfMissing.push(name);
    } else if ((request.key === undefined) !== (key === name)) otherwiseKeyed += 1;
  }
  if (otherwiseKeyed > 0)
    log(request.key === undefined ? withKeyMessage(otherwiseKeyed) : withoutKeyMessage(otherwiseKeyed));
  await watched?.settle(documents, there);
  const changed: KeyedDocument[] = [];
  const leftOut = new Map<number, number[]>();
  const leaveOut = ({ inputIndex, number }: KeyedDocument): void => {
    if (number !== null) leftOut.set(inputIndex, [...(leftOut.get(inputIndex) ?? []), number]);
  };
  for (const document of watched?.superseded ?? []) leaveOut(document);
  const hashes: (string | null)[] = files.map(() => null);
  let loadedAgain = 0;
  for (const document of documents.values()) {
    const { key, sha256, inputIndex } = document;
    const known = there.get(key) ?? [];
    const [only] = known;
    const isSame = known.length === 1 && only!.sha256 === sha256;
    // a document of a watch that arrives in another file belongs to that file from now on
    const isOther =
      isSame && (removesGone ? only!.name !== document.name : watched?.isOther(only!, document));
    const isIncomplete = isSame && incomplete.has(only!.documentKey);
    if (isIncomplete) loadedAgain += 1;
    if (isSame && isOther !== true && !isIncomplete) leaveOut(document);
    else {
      changed.push(document);
      hashes[inputIndex] = files[inputIndex]!;
    }
  }
  if (loadedAgain > 0)
    log(
      `${loadedAgain} ${loadedAgain === 1 ? 'document is' : 'documents are'} loaded again: content in _unmapped now has a place in the schema`,
    );
  const skipped = documents.size - changed.length;
  if (skipped > 0)
    log(`${skipped} ${skipped === 1 ? 'document is' : 'documents are'} already in the target, unchanged`);
  const superseded = watched?.superseded.length ?? 0;
  if (superseded > 0)
    log(
      `${superseded} ${superseded === 1 ? 'document is' : 'documents are'} skipped: a later file has the same key`,
    );
  // the removed files of a watch are known, whatever other files exist
  const isSure = rejects.messages.length === 0 || removesGone;
  if (missing.length > 0 && !isSure)
    log(
      `${missing.length} documents of the target are not among the inputs, but stay: a rejected document may be one of them (--delete-missing)`,
    );
  const order: MergeOrder = {
    documents: changed.map(({ key, name, written, sha256 }) => ({ key, name, written, sha256 })),
    missing: isSure ? missing : [],
    keepsHistory: request.history === true,
  };
  const replacedFiles = await watched?.replacedFiles(changed, documents, there);
  const replacedNames = changed.flatMap(({ key, name: by }) =>
    (there.get(key) ?? []).map(({ name }) => [name, by] as const),
  );
  const removedNames = new Map<string, string | null>([
    ...(isSure ? namesOfMissing : []).map((name) => [name, null] as const),
    ...replacedNames,
  ]);
  const removed = await merge.removedFiles?.(removedNames);
  return {
    hashes,
    skipped,
    leftOut,
    merge: order,
    ...(removed === undefined ? {} : { removed }),
    ...(watched === null ? {} : { superseded, replacedFiles: replacedFiles ?? [] }),
  };
}

function documentsOfWatch({ watched, from }: ToolSession['request'], merge: MergeInputs) {
  return watched === undefined ? null : new DocumentsOfWatch(watched, from !== undefined, merge);
}

/** Documents of a watch, of which several may have one key: the later file counts, and within a file, the later document. */
class DocumentsOfWatch {
  readonly superseded: KeyedDocument[] = [];
  readonly #fileOf: (document: string) => FileOfWatch | null;
  readonly #merge: MergeInputs;
  /** rows of a database come in their order */
  readonly #areRows: boolean;
  /** the file that brought a document of the target, by the document's name */
  #brought: ReadonlyMap<string, FileOfWatch> = new Map();
  /** the file of the target that is later than those of this job, by key */
  readonly #laterInTarget = new Map<string, string>();
  /** number of documents among the inputs, by file */
  readonly #counts = new Map<string, number>();

  constructor(watched: WatchedFiles, areRows: boolean, merge: MergeInputs) {
    this.#fileOf = filesOfJob(watched);
    this.#areRows = areRows;
    this.#merge = merge;
  }

  /** Adds a document; of two of one key, one is left out. */
  add(documents: Map<string, KeyedDocument>, document: KeyedDocument): void {
    const file = this.#fileOf(document.name)?.name;
    if (file !== undefined) this.#counts.set(file, (this.#counts.get(file) ?? 0) + 1);
    const before = documents.get(document.key);
    if (before !== undefined && this.#isBefore(document, before)) {
      this.superseded.push(document);
      return;
    }
    if (before !== undefined) this.superseded.push(before);
    documents.set(document.key, document);
  }

  /** Returns whether, of two documents that were read one after the other, `second` belongs to the earlier file. */
  #isBefore(second: KeyedDocument, first: KeyedDocument): boolean {
    const [firstFile, secondFile] = [this.#fileOf(first.name), this.#fileOf(second.name)];
    if (this.#areRows || firstFile === null || secondFile === null || firstFile.name === secondFile.name)
      return false;
    return isLater(secondFile, firstFile);
  }

  /** Takes out documents that the target has from a later file. */
  async settle(
    documents: Map<string, KeyedDocument>,
    there: ReadonlyMap<string, readonly CurrentDocument[]>,
  ): Promise<void> {
    const { filesOf } = this.#merge;
    if (this.#areRows || filesOf === undefined) return;
    this.#brought = await filesOf([...there.values()].flatMap((all) => all.map(({ name }) => name)));
    for (const document of documents.values()) {
      const own = this.#fileOf(document.name);
      const others = (there.get(document.key) ?? []).flatMap(({ name }) => this.#brought.get(name) ?? []);
      const later = others.find((other) => own !== null && other.name !== own.name && isLater(own, other));
      if (later === undefined) continue;
      this.#laterInTarget.set(document.key, later.name);
      this.superseded.push(document);
      documents.delete(document.key);
    }
  }

  /** Whether another file brought the document that is in the target. */
  isOther(current: CurrentDocument, document: KeyedDocument): boolean {
    const file = this.#brought.get(current.name);
    return file !== undefined && file.name !== this.#fileOf(document.name)?.name;
  }

  /** Files without any document in the target once this job has published; `changed`: the documents that it loads. */
  async replacedFiles(
    changed: readonly KeyedDocument[],
    documents: ReadonlyMap<string, KeyedDocument>,
    there: ReadonlyMap<string, readonly CurrentDocument[]>,
  ): Promise<readonly ReplacedFile[]> {
    if (this.#areRows) return [];
    const left = new Map<string, number>();
    const byOwn = new Map<string, string>();
    for (const { key, name } of this.superseded) {
      const file = this.#fileOf(name)?.name;
      const winner = documents.get(key);
      const by =
        this.#laterInTarget.get(key) ?? (winner === undefined ? undefined : this.#fileOf(winner.name)?.name);
      if (file === undefined || by === undefined) continue;
      left.set(file, (left.get(file) ?? 0) + 1);
      byOwn.set(file, by);
    }
    const own = [...byOwn].filter(([file]) => left.get(file) === this.#counts.get(file));
    const replaced = new Set<string>();
    const byOther = new Map<string, string>();
    let hasParts = false;
    for (const { key, name } of changed) {
      const by = this.#fileOf(name)?.name;
      for (const { documentKey, name: old } of there.get(key) ?? []) {
        replaced.add(documentKey);
        const file = this.#brought.get(old)?.name;
        if (file === undefined || by === undefined) continue;
        byOther.set(file, by);
        hasParts ||= old !== file && old !== nameWithoutGz(file);
      }
    }
    if (hasParts) await this.#keepOthers(byOther, replaced);
    return [
      ...own.map(([name, by]) => ({ name, by, ofJob: true })),
      ...[...byOther].map(([name, by]) => ({ name, by, ofJob: false })),
    ];
  }

  /** Takes out files with documents that stay. */
  async #keepOthers(files: Map<string, string>, replaced: ReadonlySet<string>): Promise<void> {
    const { filesOf, currentDocuments } = this.#merge;
    const isOfThem = documentsOf(files.keys());
    const staying: string[] = [];
    for await (const { documentKey, name } of currentDocuments?.(null) ?? [])
      if (!replaced.has(documentKey) && isOfThem(name)) staying.push(name);
    for (const { name } of (await filesOf!(staying)).values()) files.delete(name);
  }
}

/** Keys of documents with content in `_unmapped` that the model has a place for, or that gets one. */
async function incompleteDocuments({
  model,
  evolves,
  unmappedContent,
}: MergeInputs): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  let known: ReadonlySet<string> | null = null;
  for await (const { documentKey, xpath } of unmappedContent?.(evolves ? 'all' : 'others') ?? []) {
    if (found.has(documentKey)) continue;
    known ??= placesOf(model);
    if (evolves || known.has(localPath(pathSteps(xpath)))) found.add(documentKey);
  }
  return found;
}

/** The paths that a model has a table or column for, and those of the elements around them, in local names. */
function placesOf({ mappings }: RelationalModel): ReadonlySet<string> {
  const places = new Set<string>();
  for (const { xpath, active } of mappings) {
    if (xpath === null || active === false) continue;
    const steps = pathSteps(xpath);
    for (let count = steps.length; count > 0; count -= 1) {
      const path = localPath(steps.slice(0, count));
      if (places.has(path)) break;
      places.add(path);
    }
  }
  return places;
}

/** A path without namespaces: versions of a schema may have other prefixes for them. */
function localPath(steps: readonly string[]): string {
  return steps.map((step) => step.replace(/^(@?)(?:\{[^}]*\}|[^:]*:)/, '$1')).join('/');
}

/** Names documents of other loads by their names, because they have no value of `--key`. */
function withoutKeyMessage(documents: number): string {
  const [are, they] = documents === 1 ? ['document has', 'it was'] : ['documents have', 'they were'];
  return `warning: ${documents} ${are} no key in the target, as ${they} loaded without --key: -S m does not replace such documents, and the same document may now be there twice. Remove them (unload -D NAME), or load all documents with -S m --key and --delete-missing, which removes the others`;
}

/** The reverse: documents that have a value of `--key`, and are not known by their names. */
function withKeyMessage(documents: number): string {
  const [are, they] = documents === 1 ? ['document has', 'it was'] : ['documents have', 'they were'];
  return `warning: ${documents} ${are} a key in the target, as ${they} loaded with --key: without it, -S m does not replace such documents, and the same document may now be there twice. Load documents with the same --key; unload -D NAME removes those that are there twice`;
}

/** Returns the documents whose key no input has, by name, with whether each must be removed. Returns null if none is. */
function missingDocuments({
  deleteMissing,
  watched,
}: ToolSession['request']): ((document: string) => boolean) | null {
  if (deleteMissing !== true) return null;
  if (watched === undefined) return () => true;
  return watched.gone === undefined ? null : documentsOf(watched.gone);
}

/** Returns documents by key. `files`: filled with the SHA-256 of each input; null for one that is rejected. */
async function keyedDocuments(
  session: MergeSession,
  { inputs, rejects, model, rowTag }: MergeInputs,
  files: (string | null)[],
  watched: DocumentsOfWatch | null,
): Promise<Map<string, KeyedDocument>> {
  const { request } = session;
  const reader = request.key === undefined ? null : new Keys(session, keyPaths(request.key, model), rowTag);
  const byKey = new Map<string, KeyedDocument>();
  const paths = new Map<string, string>();
  let inputIndex = -1;
  for await (const member of inputs.members()) {
    inputIndex += 1;
    files.push(null);
    if (rejects.has(inputIndex)) continue;
    try {
      const { sha256, documents } =
        reader === null ? await namedDocument(member, inputIndex) : await reader.read(member, inputIndex);
      const own = new Set<string>();
      for (const { key, name } of documents) {
        if (watched === null && (byKey.has(key) || own.has(key)))
          throw sameKey(key, name, member.path, byKey.get(key), paths.get(key), request.key);
        own.add(key);
      }
      for (const document of documents) {
        if (watched === null) byKey.set(document.key, document);
        else watched.add(byKey, document);
        paths.set(document.key, member.path);
      }
      files[inputIndex] = sha256;
    } catch (error) {
      if (!(error instanceof InputError) || request.onError !== 'skip') throw error;
      await rejects.add(inputIndex, error);
    }
  }
  return byKey;
}

interface ReadFile {
  readonly sha256: string;
  readonly documents: readonly KeyedDocument[];
}

async function namedDocument(member: InputMember, inputIndex: number): Promise<ReadFile> {
  const { name } = member;
  const sha256 = await hashDocument(member);
  return { sha256, documents: [{ key: name, name, written: sha256, sha256, inputIndex, number: null }] };
}

/** Parses `--key`. AppError `invalid_option` for its faults. */
function keyPaths(option: string, model: RelationalModel): readonly KeyPath[] {
  const paths = parseKeyPaths(option, model);
  if ('fault' in paths) throw new AppError('invalid_option', `--key ${paths.fault}`);
  return paths;
}

class Keys {
  readonly #session: MergeSession;
  readonly #rowTag: RowElementName | null;
  readonly #names = createNameTable();
  readonly #reader;
  #digest: Hash | null = null;
  #bytes = 0;

  constructor(session: MergeSession, paths: readonly KeyPath[], rowTag: RowElementName | null) {
    this.#session = session;
    this.#rowTag = rowTag;
    // a file has a digest of its own
    const digest = rowTag === null ? null : (bytes: Uint8Array) => void this.#digest!.update(bytes);
    this.#reader = createKeyReader(paths, this.#names, digest);
  }

  async read(member: InputMember, inputIndex: number): Promise<ReadFile> {
    const found: { readonly key: string; readonly number: number | null; readonly content: string | null }[] =
      [];
    let number: number | null = null;
    const cut = createDocumentCut(this.#rowTag, this.#names, {
      begin: (_, at, inherited) => {
        number = at;
        if (this.#rowTag !== null) this.#digest = createHash('sha256');
        this.#reader.begin(inherited);
      },
      consume: (batch) => this.#reader.consume(batch),
      end: () => {
        const key = this.#reader.end();
        if ('path' in key) throw noKey(documentName(member.name, number), key);
        found.push({ key: key.key, number, content: this.#digest?.digest('hex') ?? null });
      },
    });
    cut.beginFile(member.name);
    const { limits, kernels, progress } = this.#session;
    const { sha256, bytes } = await readDocument(member, {
      names: this.#names,
      limits,
      kernels,
      onBatch: (batch, locate) => cut.consume(batch, locate),
      afterChunk: (size) => {
        this.#bytes += size;
        progress(0, { pass: 'checking', documents: inputIndex, bytes: this.#bytes, rows: null });
      },
    });
    cut.endFile(bytes);
    const documents = found.map(({ key, number: at, content }): KeyedDocument => {
      const written = partHash(sha256, at);
      const name = documentName(member.name, at);
      return { key, name, written, sha256: content ?? written, inputIndex, number: at };
    });
    return { sha256, documents };
  }
}

function noKey(
  file: string,
  { path, is }: { readonly path: string; readonly is: 'missing' | 'repeated' },
): InputError {
  const message =
    is === 'missing'
      ? `--key ${path}: the document has no value at this path, so it has no key`
      : `--key ${path}: the document has several values at this path: name a path with one value in each document`;
  return new InputError({ code: 'no_key', severity: 'error', file, message });
}

function sameKey(
  key: string,
  name: string,
  path: string,
  before: KeyedDocument | undefined,
  pathBefore: string | undefined,
  option: string | undefined,
): InputError {
  const message =
    option === undefined
      ? `${pathBefore} and ${path} are both called ${name}: with -S m the name identifies the document to replace; identify documents by --key, or load the two in separate runs`
      : `${before?.name ?? 'another document of the same file'} and ${name} have the same key ${key.replaceAll('\u001F', ' · ')} (--key ${option}): with -S m only one document per key can be loaded in a run`;
  return new InputError({ code: 'same_key', severity: 'error', file: name, message });
}
