/** The documents of a target that one logical schema writes: those that it loaded, and others of which it knows every place. */
import { InputError } from '../../engine/diagnostics.ts';
import { coversModel } from '../../engine/model/coverage.ts';
import type { DocumentVersions } from '../../engine/sql/loaded-documents.ts';
import {
  createDocumentWriter,
  writeLateDocument,
  type DocumentWriter,
} from '../../engine/unshred/document-writer.ts';
import { AppError } from '../../errors.ts';
import type { RowSource, StoredDocument } from '../../ports/row-source.ts';
import type { StoredLogicalSchema } from '../../ports/stores/catalog.ts';
import type { ConversionDetails } from '../reports/conversion-result.ts';
import { findByHash } from '../schemas/store-origin.ts';
import type { ToolSession } from '../session/tool-session.ts';
import { safeName, type DocumentFolder } from './output-files.ts';

/** The counts of the documents that were written back. */
export interface WriteBackCounts {
  readonly documents: number;
  readonly bytes: number;
  /** read, by table */
  readonly rows: ReadonlyMap<string, number>;
  readonly rejects: ConversionDetails['rejects'];
  /** documents not written, by the hash of the model that they were loaded with (null: the ledger does not record it) */
  readonly others: Map<string | null, number>;
  /** written, although they were loaded by a model that this metadata database does not have */
  readonly unsure: number;
  /** documents of those asked for that the target has */
  readonly total: number;
}

export interface SchemaDocumentsOptions {
  readonly logical: StoredLogicalSchema;
  /** open for the schema's model */
  readonly source: RowSource;
  readonly folder: DocumentFolder;
  /** results of earlier schemas; if there are any, only documents that this schema loaded are written */
  readonly before: readonly WriteBackCounts[];
}

/** AppError `not_found` if the target has none of the requested documents. */
export async function writeDocumentsOf(
  session: ToolSession,
  options: SchemaDocumentsOptions,
): Promise<WriteBackCounts> {
  return new SchemaDocuments(session, options).write();
}

/** `--at` */
function versionsOf({ at }: ToolSession['request']): DocumentVersions | undefined {
  return at === undefined ? undefined : at === 'all' ? 'all' : { at };
}

function nameOf({ name, key }: StoredDocument): string {
  return name ?? `document-${key}.xml`;
}

class SchemaDocuments {
  readonly #session: ToolSession;
  readonly #logical: StoredLogicalSchema;
  readonly #source: RowSource;
  readonly #folder: DocumentFolder;
  readonly #before: readonly WriteBackCounts[];
  readonly #rows = new Map<string, number>();
  readonly #rejects: ConversionDetails['rejects'][number][] = [];
  #writer: DocumentWriter | null = null;
  #started = false;
  #documents = 0;
  readonly #others = new Map<string | null, number>();
  /** keyed by hash of a model: whether the present model covers all places that it wrote to; null: that model is not in this database */
  readonly #covered = new Map<string, boolean | null>();
  #unsure = 0;
  /** keys of documents of which rows were found after the document had been written: they are written again at the end */
  readonly #late = new Set<string>();
  /** keys of documents that other schemas loaded and this one does not write: tables that it reads may contain their rows */
  readonly #notWritten = new Set<string>();
  /** documents whose late rows were found in time to write them once, with their files (null: none, because of --dry-run) */
  readonly #deferred = new Map<string, string | null>();
  /** files that are not called as their documents are, by key */
  readonly #numbered = new Map<string, string>();
  #bytes = 0;

  constructor(session: ToolSession, { logical, source, folder, before }: SchemaDocumentsOptions) {
    this.#session = session;
    this.#logical = logical;
    this.#source = source;
    this.#folder = folder;
    this.#before = before;
  }

  async write(): Promise<WriteBackCounts> {
    const { request } = this.#session;
    const versions = versionsOf(request);
    const total = this.#before[0]?.total ?? (await this.#source.documentCount(request.document, versions));
    if (total === 0) {
      const called = request.document === undefined ? 'document' : `document called ${request.document}`;
      const which = request.at === undefined || request.at === 'all' ? called : `${called} at ${request.at}`;
      throw new AppError('not_found', `${this.#source.label} holds no ${which}`);
    }
    for await (const document of this.#source.documents(request.document, versions)) {
      if (this.#isLeftToOthers(document)) continue;
      await this.#document(document);
      this.#tellProgress(total);
    }
    this.#endWriter();
    await this.#lateDocuments();
    return { ...this.#written(), total };
  }

  /** Whether only the schema that loaded the document writes it: after the first schema, each writes its own documents. */
  #isLeftToOthers({ modelHash }: StoredDocument): boolean {
    return this.#before.length > 0 && modelHash !== this.#logical.modelHash;
  }

  #written(): Omit<WriteBackCounts, 'total'> {
    return {
      documents: this.#documents,
      bytes: this.#bytes,
      rows: this.#rows,
      rejects: this.#rejects,
      others: this.#others,
      unsure: this.#unsure,
    };
  }

  #tellProgress(total: number): void {
    const written = [...this.#before, this.#written()];
    const documents = written.reduce((sum, each) => sum + each.documents + each.rejects.length, 0);
    const bytes = written.reduce((sum, each) => sum + each.bytes, 0);
    this.#session.progress(documents / total, { pass: 'writing', documents, bytes, rows: null });
  }

  async #document(document: StoredDocument): Promise<void> {
    const { request } = this.#session;
    const name = nameOf(document);
    let writer: DocumentWriter | null = null;
    let file: string | null = null;
    const folder = this.#folder;
    try {
      writer = (await this.#isCovered(document)) ? await this.#writerFor(document) : null;
      const { modelHash } = document;
      if (writer === null && modelHash !== this.#logical.modelHash) {
        this.#notWritten.add(document.key);
        this.#others.set(modelHash, (this.#others.get(modelHash) ?? 0) + 1);
        return;
      }
      if (writer === null) {
        const message =
          'the row of its root element was deleted, or overwritten by another schema; --on-error skip writes the other documents';
        throw new InputError({ code: 'missing_rows', severity: 'error', message });
      }
      let bytes = 0;
      const { write } = writer;
      const produce = async (consume: (piece: Uint8Array) => Promise<void> | void): Promise<void> => {
        bytes = await write(document.key, (piece) => {
          this.#session.interrupted.throwIfAborted();
          return consume(piece);
        });
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
      if (modelHash !== null && this.#covered.get(modelHash) === null) this.#unsure += 1;
    } catch (error) {
      if (writer?.late.has(document.key) === true) {
        // its rows are read again, and then those of the next document
        this.#endWriter();
        this.#deferred.set(document.key, file);
        await this.#lateDocument(document);
        return;
      }
      this.#reject(name, error);
      // rows of this document may follow later: the next one starts afresh
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

  /** Writes documents with the rows that others added to them or changed, which are stored after those of other documents. */
  async #lateDocuments(): Promise<void> {
    if (this.#late.size === 0) return;
    const { request } = this.#session;
    for await (const document of this.#source.documents(request.document, versionsOf(request)))
      if (
        this.#late.has(document.key) &&
        !this.#notWritten.has(document.key) &&
        !this.#isLeftToOthers(document)
      )
        await this.#lateDocument(document);
  }

  async #lateDocument(document: StoredDocument): Promise<void> {
    const folder = this.#folder;
    const { key } = document;
    const name = nameOf(document);
    const isWrittenNow = !this.#deferred.has(key);
    const file = isWrittenNow ? (this.#numbered.get(key) ?? safeName(name)) : this.#deferred.get(key)!;
    const { model } = this.#logical;
    let size = { bytes: 0, bytesBefore: 0 };
    const produce = async (consume: (piece: Uint8Array) => Promise<void> | void): Promise<void> => {
      size = await writeLateDocument(model, () => this.#source.rowsOf(key), key, consume);
    };
    try {
      if (this.#session.request.dryRun) await produce(() => undefined);
      else await (isWrittenNow ? folder.rewrite(file, produce) : folder.write(file, produce));
      this.#session.log(`${name}: rows that other programs added or changed are written at their positions`);
      this.#bytes += size.bytes - (isWrittenNow ? size.bytesBefore : 0);
      if (!isWrittenNow) this.#documents += 1;
    } catch (error) {
      // the existing file lacks rows
      if (isWrittenNow && !this.#session.request.dryRun) await folder.remove(file);
      if (isWrittenNow) this.#documents -= 1;
      this.#reject(name, error);
    }
  }

  /**
   * Returns whether our schema knows all places that the document's schema wrote to; otherwise content would be missing from the
   * document.
   */
  async #isCovered({ modelHash }: StoredDocument): Promise<boolean> {
    if (modelHash === null || modelHash === this.#logical.modelHash) return true;
    let covered = this.#covered.get(modelHash);
    if (covered === undefined) {
      const { home, idOrg } = this.#session;
      const [same] = (await findByHash(this.#session, [modelHash])).get(modelHash) ?? [];
      const other =
        same && (await home.adapters.catalog.loadLogicalSchema(idOrg, { idLschma: same.idLschma }));
      covered = other == null ? null : coversModel(this.#logical.model, other.model);
      this.#covered.set(modelHash, covered);
    }
    return covered ?? true;
  }

  /**
   * Returns a writer positioned at the document's rows, or null if it has none. Documents follow each other in the rows; if the next
   * rows belong to another document, because other schemas' documents are in between or it is the only one wanted, its rows are
   * searched.
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
}
