/** Catalogue lines of a relational model: its tables, its columns, and its source-to-target map. */
import { bareTypeName } from '../../../../engine/sql/dialects/postgresql.ts';
import { keyHolders } from '../../../../engine/model/child-keys.ts';
import { rootTables } from '../../../../engine/model/key-columns.ts';
import { mapInSlices } from '../../../../engine/in-slices.ts';
import { readMappings } from '../../../../engine/model/packed/models.ts';
import type { MappingEntry, RelationalModel, Table } from '../../../../engine/model/relational-model.ts';
import type { MappingRecord, TableRecord } from '../../../../ports/stores/catalog.ts';

/** The reference target for the document key of a root table's rows: a table beside the model (docs/decisions/model/side-tables.md). */
const documentReference = '_documents.document_key';

/** Columns that hold no source content, yet belong to the source-to-target map: the key and position of the row. */
const ownMappingRoles: ReadonlySet<string> = new Set([
  'row_key',
  'parent_key',
  'child_key',
  'position',
  'document',
  'folded_position',
]);

/** A line of the map for every key and position column that the model's mappings leave out. */
export async function structureLines(model: RelationalModel): Promise<MappingEntry[]> {
  const covered = model.tables.map((): Set<number> => new Set());
  for (const { table, column } of await readMappings(model)) if (column !== null) covered[table]?.add(column);
  const lines = await mapInSlices(model.tables, (table, t) =>
    table.columns.flatMap((column, c): MappingEntry[] =>
      ownMappingRoles.has(column.role) && !covered[t]!.has(c)
        ? [
            {
              xpath: null,
              nodeType: 'element',
              sourceType: '',
              minOccurs: column.nullable ? 0 : 1,
              maxOccurs: 1,
              table: t,
              column: c,
            },
          ]
        : [],
    ),
  );
  return lines.flat();
}

/** The whole map: table by table, in column order. Lines are known by their place in it: never change the order. */
export function mapLines(
  mappings: readonly MappingEntry[],
  structure: readonly MappingEntry[],
): MappingEntry[] {
  return [...mappings, ...structure].toSorted(
    (a, b) => a.table - b.table || (a.column ?? -1) - (b.column ?? -1),
  );
}

/** `ids`: of the tables, and of the columns table by table. */
export function tableRecords(
  model: RelationalModel,
  idsOfTables: readonly number[],
  idsOfColumns: readonly number[],
): Promise<TableRecord[]> {
  let nextColumn = 0;
  const roots = rootTables(model);
  const holders = keyHolders(model);
  return mapInSlices(model.tables, (table, t) => ({
    id_tab: idsOfTables[t]!,
    name: table.name,
    xpath: table.xpath,
    parent_table: parentTable(model, table, t, holders.get(t)?.[0]?.table),
    columns: table.columns.map((column, c) => ({
      id_col: idsOfColumns[nextColumn++]!,
      name: column.name,
      data_type: bareTypeName(column.type),
      length: column.type.length ?? null,
      precision: column.type.precision ?? null,
      scale: column.type.scale ?? null,
      nullable: column.nullable,
      ...keyOf(model, table, c, roots.has(t)),
      xpath: column.xpath,
    })),
  }));
}

export interface LineIds {
  readonly idSch: number;
  readonly idLschma: number;
  readonly tables: readonly number[];
  readonly mappings: readonly number[];
}

/** `lines` as `mapLines` orders them; `inactive`: places of those that are switched off. */
export function mappingRecords(
  model: Pick<RelationalModel, 'tables' | 'roots' | 'nodes'>,
  lines: readonly MappingEntry[],
  ids: LineIds,
  inactive: ReadonlySet<number>,
): Promise<MappingRecord[]> {
  const roots = rootTables(model);
  return mapInSlices(lines, (line, index) => {
    const table = model.tables[line.table]!;
    const column = line.column === null ? undefined : table.columns[line.column];
    return {
      id_map: ids.mappings[index]!,
      id_sch: ids.idSch,
      id_lschma: ids.idLschma,
      xpath: line.xpath,
      node_type: line.xpath === null ? null : line.nodeType,
      source_type: line.sourceType,
      min_occurs: line.minOccurs,
      max_occurs: line.maxOccurs,
      id_tab: ids.tables[line.table]!,
      table_name: table.name,
      column_name: column?.name ?? null,
      data_type: column === undefined ? null : bareTypeName(column.type),
      length: column?.type.length ?? null,
      nullable: column?.nullable ?? false,
      key: line.column === null ? null : keyKind(table, line.column, roots.has(line.table)),
      active: !inactive.has(index),
      documentation: line.documentation ?? null,
    };
  });
}

/**
 * `isRoot`: the table has rows of root elements; in other tables the keys of the parents lead to the document, and no foreign key
 * checks its own.
 */
function keyKind({ columns }: Table, column: number, isRoot: boolean): 'PK' | 'FK' | null {
  const { role, references } = columns[column] ?? { role: 'value', references: null };
  if (role === 'row_key') return 'PK';
  return (role === 'document' && isRoot) || references !== null ? 'FK' : null;
}

function keyOf(
  model: RelationalModel,
  table: Table,
  column: number,
  isRoot: boolean,
): { readonly key: 'PK' | 'FK' | null; readonly references: string | null } {
  const key = keyKind(table, column, isRoot);
  const { role, references } = table.columns[column] ?? { role: 'value', references: null };
  if (role === 'document') return { key, references: key === null ? null : documentReference };
  // in a table that continues the rows of another, the primary key is also a foreign key
  if (key === null || references === null) return { key, references: null };
  const parent = model.tables[references];
  const rowKey = parent?.columns.find((candidate) => candidate.role === 'row_key');
  return { key, references: rowKey === undefined ? null : `${parent!.name}.${rowKey.name}` };
}

/** Returns the first table whose key this one holds, or that holds keys of this one; the table itself only if there is no other. */
function parentTable(
  model: RelationalModel,
  table: Table,
  self: number,
  holder: number | undefined,
): string | null {
  const keys = table.columns.flatMap(({ role, references }) =>
    role === 'child_key' || references === null ? [] : [references],
  );
  const parents = holder === undefined ? keys : [...keys, holder];
  const parent = parents.find((index) => index !== self) ?? parents[0];
  return parent === undefined ? null : (model.tables[parent]?.name ?? null);
}
