/** Rows of documents out of a SQLite file, within a transaction. Which rows hang from them is told by the file's own foreign keys. */
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { documentColumns, rowsOfDocuments } from '../../../engine/sql/loaded-documents.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import { fileKeyName, sideTableNames } from '../../../engine/model/side-tables.ts';
import type { RemovedDocuments } from '../../../adapters/row-sinks/removed-documents.ts';
import { foldedName, type SqliteDb } from './database.ts';
import type { FoundTables } from './tables.ts';
import { temporaryName, type DrawnModel } from './publication.ts';

/** A foreign key of one column. */
interface Reference {
  readonly table: string;
  readonly column: string;
  readonly parent: string;
}

export class SqliteRemoval {
  readonly #database: SqliteDb;
  readonly #model: RelationalModel;
  readonly #drawn: DrawnModel;
  readonly #known: FoundTables;
  readonly #documents = temporaryName();
  /** by folded name of a table that loses rows: the table of their keys */
  readonly #gone = new Map<string, { readonly table: string; readonly key: string; readonly keys: string }>();

  constructor(database: SqliteDb, model: RelationalModel, drawn: DrawnModel, known: FoundTables) {
    this.#database = database;
    this.#model = model;
    this.#drawn = drawn;
    this.#known = known;
  }

  /**
   * Those of `_documents` for which the condition holds, and that have a row in a root table of the model, or were kept whole. `told`: the
   * column whose different values are counted.
   */
  async remove(condition: string, told = 'name'): Promise<RemovedDocuments> {
    const { documents, names } = await this.#noteDocuments(condition, told);
    if (documents === 0) return { documents, names, rows: {} };
    const made = this.#made();
    const references = this.#references(made);
    await this.#noteRows(references, made);
    const rows = await this.#deleteRows();
    await this.#deleteBeside(references);
    return { documents, names, rows };
  }

  /** Of documents whose rows in the model's tables are gone, or go: those in tables of other versions. `documents`: a query of their keys. */
  async removeEarlier(documents: string): Promise<Record<string, number>> {
    const made = this.#made();
    const ours = new Set(this.#drawn.tables.map(({ name }) => foldedName(name)));
    const found = new Map<string, string>();
    await this.#findEarlier(found, made, ours, documents);
    const references = this.#references(made).filter(({ table }) => !ours.has(foldedName(table)));
    // lists that this version has not
    for (const { table, column, parent } of references)
      if (ours.has(foldedName(parent)) && !this.#known.get(foldedName(table))!.columns.has(fileKeyName))
        await this.#find(
          found,
          table,
          column,
          `SELECT ${this.#keyOf(parent)} FROM ${doubleQuoted(parent)} WHERE ${fileKeyName} IN (${documents})`,
          0,
        );
    await this.#follow(found, references);
    return this.#deleteRows();
  }

  /** As `remove`, but they stay: they were valid until that moment. */
  async close(condition: string, told: string, moment: string): Promise<RemovedDocuments> {
    const { documents, names } = await this.#noteDocuments(condition, told);
    await this.#database.run(
      `UPDATE ${sideTableNames.documents} SET valid_to = ${standardLiteral(moment)} WHERE document_key IN (SELECT key FROM ${this.#documents})`,
    );
    return { documents, names, rows: {} };
  }

  #roots(): ReturnType<typeof documentColumns> {
    return documentColumns(this.#model, this.#drawn.tables).filter(({ table }) =>
      this.#known.has(foldedName(table)),
    );
  }

  async #noteDocuments(
    condition: string,
    told: string,
  ): Promise<{ readonly documents: number; readonly names: number }> {
    const roots = this.#roots().map(
      ({ table, column }) => `SELECT ${doubleQuoted(column)} FROM ${doubleQuoted(table)}`,
    );
    roots.push(
      `SELECT document_key FROM ${doubleQuoted(sideTableNames.unmapped)} WHERE parent_table = ${standardLiteral(sideTableNames.documents)}`,
    );
    await this.#database.run(`CREATE TEMP TABLE ${this.#documents} (key INTEGER PRIMARY KEY, told TEXT)`);
    const documents = await this.#database.change(
      `INSERT INTO ${this.#documents} SELECT document_key, ${told} FROM ${doubleQuoted(sideTableNames.documents)}
        WHERE ${condition} AND document_key IN (${roots.join(' UNION ALL ')})`,
    );
    const [counted] = this.#database.read<{ names: number }>(
      `SELECT count(DISTINCT told) AS names FROM ${this.#documents}`,
    );
    return { documents, names: Number(counted!.names) };
  }

  /** Foreign keys between tables that loads made: of somebody else's tables no row is removed. */
  #references(made: ReadonlySet<string>): readonly Reference[] {
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

  /** Folded names of the tables that loads made. */
  #made(): ReadonlySet<string> {
    return new Set([
      ...this.#drawn.tables.map(({ name }) => foldedName(name)),
      ...this.#database
        .read<{ name: string }>(`SELECT table_name AS name FROM ${doubleQuoted(sideTableNames.keys)}`)
        .map(({ name }) => foldedName(name)),
    ]);
  }

  /**
   * Keys of the rows that name the documents, and of those that hang from them, round by round: the rows found last lead to the next.
   */
  async #noteRows(references: readonly Reference[], made: ReadonlySet<string>): Promise<void> {
    const found = new Map<string, string>();
    for (const { table, column } of rowsOfDocuments(this.#model, this.#drawn.tables))
      if (this.#known.has(foldedName(table)))
        await this.#find(found, table, column, `SELECT key FROM ${this.#documents}`, 0);
    await this.#findEarlier(found, made, this.#gone, `SELECT key FROM ${this.#documents}`);
    await this.#follow(found, references);
  }

  /** In tables of other versions of the model. `ours`: those of this one, by folded names. */
  async #findEarlier(
    found: Map<string, string>,
    made: ReadonlySet<string>,
    ours: { has(folded: string): boolean },
    documents: string,
  ): Promise<void> {
    const beside = new Set<string>(Object.values(sideTableNames));
    for (const [folded, { name, isView, columns }] of this.#known) {
      if (isView || !made.has(folded) || beside.has(folded) || ours.has(folded)) continue;
      if (columns.has(fileKeyName)) await this.#find(found, name, fileKeyName, documents, 0);
    }
  }

  /** `first`: as `#find` leaves it. */
  async #follow(first: ReadonlyMap<string, string>, references: readonly Reference[]): Promise<void> {
    let found = first;
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
      gone = { table, key: this.#keyOf(table), keys: temporaryName() };
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

  /** Its primary key, quoted. */
  #keyOf(table: string): string {
    const [key] = this.#database.read<{ name: string }>(
      'SELECT name FROM pragma_table_info(?) WHERE pk = 1',
      table,
    );
    return doubleQuoted(key!.name);
  }

  /** By the model's names; items of lists are no rows of their own. */
  async #deleteRows(): Promise<Record<string, number>> {
    const model = this.#model;
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
    const tables = [...this.#model.tables.map(({ name }) => name), sideTableNames.documents]
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
