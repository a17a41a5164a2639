/** PostgreSQL for the steps that all databases share: its notes and foreign keys, the tables of a SQL schema, and its loads. */
import { randomBytes } from 'node:crypto';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import type { DocumentColumn } from '../../../engine/sql/loaded-documents.ts';
import type { PhysicalTable } from '../../../engine/sql/physical-model.ts';
import { fileKeyName, ownPrefix, sideTableNames } from '../../../engine/model/side-tables.ts';
import { runAll as runStatements, type SqlDatabase } from '../database.ts';
import { relationOf, type FoundTable, type FoundTables, type SqlNames } from '../found-tables.ts';
import { keepCodeTexts, keepHigherKey, type PublishingWays, type SqlDriver } from '../publication.ts';
import type { Notes } from '../removal.ts';
import type { TransactionSql, Sql } from '../../../postgres/connect.ts';
import { postgresql } from '../../../engine/sql/dialects/postgresql.ts';
import type { TargetLoad } from '../../../ports/row-sink.ts';
import { targetLoads } from '../ledger.ts';
import {
  addressLabel,
  connectTarget,
  sessionSettings,
  targetFault,
  type TargetAddress,
} from './connection.ts';
import type { StagedTable } from './staged-table.ts';

/** A foreign key of one column between tables that loads made. */
interface Reference {
  readonly name: string;
  readonly table: string;
  readonly parent: string;
  readonly definition: string;
  /** an index finds the rows that have a key */
  readonly indexed: boolean;
  /** checked at the end of the transaction, like keys of tables that refer to each other */
  readonly deferred: boolean;
}

/** The operations that the steps of a publishing or removing transaction need. */
export type PostgresWays = PublishingWays<SqlDatabase> & { readonly notes: Notes };

/** The driver of a publishing transaction. */
export type PostgresDriver = SqlDriver<SqlDatabase, StagedTable> & PostgresWays;

/** `tables`: the model's. */
export function postgresWays(
  tx: TransactionSql,
  sqlSchema: string,
  tables: readonly PhysicalTable[],
): PostgresWays {
  const names = namesIn(sqlSchema);
  const relation = relationOf(names);
  const schema = standardLiteral(sqlSchema);
  return {
    ...names,
    begin: 'BEGIN',
    now: () => 'now()',
    instant: (iso) => `${standardLiteral(iso)}::timestamptz`,
    async latestChange(database) {
      const [row] = await database.read<{ latest: string | null }>(
        `SELECT to_char(max(greatest(valid_from, valid_to)) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS latest
           FROM ${relation(sideTableNames.documents)}`,
      );
      return row!.latest;
    },
    keepHigherKey: keepHigherKey('greatest'),
    keepCodeTexts,
    readTables: () => tablesOfDocuments(tx, schema),
    // a role needs no right to make temporary tables
    notes: {
      make: async (definition) => {
        const noted = relation(`${ownPrefix}noted_${randomBytes(4).toString('hex')}`);
        await tx.unsafe(`CREATE UNLOGGED TABLE ${noted} ${definition}`);
        return noted;
      },
      filled: async (noted) => void (await tx.unsafe(`ANALYZE ${noted}`)),
      drop: async (noted) => void (await tx.unsafe(`DROP TABLE ${noted}`)),
    },
    deleteFrom: (from, keys) => deleteFrom({ tx, schema, relation, tables }, from, keys),
    unreferred: async () =>
      (await referringToDocuments(tx, relation)).map(
        ({ table, column }) =>
          `NOT EXISTS (SELECT FROM ${table} t WHERE t.${column} = ${sideTableNames.documents}.document_key)`,
      ),
  };
}

/** Returns columns with a foreign key to the documents, and their tables, quoted. */
export async function referringToDocuments(
  tx: TransactionSql,
  relation: (name: string) => string,
): Promise<readonly { readonly table: string; readonly column: string }[]> {
  return tx.unsafe<{ table: string; column: string }[]>(
    `SELECT k.conrelid::regclass::text AS table, quote_ident(a.attname) AS column
       FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
      WHERE k.contype = 'f' AND k.confrelid = ${standardLiteral(relation(sideTableNames.documents))}::regclass`,
  );
}

/** Returns the tables of the SQL schema, of their columns only the document's key, because no other is needed. */
async function tablesOfDocuments(tx: TransactionSql, schema: string): Promise<FoundTables> {
  const rows = await tx.unsafe<{ name: string; type: string | null; notNull: boolean | null }[]>(
    `SELECT c.relname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS "notNull"
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = ${schema}
       LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = ${standardLiteral(fileKeyName)} AND NOT a.attisdropped
      WHERE c.relkind IN ('r', 'p')`,
  );
  return new Map(
    rows.map(({ name, type, notNull }): [string, FoundTable] => {
      const column = { name: fileKeyName, type: type ?? '', notNull: notNull === true, hasDefault: false };
      const columns = new Map(type === null ? [] : [[fileKeyName, { ...column, comment: null }]]);
      return [name, { name, isView: false, comment: null, statement: null, madeView: null, columns }];
    }),
  );
}

interface Schema {
  readonly tx: TransactionSql;
  /** its name as a literal */
  readonly schema: string;
  relation(name: string): string;
  readonly tables: readonly PhysicalTable[];
}

/**
 * Deletes from all tables in one statement; the foreign keys are valid again when it ends. A foreign key whose column has no index is
 * dropped first, and made again and checked afterwards, because with it each deleted parent row would scan the whole child table.
 */
async function deleteFrom(
  target: Schema,
  tables: readonly DocumentColumn[],
  keys: string,
): Promise<Readonly<Record<string, number>>> {
  if (tables.length === 0) return {};
  const { tx, relation } = target;
  const parents = new Set(tables.map(({ table }) => table));
  const references = (await readReferences(target)).filter(({ parent }) => parents.has(parent));
  const slow = references.filter(({ indexed }) => !indexed);
  for (const { table, name } of slow)
    await tx.unsafe(`ALTER TABLE ${relation(table)} DROP CONSTRAINT ${doubleQuoted(name)}`);
  const deletions = tables.map(
    ({ table, column }, at) =>
      `d${at} AS (DELETE FROM ${relation(table)} WHERE ${doubleQuoted(column)} IN (${keys}) RETURNING 1)`,
  );
  const counts = tables.map((_, at) => `SELECT ${at} AS at, count(*)::int AS count FROM d${at}`);
  const deleted = await tx.unsafe<{ at: number; count: number }[]>(
    `WITH ${deletions.join(',\n')}\n${counts.join(' UNION ALL ')}`,
  );
  // a table with pending checks cannot be altered, and the job may have to widen its columns
  const pending = references.filter(({ deferred, indexed }) => deferred && indexed);
  const names = pending.map(({ name }) => relation(name)).join(', ');
  if (names !== '') await tx.unsafe(`SET CONSTRAINTS ${names} IMMEDIATE; SET CONSTRAINTS ${names} DEFERRED`);
  for (const { table, name, definition } of slow)
    await tx.unsafe(`ALTER TABLE ${relation(table)} ADD CONSTRAINT ${doubleQuoted(name)} ${definition}`);
  return Object.fromEntries(
    deleted.flatMap(({ at, count }) => (count > 0 ? [[tables[at]!.table, count] as const] : [])),
  );
}

/** Returns the foreign keys between tables that loads made: those of other programs stay in force, and may refuse a removal. */
async function readReferences({ tx, schema, relation, tables }: Schema): Promise<readonly Reference[]> {
  const ours = JSON.stringify(tables.map(({ name }) => name));
  return await tx.unsafe<Reference[]>(
    `WITH made AS (
       SELECT jsonb_array_elements_text(${standardLiteral(ours)}::jsonb) AS name
       UNION SELECT table_name FROM ${relation(sideTableNames.keys)})
     SELECT k.conname AS name, c.relname AS table, p.relname AS parent, pg_get_constraintdef(k.oid) AS definition,
            EXISTS (SELECT FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam AND m.amname = 'btree'
                     WHERE i.indrelid = c.oid AND i.indkey[0] = k.conkey[1] AND i.indisvalid) AS indexed,
            k.condeferred AS deferred
       FROM pg_constraint k
       JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class p ON p.oid = k.confrelid
       JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = ${schema}
      WHERE k.contype = 'f' AND array_length(k.conkey, 1) = 1 AND p.relnamespace = n.oid
        AND c.relname IN (SELECT name FROM made)`,
  );
}

const rowsPerPage = 10_000;

export function databaseOf(sql: Sql | TransactionSql): SqlDatabase {
  return {
    // one message of bounded size, whatever the number of columns
    statementsPerRun: 1000,
    run: async (statements) => (await sql.unsafe(statements)).count,
    read: async <T>(query: string) => [...(await sql.unsafe<object[]>(query))] as T[],
    pages: <T>(query: string) =>
      sql.unsafe<object[]>(query).cursor(rowsPerPage) as unknown as AsyncIterable<readonly T[]>,
  };
}

export function namesIn(sqlSchema: string): SqlNames {
  return { dialect: postgresql, foldedName: (name) => name, sqlSchema };
}

/**
 * Returns the newest first, or none if nothing was loaded there yet. Throws AppError `conflict` if a version before 1.0 made the target.
 */
export async function readTargetLoads(
  sql: Sql,
  sqlSchema: string,
  label: string,
): Promise<readonly TargetLoad[]> {
  const names = Object.values(sideTableNames).map((name) => standardLiteral(name));
  const rows = await sql.unsafe<{ table: string; column: string }[]>(
    `SELECT c.relname AS table, a.attname AS column
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE n.nspname = ${standardLiteral(sqlSchema)} AND c.relkind IN ('r', 'p') AND c.relname IN (${names.join(', ')})`,
  );
  const columns = Map.groupBy(rows, ({ table }) => table);
  const columnsOf = (name: string): ReadonlySet<string> | undefined => {
    const found = columns.get(name);
    return found === undefined ? undefined : new Set(found.map(({ column }) => column));
  };
  return targetLoads(databaseOf(sql), columnsOf, relationOf(namesIn(sqlSchema)), label);
}

/** Runs `readTargetLoads` over a connection of its own. */
export async function askTargetLoads(
  options: TargetAddress & { readonly sqlSchema: string; readonly label?: string },
): Promise<readonly TargetLoad[]> {
  const label = options.label ?? `${addressLabel(options.url)}?schema=${options.sqlSchema}`;
  const sql = connectTarget(options);
  try {
    await sql.unsafe(sessionSettings);
    return await readTargetLoads(sql, options.sqlSchema, label);
  } catch (error) {
    throw targetFault(error, label);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Runs statements, many in one message. */
export function runAll(sql: Sql | TransactionSql, statements: readonly string[]): Promise<void> {
  return runStatements(databaseOf(sql), statements);
}
