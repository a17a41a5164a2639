/** Indexes that queries and removals need beside the keys: from a row to the rows below it, and from an id to its row. */
import type { RelationalModel } from '../model/relational-model.ts';
import { qualified, type Dialect } from './dialect.ts';
import type { PhysicalTable } from './physical-model.ts';
import { modelName, physicalName } from './physical-names.ts';

/** `keys`: foreign keys. `all`: what the XSD calls an id, a key or a reference, too. */
export type IndexChoice = 'none' | 'keys' | 'all';

/** One column of one table. */
export interface KeyIndex {
  readonly column: string;
  /** rows without a value are left out: most rows of a shared type's table have but one of its parents */
  readonly isPartial: boolean;
}

const idTypes: ReadonlySet<string | null> = new Set(['ID', 'IDREF']);

/**
 * What table `index` of the model is to have, in the order of its columns. A column that a primary or unique key begins with has its index there.
 * `table`: the same table, in the database.
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
  wanted.delete(table.primaryKey[0] ?? '');
  for (const { columns } of table.uniqueKeys) wanted.delete(columns[0]!);
  return table.columns
    .filter(({ name }) => wanted.has(name))
    .map(({ name, nullable }) => ({ column: name, isPartial: nullable }));
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
  { column, isPartial }: KeyIndex,
  { name, ifNotExists = false }: { readonly name?: string; readonly ifNotExists?: boolean } = {},
): string {
  const quoted = dialect.quote(column);
  const called = name === undefined ? '' : `${ifNotExists ? 'IF NOT EXISTS ' : ''}${dialect.quote(name)} `;
  const where =
    isPartial && dialect.capabilities.keyIndexes === 'partial' ? ` WHERE ${quoted} IS NOT NULL` : '';
  return `CREATE INDEX ${called}ON ${qualified(dialect, { sqlSchema, table })} (${quoted})${where}`;
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
