/** `-S m`: documents by their keys, and what is to become of each. */
import { createHash, type Hash } from 'node:crypto';
import { InputError } from '../../engine/diagnostics.ts';
import { parseKeyPaths, type KeyPath } from '../../engine/merge/key-paths.ts';
import { createKeyReader } from '../../engine/merge/key-reader.ts';
import { pathSteps } from '../../engine/model/name-labels.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { RowElementName } from '../../engine/shred/row-tag/elements.ts';
import { createNameTable } from '../../engine/xml/names/expanded-names.ts';
import { AppError } from '../../errors.ts';
import type { MergedDocument, MergeOrder } from '../../ports/rows/merge.ts';
import type { RowSink } from '../../ports/rows/sink.ts';
import type { InputSet } from '../inputs/list-files.ts';
import type { InputMember } from '../inputs/members.ts';
import { hashDocument, readDocument } from '../inputs/read-document.ts';
import { documentsOf } from '../../watches/names.ts';
import type { ToolSession } from '../session/tool-session.ts';
import { createDocumentCut, documentName } from './document-cut.ts';
import { partHash, type DocumentHashes } from './document-hashes.ts';
import type { Rejects } from './rejects.ts';

export interface MergeInputs {
  readonly inputs: InputSet;
  readonly rejects: Rejects;
  readonly model: RelationalModel;
  readonly rowTag: RowElementName | null;
  /** the schema gets a place for what it does not know */
  readonly evolves: boolean;
  /** of the target; absent where it knows no such save mode */
  readonly currentDocuments?: RowSink['currentDocuments'] | undefined;
  readonly unmappedContent?: RowSink['unmappedContent'] | undefined;
}

type MergeSession = Pick<ToolSession, 'request' | 'log' | 'limits' | 'kernels' | 'progress'>;

/** A document of the inputs. */
interface KeyedDocument extends MergedDocument {
  readonly inputIndex: number;
  /** in its file, from 1; null where the file is the document */
  readonly number: number | null;
}

/**
 * Documents that are new or changed are to be loaded; one that is there as it is, by its SHA-256, is left out, unless some of its content lies in
 * `_unmapped` that the schema has a place for. A document without a key, and one whose key another one has, is rejected, or ends the job by an
 * InputError.
 */
export async function chooseMerged(session: MergeSession, merge: MergeInputs): Promise<DocumentHashes> {
  const { request, log } = session;
  const { rejects } = merge;
  const removesGone = request.deleteMissing === true && request.watched !== undefined;
  const files: (string | null)[] = [];
  const documents = await keyedDocuments(session, merge, files);
  const there = new Map<string, readonly string[]>();
  const missing: string[] = [];
  const incomplete = await incompleteDocuments(merge);
  let loadedAgain = 0;
  const isMissing = missingDocuments(request);
  const asked = isMissing === null ? new Set(documents.keys()) : null;
  for await (const { documentKey, key, name, sha256 } of merge.currentDocuments?.(asked) ?? []) {
    const own = documents.get(key);
    if (own === undefined) {
      if (isMissing?.(name) === true) missing.push(documentKey);
      continue;
    }
    // of a watch that removes what is gone, a document that came in another file is of that one from now on
    const isOther = removesGone && name !== own.name;
    const isIncomplete = !isOther && sha256 === own.sha256 && incomplete.has(documentKey);
    if (isIncomplete) loadedAgain += 1;
    there.set(key, [...(there.get(key) ?? []), isOther || isIncomplete ? '' : sha256]);
  }
  const changed: KeyedDocument[] = [];
  const leftOut = new Map<number, number[]>();
  const hashes: (string | null)[] = files.map(() => null);
  for (const document of documents.values()) {
    const { key, sha256, inputIndex, number } = document;
    const known = there.get(key) ?? [];
    if (known.length !== 1 || known[0] !== sha256) {
      changed.push(document);
      hashes[inputIndex] = files[inputIndex]!;
    } else if (number !== null) {
      const numbers = leftOut.get(inputIndex);
      if (numbers === undefined) leftOut.set(inputIndex, [number]);
      else numbers.push(number);
    }
  }
  if (loadedAgain > 0)
    log(
      `${loadedAgain} ${loadedAgain === 1 ? 'document is' : 'documents are'} loaded again: content lies in _unmapped that the schema has a place for`,
    );
  const skipped = documents.size - changed.length;
  if (skipped > 0) log(`${skipped} ${skipped === 1 ? 'document is' : 'documents are'} there unchanged`);
  // which files of a watch are gone is known, whatever else there is
  const isSure = rejects.messages.length === 0 || removesGone;
  if (missing.length > 0 && !isSure)
    log(
      `${missing.length} documents of the target are not among the inputs, and stay: one of the documents that were rejected may be theirs (--delete-missing)`,
    );
  const order: MergeOrder = {
    documents: changed.map(({ key, name, written, sha256 }) => ({ key, name, written, sha256 })),
    missing: isSure ? missing : [],
    keepsHistory: request.history === true,
  };
  return { hashes, skipped, leftOut, merge: order };
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

/** By the name of a document whose key no input has: whether it is to be removed. Null: none is. */
function missingDocuments({
  deleteMissing,
  watched,
}: ToolSession['request']): ((document: string) => boolean) | null {
  if (deleteMissing !== true) return null;
  if (watched === undefined) return () => true;
  return watched.gone === undefined ? null : documentsOf(watched.gone);
}

/** By key. `files`: filled with the SHA-256 of each input; null for one that is rejected. */
async function keyedDocuments(
  session: MergeSession,
  { inputs, rejects, model, rowTag }: MergeInputs,
  files: (string | null)[],
): Promise<ReadonlyMap<string, KeyedDocument>> {
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
        if (byKey.has(key) || own.has(key))
          throw sameKey(key, name, member.path, byKey.get(key), paths.get(key), request.key);
        own.add(key);
      }
      for (const document of documents) {
        byKey.set(document.key, document);
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

/** AppError `invalid_option`: what is wrong with `--key`. */
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
      ? `--key ${path}: the document has no value there, and so no key`
      : `--key ${path}: the document has several values there: name a path that each has once`;
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
      ? `${pathBefore} and ${path} are both called ${name}: with -S m the name says which document is replaced; give them keys of their own (--key), or load them in runs of their own`
      : `${before?.name ?? 'another document of the same file'} and ${name} have the same key ${key.replaceAll('\u001F', ' · ')} (--key ${option}): with -S m one document of each key can be loaded at a time`;
  return new InputError({ code: 'same_key', severity: 'error', file: name, message });
}
