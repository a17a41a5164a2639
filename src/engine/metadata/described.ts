/** The tables of a model as described to other tools: names, types, keys, documentation, and possible values. */
import { rootTables } from '../model/keys.ts';
import { mapInSlices } from '../in-slices.ts';
import type { ColumnType, RelationalModel } from '../model/relational-model.ts';
import { sideTableDefinitions, type SideTableDefinition } from '../model/side-tables.ts';
import type { SourceModel } from '../model/source-model.ts';
import {
  columnComment,
  commentLine,
  constraintWords,
  referenceWords,
  identityNotes,
  tableComment,
} from '../sql/comment-text.ts';
import { placesOfRows, type PlacesOfRows } from '../sql/places-of-rows.ts';
import { enumerationsOf, type CodeList, type EnumeratedValues, type Enumeration } from './enumerations.ts';

export interface DescribedColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
  /** on one line: the path first, then the documentation */
  readonly description: string;
  /** on one line: only the documentation; '' if there is none */
  readonly documentation: string;
  readonly xpath: string | null;
  /** `default EUR`, `fixed 2.1`; '' if the source has neither */
  readonly constraint: string;
  /** `means TABLE.COLUMN of the same document`, if a reference by id has only one possible target; otherwise '' */
  readonly meaning: string;
  /** all possible values, for a list those of its items; null: unknown */
  readonly enumeration: Enumeration | null;
  /** documentation of the values in the schema, by value */
  readonly saidOfValues: EnumeratedValues['said'];
  /** the same by the types that have them */
  readonly codeLists: EnumeratedValues['lists'];
}

export interface DescribedReference {
  readonly column: string;
  readonly parentTable: string;
  readonly parentColumn: string;
  /** a row of the parent has one at most */
  readonly single: boolean;
}

export interface DescribedTable {
  readonly name: string;
  /** null: a side table */
  readonly xpath: string | null;
  readonly description: string;
  readonly documentation: string;
  readonly columns: readonly DescribedColumn[];
  /** empty: rows have no key */
  readonly primaryKey: readonly string[];
  readonly uniqueKeys: readonly { readonly name: string; readonly columns: readonly string[] }[];
  readonly references: readonly DescribedReference[];
}

export interface DescribedModel {
  /** name of the schema, any text */
  readonly name: string;
  /** version of the schema, from 1 */
  readonly version: number;
  /** `_documents` first, then the model's tables in their order */
  readonly tables: readonly DescribedTable[];
}

const nothingSaid: EnumeratedValues['said'] = new Map();

/** `source`: the source that the model was made of; without it, no values are enumerated. */
export async function describeModel(
  { name, version }: Pick<DescribedModel, 'name' | 'version'>,
  model: RelationalModel,
  source: SourceModel | null,
): Promise<DescribedModel> {
  const enumerations = source === null ? null : await enumerationsOf(model, source);
  const notes = identityNotes(model);
  const places = placesOfRows(model);
  const tables = await mapInSlices(model.tables, (_, index) =>
    describeTable(model, index, places, notes.get(index), (column) => enumerations?.(index, column) ?? null),
  );
  return { name, version, tables: [describeSideTable(sideTableDefinitions.documents), ...tables] };
}

/** Returns each list of codes once, by the names of their types. */
export function codeListsOf({ tables }: Pick<DescribedModel, 'tables'>): readonly CodeList[] {
  const lists = new Map<string, CodeList>();
  for (const { columns } of tables)
    for (const { codeLists } of columns) for (const list of codeLists) lists.set(list.type, list);
  return [...lists.values()].toSorted((a, b) => (a.type < b.type ? -1 : 1));
}

/** `places`: of the model; `enumerationAt`: of a column, by its index. */
export function describeTable(
  model: RelationalModel,
  index: number,
  places: PlacesOfRows,
  notes: readonly string[] = [],
  enumerationAt: (column: number) => EnumeratedValues | null = () => null,
): DescribedTable {
  const table = model.tables[index]!;
  const isRootTable = rootTables(model).has(index);
  const named = (at: number): string => table.columns[at]!.name;
  return {
    name: table.name,
    xpath: table.xpath,
    description: commentLine(tableComment(table, places, notes), null),
    documentation: commentLine(table.documentation ?? '', null),
    columns: table.columns.map((column, at) => ({
      name: column.name,
      type: column.type,
      nullable: column.nullable,
      description: commentLine(columnComment(model, table, column, places), null),
      documentation: commentLine(column.documentation ?? '', null),
      xpath: column.xpath,
      constraint: constraintWords(column).join(''),
      meaning: referenceWords(model, table, column, places).join(''),
      enumeration: enumerationAt(at)?.values ?? null,
      saidOfValues: enumerationAt(at)?.said ?? nothingSaid,
      codeLists: enumerationAt(at)?.lists ?? [],
    })),
    primaryKey: table.columns.filter(({ role }) => role === 'row_key').map(({ name }) => name),
    uniqueKeys: table.uniqueKeys.map((key) => ({ name: key.name, columns: key.columns.map(named) })),
    references: table.columns.flatMap(({ name, role, references }): DescribedReference[] => {
      const { documents } = sideTableDefinitions;
      if (role === 'document' && !isRootTable) return [];
      if (role === 'document')
        return [
          {
            column: name,
            parentTable: documents.name,
            parentColumn: documents.primaryKey[0]!,
            single: false,
          },
        ];
      const parent = references === null ? undefined : model.tables[references]!;
      const key = parent?.columns.find((column) => column.role === 'row_key');
      if (parent === undefined || key === undefined) return [];
      return [{ column: name, parentTable: parent.name, parentColumn: key.name, single: role === 'row_key' }];
    }),
  };
}

export function describeSideTable({
  name,
  comment,
  columns,
  primaryKey,
}: SideTableDefinition): DescribedTable {
  return {
    name,
    xpath: null,
    description: comment,
    documentation: comment,
    columns: columns.map((column) => ({
      name: column.name,
      type: column.type,
      nullable: column.nullable,
      description: column.comment,
      documentation: column.comment,
      xpath: null,
      constraint: '',
      meaning: '',
      enumeration: null,
      saidOfValues: nothingSaid,
      codeLists: [],
    })),
    primaryKey,
    uniqueKeys: [],
    references: [],
  };
}
