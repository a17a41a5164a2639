/**
 * Documents out of a SQL schema, within a transaction. Which rows hang from them is told by the target's own foreign keys, so rows in tables of
 * earlier versions of the model go along.
 */
import { randomBytes } from 'node:crypto';
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { documentColumns, rowsOfDocuments } from '../../../../engine/sql/loaded-documents.ts';
import type { PhysicalTable } from '../../../../engine/sql/physical-model.ts';
import type { RelationalModel } from '../../../../engine/model/relational-model.ts';
import { fileKeyName, sideTableNames } from '../../../../engine/model/side-tables.ts';
import type { RemovedDocuments } from '../../../row-sinks/removed-documents.ts';
import type { TransactionSql } from '../../client/connect.ts';

/** A foreign key of one column, from a table that loads made. */
interface Reference {
  readonly name: string;
  readonly table: string;
  readonly column: string;
  readonly parent: string;
  /** primary key of `table` */
  readonly key: string;
  readonly definition: string;
  /** rows that hold a key are found without a walk over the table */
  readonly indexed: boolean;
  /** checked at the end of the transaction: a key of tables that refer to each other */
  readonly deferred: boolean;
}

export class PostgresRemoval {
  readonly #tx: TransactionSql;
  readonly #sqlSchema: string;
  readonly #model: RelationalModel;
  readonly #tables: readonly PhysicalTable[];
  readonly #token = `_svc_gone_${randomBytes(4).toString('hex')}`;
  /** tables that lose rows: the name of the table of their keys */
  readonly #gone = new Map<string, string>();
  /** their primary keys; a table of another version need have no foreign key */
  readonly #keyOf = new Map<string, string>();

  /** `tables`: the model's */
  constructor(
    tx: TransactionSql,
    sqlSchema: string,
    model: RelationalModel,
    tables: readonly PhysicalTable[],
  ) {
    this.#tx = tx;
    this.#sqlSchema = sqlSchema;
    this.#model = model;
    this.#tables = tables;
  }

  /**
   * Those of `_documents` for which the condition holds, and that have a row in a root table of the model, or were kept whole. `told`: the
   * column whose different values are counted.
   */
  async remove(condition: string, told = 'name'): Promise<RemovedDocuments> {
    const present = await this.presentTables();
    const { documents, names } = await this.#noteDocuments(present, condition, told);
    if (documents === 0) {
      await this.#tx.unsafe(`DROP TABLE ${this.#documents()}`);
      return { documents, names, rows: {} };
    }
    const references = await this.#references();
    await this.#noteRows(present, references);
    const rows = await this.#deleteRows(references);
    await this.#deleteBeside();
    await this.#dropNotes(this.#documents());
    return { documents, names, rows };
  }

  /** Of documents whose rows in the model's tables are gone already: those in tables of other versions. `documents`: a table of their keys, `document_key`. */
  async removeEarlier(documents: string): Promise<Record<string, number>> {
    const references = await this.#references();
    const found = new Map<string, string>();
    for (const start of await this.#earlierTables())
      await this.#find(found, start, `SELECT document_key FROM ${documents}`, 0);
    await this.#follow(found, references, new Set());
    const rows = await this.#deleteRows(references);
    await this.#dropNotes();
    return rows;
  }

  /** As `remove`, but they stay: they were valid until then. `moment`: an expression. */
  async close(condition: string, told: string, moment: string): Promise<RemovedDocuments> {
    const { documents, names } = await this.#noteDocuments(await this.presentTables(), condition, told);
    await this.#tx.unsafe(
      `UPDATE ${this.#relation(sideTableNames.documents)} SET valid_to = ${moment} WHERE document_key IN (SELECT key FROM ${this.#documents()});
       DROP TABLE ${this.#documents()}`,
    );
    return { documents, names, rows: {} };
  }

  async presentTables(): Promise<ReadonlySet<string>> {
    const rows = await this.#tx.unsafe<{ name: string }[]>(
      `SELECT relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = ${standardLiteral(this.#sqlSchema)} AND c.relkind IN ('r', 'p')`,
    );
    return new Set(rows.map(({ name }) => name));
  }

  async #dropNotes(...further: readonly string[]): Promise<void> {
    const notes = [...further, ...[...this.#gone.values()].map((name) => this.#relation(name))];
    if (notes.length > 0) await this.#tx.unsafe(`DROP TABLE ${notes.join(', ')}`);
  }

  #relation(name: string): string {
    return `${doubleQuoted(this.#sqlSchema)}.${doubleQuoted(name)}`;
  }

  #documents(): string {
    return this.#relation(`${this.#token}_documents`);
  }

  async #noteDocuments(
    present: ReadonlySet<string>,
    condition: string,
    told: string,
  ): Promise<{ readonly documents: number; readonly names: number }> {
    const roots = this.#roots(present).map(
      ({ table, column }) => `SELECT ${doubleQuoted(column)} FROM ${this.#relation(table)}`,
    );
    // a document whose root is none of the model's is kept whole
    roots.push(
      `SELECT document_key FROM ${this.#relation(sideTableNames.unmapped)} WHERE parent_table = ${standardLiteral(sideTableNames.documents)}`,
    );
    const { count } = await this.#tx.unsafe(
      `CREATE UNLOGGED TABLE ${this.#documents()} AS
       SELECT document_key AS key, ${told} AS told FROM ${this.#relation(sideTableNames.documents)}
        WHERE ${condition} AND document_key IN (${roots.join(' UNION ALL ')})`,
    );
    const [counted] = await this.#tx.unsafe<{ names: number }[]>(
      `SELECT count(DISTINCT told)::int AS names FROM ${this.#documents()}`,
    );
    return { documents: count, names: counted!.names };
  }

  #roots(present: ReadonlySet<string>): ReturnType<typeof documentColumns> {
    return documentColumns(this.#model, this.#tables).filter(({ table }) => present.has(table));
  }

  /** Foreign keys between tables that loads made: of somebody else's tables no row is removed. */
  async #references(): Promise<readonly Reference[]> {
    const ours = JSON.stringify(this.#tables.map(({ name }) => name));
    return await this.#tx.unsafe<Reference[]>(
      `WITH made AS (
         SELECT jsonb_array_elements_text(${standardLiteral(ours)}::jsonb) AS name
         UNION SELECT table_name FROM ${this.#relation(sideTableNames.keys)})
       SELECT k.conname AS name, c.relname AS table, a.attname AS column, p.relname AS parent, ka.attname AS key,
              pg_get_constraintdef(k.oid) AS definition,
              EXISTS (SELECT FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam AND m.amname = 'btree'
                       WHERE i.indrelid = c.oid AND i.indkey[0] = a.attnum AND i.indisvalid) AS indexed,
              k.condeferred AS deferred
         FROM pg_constraint k
         JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class p ON p.oid = k.confrelid
         JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = ${standardLiteral(this.#sqlSchema)}
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.conkey[1]
         JOIN pg_constraint pk ON pk.conrelid = c.oid AND pk.contype = 'p'
         JOIN pg_attribute ka ON ka.attrelid = c.oid AND ka.attnum = pk.conkey[1]
        WHERE k.contype = 'f' AND array_length(k.conkey, 1) = 1 AND p.relnamespace = n.oid
          AND c.relname IN (SELECT name FROM made)`,
    );
  }

  /**
   * Keys of the rows that name the documents, and of those that hang from them, round by round: the rows found last lead to the next.
   */
  async #noteRows(present: ReadonlySet<string>, references: readonly Reference[]): Promise<void> {
    const found = new Map<string, string>();
    const keys = new Map(this.#tables.map(({ name, primaryKey }) => [name, primaryKey[0]!]));
    for (const { table, column } of rowsOfDocuments(this.#model, this.#tables)) {
      if (!present.has(table)) continue;
      const key = keys.get(table)!;
      await this.#find(found, { table, column, key }, `SELECT key FROM ${this.#documents()}`, 0);
    }
    for (const start of await this.#earlierTables())
      await this.#find(found, start, `SELECT key FROM ${this.#documents()}`, 0);
    await this.#follow(found, references, new Set(this.#gone.keys()));
  }

  /** `first`: as `#find` leaves it. `isWhole`: tables of which all rows are found. */
  async #follow(
    first: ReadonlyMap<string, string>,
    references: readonly Reference[],
    isWhole: ReadonlySet<string>,
  ): Promise<void> {
    let found = first;
    for (let round = 1; found.size > 0; round += 1) {
      const next = new Map<string, string>();
      for (const reference of references) {
        const parents = isWhole.has(reference.table) ? undefined : found.get(reference.parent);
        if (parents !== undefined) await this.#find(next, reference, parents, round);
      }
      found = next;
    }
  }

  /** Tables of other versions of the model whose rows name their documents. */
  async #earlierTables(): Promise<readonly Pick<Reference, 'table' | 'column' | 'key'>[]> {
    const known = [...this.#tables.map(({ name }) => name), ...Object.values(sideTableNames)];
    const ours = JSON.stringify(known);
    return await this.#tx.unsafe<Pick<Reference, 'table' | 'column' | 'key'>[]>(
      `SELECT c.relname AS table, a.attname AS column, ka.attname AS key
         FROM ${this.#relation(sideTableNames.keys)} made
         JOIN pg_class c ON c.relname = made.table_name
         JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = ${standardLiteral(this.#sqlSchema)}
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = ${standardLiteral(fileKeyName)}
         JOIN pg_constraint pk ON pk.conrelid = c.oid AND pk.contype = 'p'
         JOIN pg_attribute ka ON ka.attrelid = c.oid AND ka.attnum = pk.conkey[1]
        WHERE ka.attname <> a.attname
          AND c.relname NOT IN (SELECT jsonb_array_elements_text(${standardLiteral(ours)}::jsonb))`,
    );
  }

  /** `found`: table -> query of the keys that this round added. */
  async #find(
    found: Map<string, string>,
    { table, column, key }: Pick<Reference, 'table' | 'column' | 'key'>,
    parents: string,
    round: number,
  ): Promise<void> {
    let gone = this.#gone.get(table);
    if (gone === undefined) {
      gone = `${this.#token}_${this.#gone.size}`;
      this.#gone.set(table, gone);
      this.#keyOf.set(table, key);
      await this.#tx.unsafe(
        `CREATE UNLOGGED TABLE ${this.#relation(gone)} (key bigint PRIMARY KEY, round int NOT NULL)`,
      );
    }
    const { count } = await this.#tx.unsafe(
      `INSERT INTO ${this.#relation(gone)} SELECT ${doubleQuoted(key)}, ${round} FROM ${this.#relation(table)}
        WHERE ${doubleQuoted(column)} IN (${parents}) ON CONFLICT DO NOTHING`,
    );
    if (count > 0) found.set(table, `SELECT key FROM ${this.#relation(gone)} WHERE round = ${round}`);
  }

  /**
   * All tables in one statement, at whose end the keys hold again. Without an index on parent keys each deleted row would search every child
   * table: such keys come off, and back, checked.
   */
  async #deleteRows(references: readonly Reference[]): Promise<Record<string, number>> {
    const slow = references.filter(({ parent, indexed }) => this.#gone.has(parent) && !indexed);
    for (const { table, name } of slow)
      await this.#tx.unsafe(`ALTER TABLE ${this.#relation(table)} DROP CONSTRAINT ${doubleQuoted(name)}`);
    const tables = [...this.#gone];
    const rows: Record<string, number> = {};
    if (tables.length > 0) {
      const deletions = tables.map(
        ([table, gone], at) =>
          `d${at} AS (DELETE FROM ${this.#relation(table)} WHERE ${doubleQuoted(this.#keyOf.get(table)!)} IN (SELECT key FROM ${this.#relation(gone)}) RETURNING 1)`,
      );
      const counts = tables.map((_, at) => `SELECT ${at} AS at, count(*)::int AS count FROM d${at}`);
      const deleted = await this.#tx.unsafe<{ at: number; count: number }[]>(
        `WITH ${deletions.join(',\n')}\n${counts.join(' UNION ALL ')}`,
      );
      for (const { at, count } of deleted) if (count > 0) rows[tables[at]![0]] = count;
      await this.#checkDeferred(references.filter((reference) => !slow.includes(reference)));
    }
    for (const { table, name, definition } of slow) {
      await this.#tx.unsafe(
        `ALTER TABLE ${this.#relation(table)} ADD CONSTRAINT ${doubleQuoted(name)} ${definition}`,
      );
    }
    return rows;
  }

  /** Runs pending checks of foreign keys now: a table with pending checks cannot be altered, and the job may have to widen its columns. */
  async #checkDeferred(references: readonly Reference[]): Promise<void> {
    const names = references
      .filter(({ parent, deferred }) => deferred && this.#gone.has(parent))
      .map(({ name }) => this.#relation(name))
      .join(', ');
    if (names !== '')
      await this.#tx.unsafe(`SET CONSTRAINTS ${names} IMMEDIATE; SET CONSTRAINTS ${names} DEFERRED`);
  }

  /** What lies beside the rows; a document that another schema's rows refer to stays. */
  async #deleteBeside(): Promise<void> {
    const documents = this.#relation(sideTableNames.documents);
    const tables = [...this.#model.tables.map(({ name }) => name), sideTableNames.documents]
      .map((name) => standardLiteral(name))
      .join(', ');
    const keys = `(SELECT key FROM ${this.#documents()})`;
    const referring = await this.#tx.unsafe<{ table: string; column: string }[]>(
      `SELECT k.conrelid::regclass::text AS table, quote_ident(a.attname) AS column
         FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
        WHERE k.contype = 'f' AND k.confrelid = ${standardLiteral(documents)}::regclass`,
    );
    const still = referring.map(
      ({ table, column }) => ` AND NOT EXISTS (SELECT FROM ${table} t WHERE t.${column} = d.document_key)`,
    );
    await this.#tx.unsafe(
      `DELETE FROM ${this.#relation(sideTableNames.lexical)} WHERE document_key IN ${keys} AND table_name IN (${tables});
       DELETE FROM ${this.#relation(sideTableNames.unmapped)} WHERE document_key IN ${keys} AND parent_table IN (${tables});
       DELETE FROM ${documents} d WHERE d.document_key IN ${keys}${still.join('')}`,
    );
  }
}
