/** Takes documents out of a SQLite file, in one transaction. Which rows hang from them is told by the file's own foreign keys. */
import { dirname, join, resolve, basename } from 'node:path';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { documentColumns } from '../../../engine/sql/loaded-documents.ts';
import { physicalName } from '../../../engine/sql/physical-names.ts';
import { sqlite } from '../../../engine/sql/dialects/sqlite.ts';
import { hasOtherKeys, otherKeysMessage } from '../../../engine/model/key-columns.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import type { RemovalPlan, Removed, RowRemover } from '../../../ports/rows/remover.ts';
import { lockDatabaseFile } from '../../database-files/staging.ts';
import { refuseLink } from '../../folder/loaded-documents.ts';
import { pinFolder } from '../../local-files/open-folder.ts';
import { foldedName, openSqlite, sqliteFault, type SqliteDb } from '../database.ts';
import { readSqliteLoads } from '../ledger.ts';
import { readTables, type FoundTables } from '../tables.ts';
import { drawModel, temporaryName, type DrawnModel } from './publication.ts';

export interface SqliteRowRemoverOptions {
  readonly file: string;
  /** the path was checked and its links resolved: one that stands in it by now is refused (false) */
  readonly refuseLinks?: boolean;
  /** how long to wait for a job that publishes into the file (15 minutes) */
  readonly lockTimeoutMs?: number;
  /** how long to wait for another program that writes into the file (30 seconds) */
  readonly busyTimeoutMs?: number;
}

export function createSqliteRowRemover(options: SqliteRowRemoverOptions): RowRemover {
  const label = `sqlite:${options.file}`;
  const { busyTimeoutMs, refuseLinks = false, lockTimeoutMs = 15 * 60_000 } = options;
  const held = async <T>(work: (file: string) => Promise<T>): Promise<T> => {
    try {
      const path = resolve(options.file);
      const folder = await pinFolder(dirname(path), refuseLinks ? 'refuse' : 'follow');
      try {
        const file = join(folder.path, basename(path));
        if (refuseLinks)
          for (const end of ['', '-wal', '-shm', '-journal']) await refuseLink(`${file}${end}`);
        return await work(file);
      } finally {
        await folder.close();
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT')
        throw new AppError('not_found', `${label}: there is no such file.`);
      throw sqliteFault(error, label);
    }
  };
  return {
    label,
    loads: () => held((file) => readSqliteLoads(file, label, busyTimeoutMs)),
    removeDocuments: (plan, fence) =>
      held(async (file) => {
        const lock = await lockDatabaseFile(file, lockTimeoutMs, label);
        try {
          const database = await openSqlite(file, { label, busyTimeoutMs });
          try {
            return await removeDocuments(database, label, plan, fence);
          } finally {
            database.close();
          }
        } finally {
          await lock.release();
        }
      }),
    close: () => Promise.resolve(),
  };
}

async function removeDocuments(
  database: SqliteDb,
  label: string,
  plan: RemovalPlan,
  fence: (removed: Removed) => Promise<boolean>,
): Promise<Removed> {
  await database.run('BEGIN IMMEDIATE');
  let isOpen = true;
  try {
    const removed = await new Removal(database, plan, label).run();
    if (plan.dryRun || removed.already) return removed;
    if (!(await fence(removed)))
      throw new AppError('conflict', 'The job is another worker’s by now: nothing was removed.');
    await database.run('COMMIT');
    isOpen = false;
    return removed;
  } finally {
    if (isOpen) await database.run('ROLLBACK');
  }
}

/** A foreign key of one column. */
interface Reference {
  readonly table: string;
  readonly column: string;
  readonly parent: string;
}

class Removal {
  readonly #database: SqliteDb;
  readonly #plan: RemovalPlan;
  readonly #label: string;
  readonly #drawn: DrawnModel;
  readonly #known: FoundTables;
  readonly #documents = temporaryName();
  /** by folded name of a table that loses rows: the table of their keys */
  readonly #gone = new Map<string, { readonly table: string; readonly key: string; readonly keys: string }>();

  constructor(database: SqliteDb, plan: RemovalPlan, label: string) {
    this.#database = database;
    this.#plan = plan;
    this.#label = label;
    this.#drawn = drawModel(plan.model);
    this.#known = readTables(database);
  }

  async run(): Promise<Removed> {
    if (!this.#known.has(sideTableNames.documents))
      throw new AppError('not_found', `${this.#label}: no documents were loaded there.`);
    this.#checkKeys();
    const { idJob, installation, idSch, idLschma, documentName } = this.#plan;
    const done = this.#database.read(
      `SELECT 1 FROM ${doubleQuoted(sideTableNames.loads)} WHERE job = ? AND installation = ?`,
      idJob,
      installation,
    );
    if (done.length > 0) return { documents: 0, rows: {}, already: true };
    const documents = await this.#noteDocuments();
    if (documents === 0)
      throw new AppError(
        'not_found',
        `${this.#label}: no document called ${documentName} was loaded with logical schema ${idLschma}.`,
      );
    const references = this.#references();
    await this.#noteRows(references);
    const rows = await this.#deleteRows();
    await this.#deleteBeside(references);
    const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
    // the ledger's sums go on telling what the target holds
    this.#database
      .prepare(
        `INSERT INTO ${doubleQuoted(sideTableNames.loads)} (job, installation, id_sch, id_lschma, published_at, documents, rows) VALUES (?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(idJob, installation, idSch, idLschma, new Date().toISOString(), -documents, -total);
    return { documents, rows, already: false };
  }

  #checkKeys(): void {
    const { model } = this.#plan;
    for (const [index, { columns }] of model.tables.entries()) {
      const { name } = this.#drawn.tables[index]!;
      const there = this.#known.get(foldedName(name))?.columns;
      const has = (key: string): boolean => there!.has(foldedName(physicalName(sqlite, key)));
      if (there !== undefined && hasOtherKeys(model, columns, has))
        throw new AppError('conflict', otherKeysMessage(this.#label, name));
    }
  }

  #roots(): ReturnType<typeof documentColumns> {
    return documentColumns(this.#plan.model, this.#drawn.tables).filter(({ table }) =>
      this.#known.has(foldedName(table)),
    );
  }

  /** Keys of the documents of that name that have a row in a root table of the model, or were kept whole. */
  async #noteDocuments(): Promise<number> {
    const roots = this.#roots().map(
      ({ table, column }) => `SELECT ${doubleQuoted(column)} FROM ${doubleQuoted(table)}`,
    );
    roots.push(
      `SELECT document_key FROM ${doubleQuoted(sideTableNames.unmapped)} WHERE parent_table = ${standardLiteral(sideTableNames.documents)}`,
    );
    await this.#database.run(`CREATE TEMP TABLE ${this.#documents} (key INTEGER PRIMARY KEY)`);
    return this.#database.change(
      `INSERT INTO ${this.#documents} SELECT document_key FROM ${doubleQuoted(sideTableNames.documents)}
        WHERE name = ${standardLiteral(this.#plan.documentName)} AND document_key IN (${roots.join(' UNION ALL ')})`,
    );
  }

  /** Foreign keys between tables that loads made: of somebody else's tables no row is removed. */
  #references(): readonly Reference[] {
    const made = new Set([
      ...this.#drawn.tables.map(({ name }) => foldedName(name)),
      ...this.#database
        .read<{ name: string }>(`SELECT table_name AS name FROM ${doubleQuoted(sideTableNames.keys)}`)
        .map(({ name }) => foldedName(name)),
    ]);
    return [...this.#known.values()].flatMap(({ name, isView }) =>
      isView || !made.has(foldedName(name))
        ? []
        : this.#database
            .read<{ column: string; parent: string }>(
              'SELECT "from" AS "column", "table" AS parent FROM pragma_foreign_key_list(?)',
              name,
            )
            .map((reference) => ({ table: name, ...reference })),
    );
  }

  /** Keys of the rows that hang from the documents, round by round: the rows found last lead to the next. */
  async #noteRows(references: readonly Reference[]): Promise<void> {
    let found = new Map<string, string>();
    for (const { table, column } of this.#roots())
      await this.#find(found, table, column, `SELECT key FROM ${this.#documents}`, 0);
    for (let round = 1; found.size > 0; round += 1) {
      const next = new Map<string, string>();
      for (const { table, column, parent } of references) {
        const parents = found.get(foldedName(parent));
        if (parents !== undefined) await this.#find(next, table, column, parents, round);
      }
      found = next;
    }
  }

  /** `found`: by folded name of the table, a query of the keys that this round added. */
  async #find(
    found: Map<string, string>,
    table: string,
    column: string,
    parents: string,
    round: number,
  ): Promise<void> {
    let gone = this.#gone.get(foldedName(table));
    if (gone === undefined) {
      const [key] = this.#database.read<{ name: string }>(
        'SELECT name FROM pragma_table_info(?) WHERE pk = 1',
        table,
      );
      gone = { table, key: doubleQuoted(key!.name), keys: temporaryName() };
      this.#gone.set(foldedName(table), gone);
      await this.#database.run(
        `CREATE TEMP TABLE ${gone.keys} (key INTEGER PRIMARY KEY, round INTEGER NOT NULL)`,
      );
    }
    const count = await this.#database.change(
      `INSERT INTO ${gone.keys} SELECT ${gone.key}, ${round} FROM ${doubleQuoted(table)}
        WHERE ${doubleQuoted(column)} IN (${parents}) ON CONFLICT DO NOTHING`,
    );
    if (count > 0) found.set(foldedName(table), `SELECT key FROM ${gone.keys} WHERE round = ${round}`);
  }

  /** By the model's names; items of lists are no rows of their own. */
  async #deleteRows(): Promise<Record<string, number>> {
    const { model } = this.#plan;
    const lists = new Set(this.#drawn.tables.slice(model.tables.length).map(({ name }) => foldedName(name)));
    const rows: Record<string, number> = {};
    for (const [folded, { table, key, keys }] of this.#gone) {
      const count = await this.#database.change(
        `DELETE FROM ${doubleQuoted(table)} WHERE ${key} IN (SELECT key FROM ${keys})`,
      );
      if (count > 0 && !lists.has(folded)) rows[table] = count;
    }
    return rows;
  }

  /** What lies beside the rows; a document that another schema's rows refer to stays. */
  async #deleteBeside(references: readonly Reference[]): Promise<void> {
    const tables = [...this.#plan.model.tables.map(({ name }) => name), sideTableNames.documents]
      .map((name) => standardLiteral(name))
      .join(', ');
    const keys = `(SELECT key FROM ${this.#documents})`;
    const still = references
      .filter(({ parent }) => foldedName(parent) === sideTableNames.documents)
      .map(
        ({ table, column }) =>
          ` AND document_key NOT IN (SELECT ${doubleQuoted(column)} FROM ${doubleQuoted(table)} WHERE ${doubleQuoted(column)} IS NOT NULL)`,
      );
    const { lexical, unmapped, documents } = sideTableNames;
    await this.#database.change(
      `DELETE FROM ${lexical} WHERE document_key IN ${keys} AND table_name IN (${tables})`,
    );
    await this.#database.change(
      `DELETE FROM ${unmapped} WHERE document_key IN ${keys} AND parent_table IN (${tables})`,
    );
    await this.#database.change(`DELETE FROM ${documents} WHERE document_key IN ${keys}${still.join('')}`);
  }
}
