/** Tables of the target: made, widened, given their keys and comments. */
import { addForeignKey, commentStatements, indexStatements } from '../../../../engine/sql/statements.ts';
import { doubleQuoted } from '../../../../engine/sql/dialect.ts';
import { physicalSideTable, type PhysicalTable } from '../../../../engine/sql/physical-model.ts';
import { postgresql } from '../../../../engine/sql/dialects/postgresql.ts';
import { sideTableDefinitions } from '../../../../engine/model/side-tables.ts';
import { sqlState } from '../../../../adapters/postgres/client/connect.ts';
import { columnId } from '../../../rows/unfit-columns.ts';
import { offsetBehind, relation, type PostgresPublication } from './publication.ts';
import { addKeyIndexes } from './key-indexes.ts';
import { converted, settledType } from '../connection/types.ts';
import { hasValues } from '../connection/zones.ts';
import { dropChecks } from './code-lists.ts';
import { setViewsAside } from './entity-views.ts';
import { refuseForViews, type ColumnChange } from './dependent-views.ts';
import { runAll } from '../staging/lane.ts';

/** What the table of documents has beside its rows; its primary key, too, unless it `isKeyed`. */
export function documentsStatements(publication: PostgresPublication, isKeyed: boolean): string[] {
  const table = physicalSideTable(sideTableDefinitions.documents, postgresql);
  return [
    ...(isKeyed ? [] : [`ALTER TABLE ${relation(publication, table.name)} ADD ${primaryKey(table)}`]),
    ...indexStatements(postgresql, publication.sqlSchema, table),
    ...commentStatements(postgresql, publication.sqlSchema, table),
  ];
}

/** Empty tables of the model. They get their keys with the others, but for hashed keys, which tell rows that are there by them. */
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
 * Makes a table that was there before able to take these rows: missing columns are added, types widened, NOT NULL dropped
 * where a row may leave the column empty. `incoming`: the types of the staged columns, as `format_type` writes them.
 */
export async function adaptTable(
  publication: PostgresPublication,
  index: number,
  incoming: ReadonlyMap<string, string>,
): Promise<void> {
  const { tx, plan, changes } = publication;
  const table = publication.tables[index]!;
  const { columns } = publication.target.tables.get(table.name)!;
  const columnsBefore = new Set(columns.keys());
  const alterations: string[] = [];
  const comments: string[] = [];
  const wider: ColumnChange[] = [];
  for (const [at, column] of table.columns.entries()) {
    const name = doubleQuoted(column.name);
    const type = incoming.get(column.name)!;
    const known = columns.get(column.name);
    if (known === undefined) {
      alterations.push(`ADD COLUMN ${name} ${type}`);
      comments.push(column.name);
      columns.set(column.name, { name: column.name, type, notNull: false, hasDefault: false, comment: null });
      changes.push(`${table.name}.${column.name}: added`);
      publication.addedColumns.add(columnId(index, at)).add(`${index}:`);
      continue;
    }
    const settled = (await showsInstants(publication, table.name, known, type))
      ? type
      : settledType(known.type, type);
    if (settled !== known.type) {
      const offset = offsetBehind(publication, index, at, (other) => columnsBefore.has(other));
      const value = converted(name, known.type, settled, offset);
      alterations.push(`ALTER COLUMN ${name} TYPE ${settled} USING ${value}`);
      if (settled === 'text') publication.turnedToText.add(columnId(index, at));
      changes.push(`${table.name}.${column.name}: ${known.type} widened to ${settled}`);
      wider.push({ name: column.name, from: known.type, to: settled });
      known.type = settled;
    }
    const { role } = plan.model.tables[index]!.columns[at]!;
    const mayBeNull = column.nullable || publication.nullAllowed.has(columnId(index, at));
    if (known.notNull && mayBeNull && role !== 'row_key') {
      alterations.push(`ALTER COLUMN ${name} DROP NOT NULL`);
      changes.push(`${table.name}.${column.name}: NOT NULL dropped`);
    }
  }
  const ours = new Set(table.columns.map((column) => column.name));
  for (const column of columns.values()) {
    if (ours.has(column.name) || !column.notNull || column.hasDefault) continue;
    alterations.push(`ALTER COLUMN ${doubleQuoted(column.name)} DROP NOT NULL`);
    changes.push(`${table.name}.${column.name}: NOT NULL dropped`);
  }
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

/** Whether a column without a time zone can take one, as it has no value yet. */
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

/** Primary keys, NOT NULL, unique keys, foreign keys, indexes and comments of the tables that this transaction made. */
export async function finishTables(publication: PostgresPublication): Promise<void> {
  const { tx, sqlSchema, plan } = publication;
  const comments: string[] = [];
  const keys: string[] = [];
  const created = [...publication.tables.entries()].filter(([, { name }]) =>
    publication.createdTables.has(name),
  );
  for (const [index, table] of created) {
    for (const [at, column] of table.columns.entries()) {
      if (column.nullable || !publication.nullAllowed.has(columnId(index, at))) continue;
      publication.changes.push(`${table.name}.${column.name}: NOT NULL dropped`);
    }
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

/** Primary key, unless it `hasKey`, and NOT NULL as alterations of a table; '' for none. */
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

/** A natural key is wanted, not demanded: rows that break it are loaded, and the key is left out. */
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
 * Foreign keys of which one end is new, be it the column alone; a key whose parent does not exist yet waits for the job that makes it. Others
 * that are missing stay so: who took one away has a reason.
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
        // a table of an earlier version that no row came for: the column is added with the first one
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
