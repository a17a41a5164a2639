/** The indexes that queries and deletions need in addition to the keys: from a row to the rows below it, and from an id to its row. */
import type { RelationalModel } from '../model/relational-model.ts';
import { qualified, type Dialect } from './dialect.ts';
import type { PhysicalTable } from './physical-model.ts';
import { modelName, physicalName } from './physical-names.ts';

/** `keys`: foreign keys and documents. `all`: also the ids, keys and references of the XSD. */
export type IndexChoice = 'none' | 'keys' | 'all';

/** One column of one table. */
export interface KeyIndex {
  readonly column: string;
  /** rows without a value are left out: most rows of a shared type's table have but one of its parents */
  readonly isPartial: boolean;
  /** values ascend with the rows, because documents are loaded one after the other */
  readonly isClustered: boolean;
}

const idTypes: ReadonlySet<string | null> = new Set(['ID', 'IDREF']);

/**
 * Returns the indexes for table `index` of the model, in the order of its columns. A column that a primary or unique key begins with is
 * already indexed. `table`: the same table in the database.
 */
export function keyIndexes(
  model: RelationalModel,
  index: number,
  table: PhysicalTable,
  choice: IndexChoice,
): KeyIndex[] {
  if (choice === 'none') return [];
  const wanted = new Set(table.foreignKeys.map(({ column }) => column));
  if (choice === 'all') for (const column of referenceColumns(model, index, table)) wanted.add(column);
  const at = model.tables[index]!.columns.findIndex(({ role }) => role === 'document');
  const document = table.columns[at]?.name;
  const isClustered = document !== undefined && !wanted.has(document);
  if (isClustered) wanted.add(document);
  wanted.delete(table.primaryKey[0] ?? '');
  for (const { columns } of table.uniqueKeys) wanted.delete(columns[0]!);
  return table.columns
    .filter(({ name }) => wanted.has(name))
    .map(({ name, nullable }) => ({
      column: name,
      isPartial: nullable,
      isClustered: isClustered && name === document,
    }));
}

function referenceColumns(model: RelationalModel, index: number, table: PhysicalTable): string[] {
  const ids = model.tables[index]!.columns.flatMap(({ sourceType, type }, at) =>
    idTypes.has(sourceType) && type.list !== true ? [at] : [],
  );
  const fields = (model.identityRules ?? []).flatMap(({ tables }) =>
    tables.filter((selected) => selected.table === index).flatMap(({ columns }) => columns.slice(0, 1)),
  );
  return [...ids, ...fields].map((at) => table.columns[at]!.name);
}

/** CREATE INDEX without terminator; without `name` the database gives one (PostgreSQL). */
export function keyIndexStatement(
  dialect: Dialect,
  sqlSchema: string | null,
  table: string,
  { column, isPartial, isClustered }: KeyIndex,
  { name, ifNotExists = false }: { readonly name?: string; readonly ifNotExists?: boolean } = {},
): string {
  const quoted = dialect.quote(column);
  const called = name === undefined ? '' : `${ifNotExists ? 'IF NOT EXISTS ' : ''}${dialect.quote(name)} `;
  const where =
    isPartial && dialect.capabilities.keyIndexes === 'partial' ? ` WHERE ${quoted} IS NOT NULL` : '';
  const isByRange = isClustered && dialect.capabilities.blockRangeIndexes === true;
  const [using, settings] = isByRange ? ['USING brin ', ' WITH (pages_per_range = 32)'] : ['', ''];
  return `CREATE INDEX ${called}ON ${qualified(dialect, { sqlSchema, table })} ${using}(${quoted})${settings}${where}`;
}

/** Gives names to indexes of one database, each once, no longer than those of the model. */
export function createIndexNames(
  dialect: Dialect,
  model: Pick<RelationalModel, 'nameMaxLength'>,
): (table: string, column: string) => string {
  const taken = new Set<string>();
  return (table, column) => {
    for (let count = 0; ; count += 1) {
      const name = modelName(
        model,
        physicalName(dialect, `${table}_${column}_idx${count === 0 ? '' : count}`),
      );
      if (taken.has(name.toLowerCase())) continue;
      taken.add(name.toLowerCase());
      return name;
    }
  };
}
