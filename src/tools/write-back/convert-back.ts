/** er2xml: rows become documents again, each a file of the output folder under the name it was loaded by. */
import { resolve } from 'node:path';
import { InputError } from '../../engine/diagnostics.ts';
import { coversModel } from '../../engine/model/coverage.ts';
import type { DocumentVersions } from '../../engine/sql/document-versions.ts';
import {
  createDocumentWriter,
  writeLateDocument,
  type DocumentWriter,
} from '../../engine/unshred/document-writer.ts';
import { AppError } from '../../errors.ts';
import { saveModeLetters } from '../../jobs/options/mode-letters.ts';
import { parseTarget } from '../../jobs/request/target.ts';
import type { StoredLogicalSchema } from '../../ports/stores/catalog.ts';
import type { RowSource, StoredDocument } from '../../ports/rows/source.ts';
import {
  noDetails,
  nothingKept,
  type Conversion,
  type ConversionDetails,
} from '../reports/conversion-result.ts';
import { safeName } from './document-names.ts';
import { createDocumentFolder, isEmptyFolder, type DocumentFolder } from './output-files.ts';
import { chooseRowSource } from './open-source.ts';
import { namedLogicalSchema, type ChosenSchema } from '../schemas/logical-schema.ts';
import { isRemote, isEmptyRemoteFolder, localFolder, uploadFolder } from '../session/remote-files.ts';
import { settleNames } from '../schemas/settled-names.ts';
import type { ToolSession } from '../session/tool-session.ts';

export async function convertBack(given: ToolSession): Promise<Conversion> {
  const session = await settleNames(given);
  const { request } = session;
  if (request.saveMode === 'write-schema' || request.saveMode === 'print-schema') {
    throw new AppError(
      'invalid_option',
      `-S ${saveModeLetters[request.saveMode]}: er2xml writes documents, and knows e, a, o and i`,
    );
  }
  const directory = await outputDirectory(session);
  const source = await chooseRowSource(session);
  try {
    const chosen = await namedLogicalSchema(session, () => source.loads());
    const logical = chosen.stored;
    await session.report({ idSch: logical.idSch, idLschma: logical.idLschma });
    session.choose({ logical: logical.idLschma, why: chosen.why }, logical.model);
    session.log(`logical schema ${logical.idLschma}: ${chosen.why}`);
    session.steps.begin('write');
    await source.open(logical.model);
    await session.report({ outputPath: directory });
    if (!isRemote(directory))
      return await new BackConversion(session, chosen, source, directory, () =>
        isEmptyFolder(directory),
      ).run();
    const here = localFolder(session, 'out');
    const isEmpty = (): Promise<boolean> => isEmptyRemoteFolder(session, directory);
    const conversion = await new BackConversion(session, chosen, source, here, isEmpty).run();
    await uploadFolder(session, here, directory, session.request.saveMode === 'error' ? 'refuse' : 'replace');
    return conversion;
  } finally {
    await source.close();
  }
}

async function outputDirectory(session: ToolSession): Promise<string> {
  const target = parseTarget(session.request.out!);
  if ('fault' in target || target.kind !== 'folder') {
    throw new AppError('invalid_option', '-o: er2xml writes documents into a folder');
  }
  return session.byHand ? resolve(target.path) : session.resolvePath(target.path, false);
}

/** `--at` */
function versionsOf({ at }: ToolSession['request']): DocumentVersions | undefined {
  return at === undefined ? undefined : at === 'all' ? 'all' : { at };
}

function nameOf({ name, key }: StoredDocument): string {
  return name ?? `document-${key}.xml`;
}

class BackConversion {
  readonly #session: ToolSession;
  readonly #logical: StoredLogicalSchema;
  readonly #why: string;
  readonly #source: RowSource;
  readonly #directory: string;
  readonly #isEmpty: () => Promise<boolean>;
  readonly #rows = new Map<string, number>();
  readonly #rejects: ConversionDetails['rejects'][number][] = [];
  #writer: DocumentWriter | null = null;
  #started = false;
  #documents = 0;
  /** not written, by the logical schema that they were loaded by (null: the ledger does not tell) */
  readonly #others = new Map<number | null, number>();
  /** by logical schema: whether ours finds all that it wrote */
  readonly #covered = new Map<number, boolean>();
  /** keys of documents with rows that were met too late */
  readonly #late = new Set<string>();
  /** such as were met in time to be written once, and their files (null: none, by --dry-run) */
  readonly #deferred = new Map<string, string | null>();
  /** files that are not called as their documents are, by key */
  readonly #numbered = new Map<string, string>();
  #bytes = 0;

  constructor(
    session: ToolSession,
    chosen: ChosenSchema,
    source: RowSource,
    directory: string,
    isEmpty: () => Promise<boolean>,
  ) {
    this.#session = session;
    this.#logical = chosen.stored;
    this.#why = chosen.why;
    this.#source = source;
    this.#directory = directory;
    this.#isEmpty = isEmpty;
  }

  async run(): Promise<Conversion> {
    const { request } = this.#session;
    if (request.saveMode === 'ignore' && !(await this.#isEmpty())) {
      this.#session.log('the folder is not empty: nothing was written (-S i)');
      return this.#conversion();
    }
    const own = this.#session.byHand || !this.#session.home.adapters.files.local;
    const folder = createDocumentFolder({
      directory: this.#directory,
      label: request.out!,
      existing: request.saveMode === 'error' ? 'refuse' : 'replace',
      resolvePath: (path) => (own ? Promise.resolve(path) : this.#session.resolvePath(path, false)),
      links: own ? 'follow' : 'refuse',
    });
    const versions = versionsOf(request);
    const total = await this.#source.documentCount(request.document, versions);
    if (total === 0) {
      const called = request.document === undefined ? 'document' : `document called ${request.document}`;
      const which = request.at === undefined || request.at === 'all' ? called : `${called} at ${request.at}`;
      throw new AppError('not_found', `${this.#source.label} holds no ${which}`);
    }
    let done = 0;
    try {
      for await (const document of this.#source.documents(request.document, versions)) {
        await this.#document(document, folder);
        done += 1;
        this.#session.progress(done / total, {
          pass: 'writing',
          documents: done,
          bytes: this.#bytes,
          rows: null,
        });
      }
      this.#endWriter();
      await this.#lateDocuments(folder);
    } catch (error) {
      // the documents before it are whole
      await folder.close().catch(() => undefined);
      throw error;
    }
    await folder.close();
    this.#tellOthers();
    return this.#conversion();
  }

  async #document(document: StoredDocument, folder: DocumentFolder): Promise<void> {
    const { request } = this.#session;
    const name = nameOf(document);
    let writer: DocumentWriter | null = null;
    let file: string | null = null;
    try {
      writer = (await this.#isCovered(document)) ? await this.#writerFor(document) : null;
      if (writer === null && document.idLschma !== this.#logical.idLschma) {
        this.#others.set(document.idLschma, (this.#others.get(document.idLschma) ?? 0) + 1);
        return;
      }
      if (writer === null) {
        const message =
          'the row of its root element is gone, deleted or overwritten by another schema; --on-error skip writes the other documents';
        throw new InputError({ code: 'missing_rows', severity: 'error', message });
      }
      let bytes = 0;
      const { write } = writer;
      const produce = async (consume: (piece: Uint8Array) => Promise<void> | void): Promise<void> => {
        bytes = await write(document.key, consume);
      };
      if (request.dryRun) await produce(() => undefined);
      else {
        file = folder.nameFor(name);
        await folder.write(file, produce);
        const isNumbered = file !== name && file !== safeName(name);
        if (isNumbered) this.#numbered.set(document.key, file);
        if (file !== name)
          this.#session.log(
            `${name} is written as ${file}${isNumbered ? ': another document of the target has that name' : ''}`,
          );
      }
      this.#bytes += bytes;
      this.#documents += 1;
    } catch (error) {
      if (writer?.late.has(document.key) === true) {
        // its rows are read anew, and those of the next one after that
        this.#endWriter();
        this.#deferred.set(document.key, file);
        await this.#lateDocument(document, folder);
        return;
      }
      this.#reject(name, error);
      // rows of this document may lie ahead still: the next one starts afresh
      this.#endWriter();
    } finally {
      for (const key of writer?.late ?? []) if (!this.#deferred.has(key)) this.#late.add(key);
    }
  }

  #reject(name: string, error: unknown): void {
    if (!(error instanceof InputError)) throw error;
    const message = `${name}: ${error.message}`;
    if (this.#session.request.onError !== 'skip') throw new InputError({ ...error.diagnostic, message });
    this.#session.log(`not written: ${message}`);
    this.#rejects.push({ document: name, line: null, column: null, code: null, message: error.message });
  }

  /** With the rows that others added to them or changed, which lie behind those of other documents. */
  async #lateDocuments(folder: DocumentFolder): Promise<void> {
    if (this.#late.size === 0) return;
    const { request } = this.#session;
    for await (const document of this.#source.documents(request.document, versionsOf(request)))
      if (this.#late.has(document.key)) await this.#lateDocument(document, folder);
  }

  async #lateDocument(document: StoredDocument, folder: DocumentFolder): Promise<void> {
    const { key } = document;
    const name = nameOf(document);
    const isThere = !this.#deferred.has(key);
    const file = isThere ? (this.#numbered.get(key) ?? safeName(name)) : this.#deferred.get(key)!;
    const { model } = this.#logical;
    let size = { bytes: 0, bytesBefore: 0 };
    const produce = async (consume: (piece: Uint8Array) => Promise<void> | void): Promise<void> => {
      size = await writeLateDocument(model, () => this.#source.rowsOf(key), key, consume);
    };
    try {
      if (this.#session.request.dryRun) await produce(() => undefined);
      else await (isThere ? folder.rewrite(file, produce) : folder.write(file, produce));
      this.#session.log(`${name}: rows that others added or changed are at their places`);
      this.#bytes += size.bytes - (isThere ? size.bytesBefore : 0);
      if (!isThere) this.#documents += 1;
    } catch (error) {
      // what is there lacks rows
      if (isThere && !this.#session.request.dryRun) await folder.remove(file);
      if (isThere) this.#documents -= 1;
      this.#reject(name, error);
    }
  }

  /** What another logical schema wrote to places that ours does not know would be missing in the document. */
  async #isCovered({ idLschma }: StoredDocument): Promise<boolean> {
    if (idLschma === null || idLschma === this.#logical.idLschma) return true;
    let covered = this.#covered.get(idLschma);
    if (covered === undefined) {
      const { home, idOrg } = this.#session;
      const other = await home.adapters.catalog.loadLogicalSchema(idOrg, { idLschma });
      covered = other === null || coversModel(this.#logical.model, other.model);
      this.#covered.set(idLschma, covered);
    }
    return covered;
  }

  #tellOthers(): void {
    if (this.#others.size === 0) return;
    const ours = this.#logical.idLschma;
    const lines = [...this.#others].map(([idLschma, count]) =>
      idLschma === null
        ? `documents without rows of logical schema ${ours}: ${count}`
        : `documents that logical schema ${idLschma} loaded, and ${ours} does not know all of: ${count}; -l ${idLschma} writes them`,
    );
    if (this.#documents === 0)
      throw new AppError('unprocessable_input', `nothing to write: ${lines.join('; ')}`);
    for (const line of lines) this.#session.log(line);
  }

  /**
   * Standing at the document's rows; null where it has none. Documents follow each other in the rows; where the next rows are
   * not this one's, because other schemas' documents lie between or it is the only one wanted, it is looked for.
   */
  async #writerFor({ key }: StoredDocument): Promise<DocumentWriter | null> {
    const { model } = this.#logical;
    const isFirst = !this.#started && this.#session.request.document === undefined;
    this.#started = true;
    if (isFirst) this.#writer = createDocumentWriter(model, await this.#source.rowsFrom(null));
    if (this.#writer !== null && (await this.#writer.has(key))) return this.#writer;
    this.#endWriter();
    const rows = this.#session.request.document === undefined ? 'rowsFrom' : 'rowsOf';
    this.#writer = createDocumentWriter(model, await this.#source[rows](key));
    return (await this.#writer.has(key)) ? this.#writer : null;
  }

  #endWriter(): void {
    if (this.#writer === null) return;
    for (const [index, rows] of this.#writer.rowCounts.entries()) {
      if (rows === 0) continue;
      const { name } = this.#logical.model.tables[index]!;
      this.#rows.set(name, (this.#rows.get(name) ?? 0) + rows);
    }
    this.#writer = null;
  }

  #conversion(): Conversion {
    this.#endWriter();
    return {
      origin: this.#logical.idSch,
      logical: this.#logical.idLschma,
      chosen: { logical: this.#logical.idLschma, why: this.#why },
      documents: this.#documents,
      does: null,
      rejected: this.#rejects.length,
      unknownRoots: 0,
      kept: nothingKept,
      tables: Object.fromEntries(this.#rows),
      mapped: new Set(this.#logical.model.mappings.map((mapping) => mapping.xpath)).size,
      unknown: 0,
      bytes: this.#bytes,
      details: { ...noDetails, rejects: this.#rejects },
    };
  }
}
