/** Row keys that are counted: the first key of this job, and the table `_keys`, which keeps the highest key of every table. */
import { sideTableDefinitions, sideTableNames } from '../../engine/model/side-tables.ts';
import type { PhysicalTable } from '../../engine/sql/physical-model.ts';
import type { SqlDatabase } from './database.ts';
import { relationOf, type SqlNames } from './found-tables.ts';
import type { AskedTarget } from './ledger.ts';
import type { KeyOffsets, PublishingScope } from './publication.ts';

const tablesPerQuery = 200;

/**
 * Returns the offsets of tables with keys in use. No key is given out twice, not even after its row was removed, because `_keys` outlives
 * rows and tables. Keys that follow from the content of documents have no offsets, but items of lists are always numbered.
 */
export async function keyOffsets<Database extends SqlDatabase>({
  database,
  driver,
  plan,
  drawn,
  known,
}: AskedTarget<Database>): Promise<KeyOffsets> {
  const { quote, literal } = driver.dialect;
  const relation = relationOf(driver);
  const offsets = new Map<string, bigint>();
  const raise = (name: string, key: bigint | number | string | null): void => {
    const folded = driver.foldedName(name);
    if (key !== null && BigInt(key) > (offsets.get(folded) ?? 0n)) offsets.set(folded, BigInt(key));
  };
  const lists = new Set(
    drawn.tables.slice(plan.model.tables.length).map(({ name }) => driver.foldedName(name)),
  );
  const isNumbered = (name: string): boolean =>
    plan.keys === 'sequence' || lists.has(driver.foldedName(name));
  // two versions of a model may write a table's name in other cases of letters
  const counters = known.has(sideTableNames.keys) ? await readCounters(database, driver) : [];
  for (const { name, last } of counters) if (isNumbered(name)) raise(name, last);
  const queries = keyedTables(drawn.tables)
    .filter(([name]) => known.get(driver.foldedName(name))?.isView === false && isNumbered(name))
    .map(
      ([name, key]) => `SELECT ${literal(name)} AS name, max(${quote(key)}) AS last FROM ${relation(name)}`,
    );
  for (let from = 0; from < queries.length; from += tablesPerQuery) {
    const highest = await database.read<{ name: string; last: bigint | number | null }>(
      queries.slice(from, from + tablesPerQuery).join(' UNION ALL '),
    );
    for (const { name, last } of highest) raise(name, last);
  }
  return offsets;
}

/** Columns of `_unmapped` and `_lexical` that name the table and the key of a row. */
const namedRows = {
  unmapped: ['parent_table', 'parent_key'],
  lexical: ['table_name', 'row_key'],
} as const;

/**
 * Returns the expressions by which staged rows `s` of `_unmapped` or `_lexical` become rows of the target, whose keys have the offsets of
 * the tables that they name: the values of the columns, and the text that follows the staged rows in FROM. `value`: the value of a column;
 * `text`: the value of a text column, as it is staged.
 */
export function shiftedSideRows<Database extends SqlDatabase>(
  { driver, plan, drawn }: Pick<AskedTarget<Database>, 'driver' | 'plan' | 'drawn'>,
  side: keyof typeof namedRows,
  offsets: KeyOffsets,
  { value, text }: { value(column: number): string; text(column: number): string },
): { readonly values: readonly string[]; readonly join: string } {
  const { literal } = driver.dialect;
  const { documents } = sideTableNames;
  const shifts = plan.model.tables.flatMap(({ name }, index) => {
    const offset = offsets.get(driver.foldedName(drawn.tables[index]!.keysOf)) ?? 0n;
    return offset === 0n ? [] : [`(${literal(name)}, ${offset})`];
  });
  const ofDocuments = offsets.get(documents) ?? 0n;
  // documents that are kept whole refer to themselves
  if (ofDocuments > 0n) shifts.push(`(${literal(documents)}, ${ofDocuments})`);
  const { columns } = sideTableDefinitions[side];
  const [table, key] = namedRows[side].map((name) => columns.findIndex((column) => column.name === name));
  const values = columns.map(({ name }, at) => {
    if (name === 'document_key') return `${value(at)} + ${ofDocuments}`;
    return at === key && shifts.length > 0 ? `${value(at)} + coalesce(o.shift, 0)` : value(at);
  });
  const named = `(VALUES ${shifts.join(', ')}) o (name, shift)`;
  const join = shifts.length === 0 ? '' : ` LEFT JOIN ${named} ON o.name = ${text(table!)}`;
  return { values, join };
}

/**
 * Records the highest key of tables that got rows. If keys depend on the content of documents, `_keys` only says that loads made the table.
 * `filled`: the tables; `hasDocuments`: documents were added.
 */
export async function keepKeys<Database extends SqlDatabase>(
  { database, driver, plan }: Pick<PublishingScope<Database>, 'database' | 'driver' | 'plan'>,
  filled: readonly Pick<PhysicalTable, 'name' | 'primaryKey'>[],
  hasDocuments: boolean,
): Promise<void> {
  const { quote, literal } = driver.dialect;
  const relation = relationOf(driver);
  const highest = keyedTables(filled)
    .filter(([name]) => name !== sideTableNames.documents || hasDocuments)
    .map(([name, key]) =>
      plan.keys === 'hash'
        ? `SELECT ${literal(name)} AS name, 0 AS last`
        : `SELECT ${literal(name)} AS name, max(${quote(key)}) AS last FROM ${relation(name)}`,
    );
  for (let from = 0; from < highest.length; from += tablesPerQuery) {
    const some = highest.slice(from, from + tablesPerQuery).join(' UNION ALL ');
    await database.run(
      `INSERT INTO ${relation(sideTableNames.keys)} (table_name, last_value)
       SELECT name, last FROM (${some}) highest WHERE last IS NOT NULL ${driver.keepHigherKey}`,
    );
  }
}

/** Returns the highest key given out by table name, or null if keys follow from the documents. */
export async function givenKeys<Database extends SqlDatabase>({
  database,
  driver,
  plan,
}: Pick<AskedTarget<Database>, 'database' | 'driver' | 'plan'>): Promise<Readonly<
  Record<string, number>
> | null> {
  if (plan.keys === 'hash') return null;
  const counters = await readCounters(database, driver);
  return Object.fromEntries(counters.map(({ name, last }) => [name, Number(last)]));
}

interface Counter {
  readonly name: string;
  readonly last: bigint | number | string;
}

async function readCounters(database: SqlDatabase, driver: SqlNames): Promise<readonly Counter[]> {
  return database.read<Counter>(
    `SELECT table_name AS name, last_value AS last FROM ${relationOf(driver)(sideTableNames.keys)}`,
  );
}

function keyedTables(
  tables: readonly { readonly name: string; readonly primaryKey: readonly string[] }[],
): (readonly [name: string, key: string])[] {
  return [
    ...tables.flatMap(({ name, primaryKey }) =>
      primaryKey.length > 0 ? [[name, primaryKey[0]!] as const] : [],
    ),
    [sideTableNames.documents, sideTableDefinitions.documents.primaryKey[0]!],
  ];
}
