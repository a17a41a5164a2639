/** Tables of the target: they are made, widened, or moved there from staging with their rows, and get their keys and comments. */
import { sqlState, type Sql, type TransactionSql } from '../../../postgres/connect.ts';
import { constraintName } from '../../../engine/map/names/constraint-name.ts';
import { truncateToBytes } from '../../../engine/map/names/identifiers.ts';
import { ownPrefix, sideTableDefinitions, sideTableNames } from '../../../engine/model/side-tables.ts';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { postgresql } from '../../../engine/sql/dialects/postgresql.ts';
import { keyIndexStatement, keyIndexes, type KeyIndex } from '../../../engine/sql/ddl.ts';
import { physicalSideTable, type PhysicalTable } from '../../../engine/sql/physical-model.ts';
import { addForeignKey, commentStatements, indexStatements } from '../../../engine/sql/statements.ts';
import type { SinkPlan } from '../../../ports/rows/sink.ts';
import { columnId } from '../../rows/unfit-columns.ts';
import { findAlterations } from '../alterations.ts';
import { makeSideTables } from '../publish.ts';
import { runAll } from './driver.ts';
import { hasValues, keyIndexMark } from './existing-tables.ts';
import { offsetBehind, relation, type PostgresPublication } from './publication.ts';
import { dropChecks } from './code-lists.ts';
import { refuseForViews, setViewsAside, type ColumnChange } from './views.ts';
import type { StagingArea } from './staging/area.ts';
import type { StagedTable } from './staging/staged-table.ts';
import { converted, settledType } from './types.ts';

/** Returns the statements for the indexes and comments of the table of documents, and for its primary key unless it `isKeyed`. */
function documentsStatements(publication: PostgresPublication, isKeyed: boolean): string[] {
  const table = physicalSideTable(sideTableDefinitions.documents, postgresql);
  return [
    ...(isKeyed ? [] : [`ALTER TABLE ${relation(publication, table.name)} ADD ${primaryKey(table)}`]),
    ...indexStatements(postgresql, publication.sqlSchema, table),
    ...commentStatements(postgresql, publication.sqlSchema, table),
  ];
}

/** Makes empty tables of the model. They get their keys with the others, except for hashed keys, which identify rows that exist already. */
export async function makeTables(
  publication: PostgresPublication,
  indexes: readonly number[],
): Promise<void> {
  const statements = indexes.map((index) => {
    const table = publication.tables[index]!;
    const columns = table.columns.map((column, at) => {
      const type = publication.widened.get(columnId(index, at));
      return `${doubleQuoted(column.name)} ${type === undefined ? column.sqlType : postgresql.typeName(type)}`;
    });
    if (publication.plan.keys === 'hash' && table.primaryKey.length > 0) columns.push(primaryKey(table));
    publication.createdTables.add(table.name);
    publication.present.add(table.name);
    return `CREATE TABLE ${relation(publication, table.name)} (${columns.join(', ')})`;
  });
  await runAll(publication.tx, statements);
}

/**
 * Alters an existing table so that it can hold these rows: adds missing columns, widens types, and drops NOT NULL if a row may leave the
 * column empty. `incoming`: the types of the staged columns, as `format_type` writes them.
 */
export async function adaptTable(
  publication: PostgresPublication,
  index: number,
  incoming: ReadonlyMap<string, string>,
): Promise<void> {
  const { tx } = publication;
  const table = publication.tables[index]!;
  const there = publication.target.tables.get(table.name)!;
  const { columns } = there;
  const columnsBefore = new Set(columns.keys());
  const comments: string[] = [];
  const wider: ColumnChange[] = [];
  const { alterations: found } = await findAlterations(publication, index, there, {
    foldedName: (name) => name,
    column: (at) => ({
      type: incoming.get(table.columns[at]!.name)!,
      nullable: table.columns[at]!.nullable || publication.nullAllowed.has(columnId(index, at)),
    }),
    async settle(known, at) {
      const type = incoming.get(table.columns[at]!.name)!;
      return (await showsInstants(publication, table.name, known, type))
        ? type
        : settledType(known.type, type);
    },
  });
  const alterations = found.map((alteration) => {
    if (alteration.kind === 'loosen')
      return `ALTER COLUMN ${doubleQuoted(alteration.there.name)} DROP NOT NULL`;
    const { at, type } = alteration;
    const { name } = table.columns[at]!;
    if (alteration.kind === 'add') {
      comments.push(name);
      columns.set(name, { name, type, notNull: false, hasDefault: false, comment: null });
      publication.addedColumns.add(columnId(index, at)).add(`${index}:`);
      return `ADD COLUMN ${doubleQuoted(name)} ${type}`;
    }
    const known = alteration.there;
    const offset = offsetBehind(publication, index, at, (other) => columnsBefore.has(other));
    const value = converted(doubleQuoted(name), known.type, type, offset);
    wider.push({ name, from: known.type, to: type });
    known.type = type;
    return `ALTER COLUMN ${doubleQuoted(name)} TYPE ${type} USING ${value}`;
  });
  if (alterations.length === 0) return;
  if (wider.length > 0) {
    await setViewsAside(publication, [table.name]);
    await dropChecks(publication, ({ column }) => wider.some(({ name }) => name === column), table.name);
  }
  await refuseForViews(publication, table.name, wider);
  await tx.unsafe(`ALTER TABLE ${relation(publication, table.name)} ${alterations.join(', ')}`);
  const added = { ...table, columns: table.columns.filter((column) => comments.includes(column.name)) };
  await runAll(tx, commentStatements(postgresql, publication.sqlSchema, added).slice(1));
}

/** Returns whether a column without a time zone can get one, because it has no value yet. */
async function showsInstants(
  { tx, sqlSchema }: PostgresPublication,
  table: string,
  known: { readonly name: string; readonly type: string },
  incoming: string,
): Promise<boolean> {
  const [there, staged] = [known.type, incoming].map((type) => type.replace(/\[\]$/, ''));
  if (there !== 'timestamp without time zone' || staged !== 'timestamp with time zone') return false;
  return !(await hasValues(tx, sqlSchema, table, known.name));
}

/** Adds primary keys, NOT NULL, unique keys, foreign keys, indexes and comments to the tables that this transaction made. */
export async function finishTables(publication: PostgresPublication): Promise<void> {
  const { tx, sqlSchema, plan } = publication;
  const comments: string[] = [];
  const keys: string[] = [];
  const created = [...publication.tables.entries()].filter(([, { name }]) =>
    publication.createdTables.has(name),
  );
  for (const [index, table] of created) {
    const hasKey = plan.keys === 'hash' && !publication.moved.has(publication.staging.get(index)!);
    const alterations = publication.keyed.has(table.name)
      ? ''
      : keyAlterations(table, index, { hasKey, nullAllowed: publication.nullAllowed });
    if (alterations !== '') keys.push(`ALTER TABLE ${relation(publication, table.name)} ${alterations}`);
    comments.push(...commentStatements(postgresql, sqlSchema, table));
  }
  await runAll(tx, keys);
  for (const [, table] of created) await addUniqueKeys(publication, table);
  await addForeignKeys(publication);
  await addKeyIndexes(publication);
  await runAll(tx, comments);
}

/** Returns the alterations for a primary key, unless the table `hasKey`, and NOT NULL; '' for none. */
export function keyAlterations(
  table: PhysicalTable,
  index: number,
  { hasKey, nullAllowed }: { readonly hasKey: boolean; readonly nullAllowed: ReadonlySet<string> },
): string {
  const key = hasKey || table.primaryKey.length === 0 ? [] : [`ADD ${primaryKey(table)}`];
  const required = table.columns.filter(
    (column, at) =>
      !column.nullable && !table.primaryKey.includes(column.name) && !nullAllowed.has(columnId(index, at)),
  );
  return [...key, ...required.map(({ name }) => `ALTER COLUMN ${doubleQuoted(name)} SET NOT NULL`)].join(
    ', ',
  );
}

/** Adds natural keys, which are optional: rows that violate one are loaded, and the key is left out. */
async function addUniqueKeys(publication: PostgresPublication, table: PhysicalTable): Promise<void> {
  for (const key of table.uniqueKeys) {
    const columns = key.columns.map(doubleQuoted).join(', ');
    try {
      await publication.tx.savepoint((savepoint) =>
        savepoint.unsafe(
          `ALTER TABLE ${relation(publication, table.name)} ADD CONSTRAINT ${doubleQuoted(key.name)} UNIQUE (${columns})`,
        ),
      );
    } catch (error) {
      // unique_violation; an index row that is too long; a name that is taken
      if (!['23505', '54000', '42P07', '42710'].includes(sqlState(error) ?? '')) throw error;
      publication.changes.push(`${table.name}: unique key ${key.name} left out, its values do not allow it`);
      publication.brokenKeys.push({ table: table.name, columns: key.columns });
    }
  }
}

/**
 * Adds foreign keys if one end is new, even if only the column is; a key whose parent does not exist yet waits for the job that makes it.
 * Other missing keys stay missing: they may have been dropped for a reason.
 */
async function addForeignKeys(publication: PostgresPublication): Promise<void> {
  const { createdTables, addedColumns, present, rekeyed, target } = publication;
  const known = new Set(target.foreignKeys.map((key) => JSON.stringify([key.table, key.column, key.parent])));
  const statements: string[] = [];
  for (const [index, table] of publication.tables.entries()) {
    if (!present.has(table.name)) continue;
    const staged = publication.staging.get(index)!;
    const brought = publication.moved.has(staged) ? staged.references.map(({ column }) => column) : [];
    for (const key of table.foreignKeys) {
      if (brought.includes(key.column)) continue;
      if (!createdTables.has(table.name)) {
        // a table of an earlier version that got no rows: the column is added with the first row
        if (target.tables.get(table.name)?.columns.has(key.column) === false) continue;
        const at = table.columns.findIndex(({ name }) => name === key.column);
        const isNew = createdTables.has(key.parentTable) || addedColumns.has(columnId(index, at));
        if (!isNew && !rekeyed.has(table.name)) continue;
        if (known.has(JSON.stringify([table.name, key.column, key.parentTable]))) continue;
      }
      if (key.parent !== -1 && !present.has(key.parentTable)) continue;
      statements.push(addForeignKey(postgresql, publication.sqlSchema, table, key));
    }
  }
  await runAll(publication.tx, statements);
}

export function primaryKey(table: Pick<PhysicalTable, 'primaryKey'>): string {
  return `PRIMARY KEY (${table.primaryKey.map(doubleQuoted).join(', ')})`;
}

/** each takes several locks of a table that PostgreSQL keeps in fixed memory */
const tablesPerTransaction = 100;

/**
 * Makes empty tables, a few at a time, if there are so many that the publishing transaction could not hold their locks. `begin`: takes the
 * target's lock and reads the existing tables.
 */
export async function makeTablesAhead(
  sql: Sql,
  plan: SinkPlan,
  staging: StagingArea,
  begin: (tx: TransactionSql) => Promise<PostgresPublication>,
): Promise<void> {
  if (!plan.allTables && plan.saveMode !== 'write-schema') return;
  const empty = plan.model.tables.flatMap((_, index) => (staging.get(index)!.rows === 0 ? [index] : []));
  if (empty.length <= tablesPerTransaction) return;
  for (let from = 0; from < empty.length; from += tablesPerTransaction) {
    await sql.begin(async (begun) => {
      const publication = await begin(begun as unknown as TransactionSql);
      await makeSideTables(publication);
      const some = empty.slice(from, from + tablesPerTransaction);
      await makeTables(
        publication,
        some.filter((index) => !publication.present.has(publication.tables[index]!.name)),
      );
      await finishTables(publication);
    });
  }
}

interface TableMove {
  readonly staged: StagedTable;
  /** the name that the table gets in the target, which has no table of that name */
  readonly name: string;
}

/** Makes staged tables the target's own, with their rows, keys and constraints, which get the names that they have in the target. */
export async function moveStaged(
  publication: PostgresPublication,
  moves: readonly TableMove[],
): Promise<void> {
  const { tx, sqlSchema, staging } = publication;
  const statements: string[] = [];
  for (const { staged, name } of moves) {
    const there = `${doubleQuoted(sqlSchema)}.${doubleQuoted(staged.name)}`;
    if (there !== staged.relation)
      statements.push(`ALTER TABLE ${staged.relation} SET SCHEMA ${doubleQuoted(sqlSchema)}`);
    statements.push(`ALTER TABLE ${there} RENAME TO ${doubleQuoted(name)}`);
    publication.moved.add(staged);
  }
  await runAll(tx, statements);
  await renameKeys(
    publication,
    moves.filter(({ staged }) => staged.keyed),
  );
  if (staging.isShared)
    await renameRequired(
      publication,
      moves.map(({ name }) => name),
    );
}

/**
 * Puts the staged table in place of the table of documents that this transaction has made; its keys need not be shifted. Returns false if
 * there was a table before, or if the staged rows are temporary.
 */
export async function moveDocuments(publication: PostgresPublication, staged: StagedTable): Promise<boolean> {
  const { tx, target, merging } = publication;
  const name = sideTableNames.documents;
  if (!staged.form.logged || merging !== null || target.hasDefaultGrants || target.tables.has(name))
    return false;
  await tx.unsafe(`DROP TABLE ${relation(publication, name)}`);
  await moveStaged(publication, [{ staged, name }]);
  await runAll(tx, documentsStatements(publication, staged.keyed));
  return true;
}

const usualKeyName = (table: string): string => `${truncateToBytes(table, 58)}_pkey`;

/** Renames keys: a key that was made in staging has a name from there; it gets the name that the database would have chosen here. */
async function renameKeys(publication: PostgresPublication, moves: readonly TableMove[]): Promise<void> {
  const { tx, sqlSchema } = publication;
  const names = JSON.stringify(moves.map(({ name }) => name));
  const keys = await tx.unsafe<{ table: string; name: string }[]>(
    `SELECT c.relname AS table, k.conname AS name FROM jsonb_array_elements_text(${standardLiteral(names)}::jsonb) name
       JOIN pg_class c ON c.relname = name JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = ${standardLiteral(sqlSchema)}
       JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'`,
  );
  const nameOf = new Map(keys.map(({ table, name }) => [table, name]));
  const wanted = JSON.stringify([...nameOf.keys()].map(usualKeyName));
  const found = await tx.unsafe<{ name: string }[]>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = ${standardLiteral(sqlSchema)}
      WHERE c.relname IN (SELECT jsonb_array_elements_text(${standardLiteral(wanted)}::jsonb))`,
  );
  const taken = new Set(found.map(({ name }) => name));
  const statements = moves.flatMap(({ staged, name: table }) => {
    const present = nameOf.get(table);
    if (present === undefined) return [];
    // tables whose long names begin the same get the same usual key name; the end of a staged name is unique
    const own = staged.name.split('_').slice(-2).join('_');
    const usual = usualKeyName(table);
    const name = taken.has(usual) ? truncateToBytes(`${truncateToBytes(table, 40)}_pkey_${own}`, 63) : usual;
    taken.add(name);
    return [
      `ALTER TABLE ${relation(publication, table)} RENAME CONSTRAINT ${doubleQuoted(present)} TO ${doubleQuoted(name)}`,
    ];
  });
  await runAll(tx, statements);
}

/** Gives the constraints the names that the database would have chosen here. `tables`: physical names. */
async function renameRequired(publication: PostgresPublication, tables: readonly string[]): Promise<void> {
  const { tx, sqlSchema } = publication;
  const found = await tx.unsafe<{ table: string; column: string; name: string; isStaged: boolean }[]>(
    `SELECT t.relname AS table, a.attname AS column, k.conname AS name, starts_with(k.conname, ${standardLiteral(stagedStart)}) AS "isStaged"
       FROM jsonb_array_elements_text(${standardLiteral(JSON.stringify(tables))}::jsonb) name
       JOIN pg_class t ON t.relname = name JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = ${standardLiteral(sqlSchema)}
       JOIN pg_constraint k ON k.conrelid = t.oid AND k.contype = 'n'
       JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.conkey[1]`,
  );
  const taken = new Set(found.map(({ table, name }) => JSON.stringify([table, name])));
  const statements = found.flatMap(({ table, column, name, isStaged }) => {
    const wanted = constraintName(table, column, 'not_null');
    const id = JSON.stringify([table, wanted]);
    if (!isStaged || taken.has(id)) return [];
    taken.add(id);
    return [
      `ALTER TABLE ${relation(publication, table)} RENAME CONSTRAINT ${doubleQuoted(name)} TO ${doubleQuoted(wanted)}`,
    ];
  });
  await runAll(tx, statements);
}

/** the start of the names of staged tables, and of objects made with them */
export const stagedStart = `${ownPrefix}staging_`;

interface PresentIndex {
  readonly table: string;
  readonly column: string;
  readonly name: string;
  /** made in staging, with a name from there */
  readonly isStaged: boolean;
}

/**
 * Makes the indexes that tables and columns of this transaction lack, and gives indexes that came with a moved table the name they would
 * have had here. Tables that existed before get indexes only if the job requests them: an index may have been dropped for a reason.
 */
export async function addKeyIndexes(publication: PostgresPublication): Promise<void> {
  const { plan, tables, createdTables, present, addedColumns, sqlSchema, tx } = publication;
  const choice = plan.indexes ?? 'keys';
  if (choice === 'none') return;
  const wanted: { readonly table: string; readonly index: KeyIndex }[] = [];
  for (const [at, table] of tables.entries()) {
    if (!present.has(table.name)) continue;
    const isWhole = createdTables.has(table.name) || plan.indexes !== undefined;
    if (!isWhole && !addedColumns.has(`${at}:`)) continue;
    for (const index of keyIndexes(plan.model, at, table, choice)) {
      const column = table.columns.findIndex(({ name }) => name === index.column);
      if (isWhole || addedColumns.has(columnId(at, column))) wanted.push({ table: table.name, index });
    }
  }
  if (wanted.length === 0) return;
  const there = await presentIndexes(publication, [...new Set(wanted.map(({ table }) => table))]);
  const covered = new Map(there.map((index) => [JSON.stringify([index.table, index.column]), index]));
  const name = await freeNames(
    publication,
    wanted.map(({ table, index }) => constraintName(table, index.column, 'idx')),
  );
  const statements: string[] = [];
  let created = 0;
  for (const { table, index } of wanted) {
    const known = covered.get(JSON.stringify([table, index.column]));
    if (known !== undefined && !known.isStaged) continue;
    const own = name(constraintName(table, index.column, 'idx'));
    const quoted = `${doubleQuoted(sqlSchema)}.${doubleQuoted(own)}`;
    if (known === undefined) {
      statements.push(keyIndexStatement(postgresql, sqlSchema, table, index, { name: own }));
      created += 1;
    } else
      statements.push(
        `ALTER INDEX ${doubleQuoted(sqlSchema)}.${doubleQuoted(known.name)} RENAME TO ${doubleQuoted(own)}`,
      );
    statements.push(`COMMENT ON INDEX ${quoted} IS ${standardLiteral(keyIndexMark)}`);
  }
  const started = performance.now();
  await runAll(tx, statements);
  publication.indexes.count += created;
  publication.indexes.seconds += (performance.now() - started) / 1000;
}

/** Returns indexes that find a row by the value of one column: those that begin with it, and contain all rows that have a value. */
async function presentIndexes(
  { tx, sqlSchema }: PostgresPublication,
  names: readonly string[],
): Promise<readonly PresentIndex[]> {
  return tx.unsafe<PresentIndex[]>(
    `SELECT t.relname AS table, a.attname AS column, c.relname AS name, starts_with(c.relname, ${standardLiteral(stagedStart)}) AS "isStaged"
       FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
       JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]
      WHERE n.nspname = ${standardLiteral(sqlSchema)} AND i.indisvalid
        AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) = format('(%I IS NOT NULL)', a.attname))
        AND t.relname IN (SELECT jsonb_array_elements_text(${standardLiteral(JSON.stringify(names))}::jsonb))`,
  );
}

/** Returns the wanted name, or, if another object has it, the next one with a number. */
async function freeNames(
  { tx, sqlSchema }: PostgresPublication,
  wanted: readonly string[],
): Promise<(usual: string) => string> {
  const found = await tx.unsafe<{ name: string }[]>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ${standardLiteral(sqlSchema)}
        AND (c.relname ~ '_idx[0-9]*$' OR c.relname IN (SELECT jsonb_array_elements_text(${standardLiteral(JSON.stringify(wanted))}::jsonb)))`,
  );
  const taken = new Set(found.map(({ name }) => name));
  return (usual) => {
    let name = usual;
    for (let count = 1; taken.has(name); count += 1)
      name = `${truncateToBytes(usual.slice(0, -'_idx'.length), 63 - `_idx${count}`.length)}_idx${count}`;
    taken.add(name);
    return name;
  };
}

/** The check of a single row costs more than ten times its share of a check of the whole table. */
const wholeTableFactor = 10;
const bulkRows = 10_000;

/**
 * Drops the foreign keys of tables that get many rows. They are made again before the end of the transaction, and checked once for a whole
 * table instead of row by row. That needs exclusive access to the table: if another session reads it for longer than a moment, the keys
 * stay.
 */
export async function loosenForeignKeys(publication: PostgresPublication): Promise<void> {
  const { tx, target, staging, tables, present } = publication;
  for (const [index, { name }] of tables.entries()) {
    const staged = staging.get(index)!;
    if (staged.rows < bulkRows || !present.has(name)) continue;
    const keys = target.foreignKeys.filter((key) => key.table === name);
    if (keys.length === 0) continue;
    const [sizes] = await tx.unsafe<[{ there: number; staged: number }]>(
      `SELECT pg_relation_size(${standardLiteral(relation(publication, name))}::regclass) AS there,
              pg_relation_size(${standardLiteral(staged.relation)}::regclass) AS staged`,
    );
    if (sizes.there > sizes.staged * wholeTableFactor) continue;
    const drops = keys.map((key) => `DROP CONSTRAINT ${doubleQuoted(key.name)}`);
    try {
      await tx.savepoint((savepoint) =>
        savepoint.unsafe(
          `SET LOCAL lock_timeout = '1s'; ALTER TABLE ${relation(publication, name)} ${drops.join(', ')}; SET LOCAL lock_timeout = '60s'`,
        ),
      );
    } catch (error) {
      // lock_not_available, deadlock_detected
      if (!['55P03', '40P01'].includes(sqlState(error) ?? '')) throw error;
      continue;
    }
    publication.rekeyed.add(name);
    target.foreignKeys = target.foreignKeys.filter((key) => key.table !== name);
  }
}

/**
 * Defers keys to tables that came earlier in a previous version of the model and come later in this one. Rows are inserted into tables in
 * the order of the model. If the tables that a key refers to come later, it is checked at the end of the transaction from now on
 * (`DEFERRABLE INITIALLY DEFERRED`), like such keys in a new target.
 */
export async function deferTurnedKeys(publication: PostgresPublication): Promise<void> {
  const { target, tables, staging } = publication;
  const places = new Map(tables.map(({ name }, at) => [name, at]));
  const turned = target.foreignKeys.filter(({ table, parent, deferrable }) => {
    const [at, parentAt] = [places.get(table), places.get(parent)];
    if (deferrable || at === undefined || parentAt === undefined) return false;
    return parentAt > at && staging.get(at)!.created && staging.get(parentAt)!.created;
  });
  await runAll(
    publication.tx,
    turned.map(
      ({ table, name }) =>
        `ALTER TABLE ${relation(publication, table)} ALTER CONSTRAINT ${doubleQuoted(name)} DEFERRABLE INITIALLY DEFERRED`,
    ),
  );
}
