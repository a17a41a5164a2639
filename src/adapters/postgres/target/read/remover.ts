/**
 * Documents out of a PostgreSQL target, in one transaction. Which rows hang from them is told by the target's own foreign keys, so
 * rows in tables of earlier versions of the model go along.
 */
import { randomBytes } from 'node:crypto';
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { documentColumns } from '../../../../engine/sql/loaded-documents.ts';
import { physicalTables, type PhysicalTable } from '../../../../engine/sql/physical-model.ts';
import { postgresql } from '../../../../engine/sql/dialects/postgresql.ts';
import { sideTableNames } from '../../../../engine/model/side-tables.ts';
import { AppError } from '../../../../errors.ts';
import type { RemovalPlan, Removed, RowRemover } from '../../../../ports/rows/remover.ts';
import { sqlState, type Sql, type TransactionSql } from '../../client/connect.ts';
import { askTargetLoads } from '../ledger.ts';
import {
  backendAfter,
  connectTarget,
  sessionSettings,
  stoppedSeconds,
  targetFault,
  targetLock,
  type TargetAddress,
} from '../connection/open.ts';
import { checkKeys, readTarget } from '../connection/existing-tables.ts';
import { createSilenceWatch } from '../connection/stall-watch.ts';

export interface PostgresRowRemoverOptions extends TargetAddress {
  readonly sqlSchema: string;
  readonly label: string;
}

export function createPostgresRowRemover(options: PostgresRowRemoverOptions): RowRemover {
  const backends: number[] = [];
  const watch = createSilenceWatch({ address: options, backends: () => backends });
  const sql = connectTarget(options, { all: watch.sockets });
  return {
    label: options.label,
    loads: () => askTargetLoads(options),
    async removeDocuments(plan, fence) {
      try {
        return await watch.during(async () => {
          backends.push(await backendAfter(sql, sessionSettings));
          return await removeDocuments(sql, options, plan, fence);
        });
      } catch (error) {
        if (sqlState(error) === '23503') {
          const { message } = error as Error;
          throw new AppError('conflict', `${options.label}: other rows refer to these: ${message}`);
        }
        throw targetFault(error, options.label);
      }
    },
    close: () => sql.end({ timeout: 5 }),
  };
}

/** A foreign key of one column, from a table that loads made. */
interface Reference {
  readonly name: string;
  readonly table: string;
  readonly column: string;
  readonly parent: string;
  /** primary key of `table` */
  readonly key: string;
  readonly definition: string;
}

async function removeDocuments(
  sql: Sql,
  { sqlSchema, label }: PostgresRowRemoverOptions,
  plan: RemovalPlan,
  fence: (removed: Removed) => Promise<boolean>,
): Promise<Removed> {
  const outcome: { removed: Removed } = { removed: { documents: 0, rows: {}, already: false } };
  const rollBack = new Error('dry run');
  await sql
    .begin(async (begun) => {
      const removal = new Removal(begun as unknown as TransactionSql, sqlSchema, plan, label);
      outcome.removed = await removal.run();
      if (plan.dryRun) throw rollBack;
      if (!(await fence(outcome.removed)))
        throw new AppError('conflict', 'The job is another worker’s by now: nothing was removed.');
    })
    .catch((error: unknown) => {
      if (error !== rollBack) throw error;
    });
  return outcome.removed;
}

class Removal {
  readonly #tx: TransactionSql;
  readonly #sqlSchema: string;
  readonly #plan: RemovalPlan;
  readonly #label: string;
  readonly #tables: readonly PhysicalTable[];
  readonly #token = `_svc_gone_${randomBytes(4).toString('hex')}`;
  /** tables that lose rows: the name of the table of their keys */
  readonly #gone = new Map<string, string>();

  constructor(tx: TransactionSql, sqlSchema: string, plan: RemovalPlan, label: string) {
    this.#tx = tx;
    this.#sqlSchema = sqlSchema;
    this.#plan = plan;
    this.#label = label;
    this.#tables = physicalTables(plan.model, postgresql);
  }

  async run(): Promise<Removed> {
    await this.#tx.unsafe(
      `${targetLock(this.#sqlSchema)}; SET LOCAL lock_timeout = '60s'; SET LOCAL idle_in_transaction_session_timeout = '${stoppedSeconds}s'`,
    );
    const present = await this.#presentTables();
    if (!present.has(sideTableNames.documents))
      throw new AppError('not_found', `${this.#label}: no documents were loaded there.`);
    const names = this.#tables.map(({ name }) => name);
    checkKeys(await readTarget(this.#tx, this.#sqlSchema, names), this.#plan.model, this.#label);
    if (await this.#isDone()) return { documents: 0, rows: {}, already: true };
    const documents = await this.#noteDocuments(present);
    if (documents === 0) {
      throw new AppError(
        'not_found',
        `${this.#label}: no document called ${this.#plan.documentName} was loaded with logical schema ${this.#plan.idLschma}.`,
      );
    }
    const references = await this.#references();
    await this.#noteRows(present, references);
    const rows = await this.#deleteRows(references);
    await this.#deleteBeside();
    const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
    const { idJob, installation, idSch, idLschma } = this.#plan;
    // the ledger's sums go on telling what the target holds
    await this.#tx.unsafe(
      `INSERT INTO ${this.#relation(sideTableNames.loads)} (job, installation, id_sch, id_lschma, published_at, documents, rows)
       VALUES (${idJob}, ${standardLiteral(installation)}, ${idSch}, ${idLschma}, now(), ${-documents}, ${-total});
       DROP TABLE ${[this.#documents(), ...[...this.#gone.values()].map((name) => this.#relation(name))].join(', ')}`,
    );
    return { documents, rows, already: false };
  }

  #relation(name: string): string {
    return `${doubleQuoted(this.#sqlSchema)}.${doubleQuoted(name)}`;
  }

  #documents(): string {
    return this.#relation(`${this.#token}_documents`);
  }

  async #presentTables(): Promise<ReadonlySet<string>> {
    const rows = await this.#tx.unsafe<{ name: string }[]>(
      `SELECT relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = ${standardLiteral(this.#sqlSchema)} AND c.relkind IN ('r', 'p')`,
    );
    return new Set(rows.map(({ name }) => name));
  }

  async #isDone(): Promise<boolean> {
    const { idJob, installation } = this.#plan;
    const rows = await this.#tx.unsafe(
      `SELECT FROM ${this.#relation(sideTableNames.loads)} WHERE job = ${idJob} AND installation = ${standardLiteral(installation)}`,
    );
    return rows.length > 0;
  }

  /** Keys of the documents of that name that have a row in a root table of the model, or were kept whole. */
  async #noteDocuments(present: ReadonlySet<string>): Promise<number> {
    const roots = this.#roots(present).map(
      ({ table, column }) => `SELECT ${doubleQuoted(column)} FROM ${this.#relation(table)}`,
    );
    // a document whose root is none of the model's is kept whole
    roots.push(
      `SELECT document_key FROM ${this.#relation(sideTableNames.unmapped)} WHERE parent_table = ${standardLiteral(sideTableNames.documents)}`,
    );
    const result = await this.#tx.unsafe(
      `CREATE UNLOGGED TABLE ${this.#documents()} AS
       SELECT document_key AS key FROM ${this.#relation(sideTableNames.documents)}
        WHERE name = ${standardLiteral(this.#plan.documentName)}
          AND document_key IN (${roots.join(' UNION ALL ')})`,
    );
    return result.count;
  }

  #roots(present: ReadonlySet<string>): ReturnType<typeof documentColumns> {
    return documentColumns(this.#plan.model, this.#tables).filter(({ table }) => present.has(table));
  }

  /** Foreign keys between tables that loads made: of somebody else's tables no row is removed. */
  async #references(): Promise<readonly Reference[]> {
    const ours = JSON.stringify(this.#tables.map(({ name }) => name));
    return await this.#tx.unsafe<Reference[]>(
      `WITH made AS (
         SELECT jsonb_array_elements_text(${standardLiteral(ours)}::jsonb) AS name
         UNION SELECT table_name FROM ${this.#relation(sideTableNames.keys)})
       SELECT k.conname AS name, c.relname AS table, a.attname AS column, p.relname AS parent, ka.attname AS key,
              pg_get_constraintdef(k.oid) AS definition
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

  /** Keys of the rows that hang from the documents, round by round: the rows found last lead to the next. */
  async #noteRows(present: ReadonlySet<string>, references: readonly Reference[]): Promise<void> {
    let found = new Map<string, string>();
    for (const { table, column } of this.#roots(present)) {
      const key = this.#tables.find(({ name }) => name === table)!.primaryKey[0]!;
      await this.#find(found, { table, column, key }, `SELECT key FROM ${this.#documents()}`, 0);
    }
    for (let round = 1; found.size > 0; round += 1) {
      const next = new Map<string, string>();
      for (const reference of references) {
        const parents = found.get(reference.parent);
        if (parents !== undefined) await this.#find(next, reference, parents, round);
      }
      found = next;
    }
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

  /** Without an index on parent keys each deleted row would search every child table: the keys come off, and back, checked. */
  async #deleteRows(references: readonly Reference[]): Promise<Record<string, number>> {
    const keys = new Map(references.map(({ table, key }) => [table, key]));
    for (const { name, primaryKey } of this.#tables) keys.set(name, primaryKey[0]!);
    const touched = references.filter(({ parent }) => this.#gone.has(parent));
    for (const { table, name } of touched)
      await this.#tx.unsafe(`ALTER TABLE ${this.#relation(table)} DROP CONSTRAINT ${doubleQuoted(name)}`);
    const rows: Record<string, number> = {};
    for (const [table, gone] of this.#gone) {
      const { count } = await this.#tx.unsafe(
        `DELETE FROM ${this.#relation(table)} WHERE ${doubleQuoted(keys.get(table)!)} IN (SELECT key FROM ${this.#relation(gone)})`,
      );
      if (count > 0) rows[table] = count;
    }
    for (const { table, name, definition } of touched) {
      await this.#tx.unsafe(
        `ALTER TABLE ${this.#relation(table)} ADD CONSTRAINT ${doubleQuoted(name)} ${definition}`,
      );
    }
    return rows;
  }

  /** What lies beside the rows; a document that another schema's rows refer to stays. */
  async #deleteBeside(): Promise<void> {
    const documents = this.#relation(sideTableNames.documents);
    const tables = [...this.#plan.model.tables.map(({ name }) => name), sideTableNames.documents]
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
