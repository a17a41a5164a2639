/** Models of any number of tables, for what has to be measured without documents. */
import type { MappingEntry, RelationalModel, Table } from '../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../src/engine/model/source-model.ts';

/** A source model that nothing is read with. */
export const wideSource: SourceModel = {
  elements: [],
  types: [],
  roots: [],
  primaryRoots: 0,
  targetNamespace: null,
  namespaces: {},
};

/** `tables` tables of `columns` text columns each, every column with its mapping. */
export function wideModel(tables: number, columns: number): RelationalModel {
  const made = Array.from({ length: tables }, (_, t): Table => {
    const xpath = `/records/group${t % 50}/record${t}`;
    return {
      name: `record_${t}`,
      kind: 'element',
      xpath,
      path: xpath,
      columns: Array.from({ length: columns }, (_unused, c) => ({
        name: `value_${c}`,
        role: 'value' as const,
        type: { kind: 'text' as const },
        nullable: true,
        xpath: `${xpath}/value${c}`,
        path: `${xpath}/value${c}`,
        sourceType: 'string' as const,
        references: null,
      })),
      uniqueKeys: [],
    };
  });
  const mappings = made.flatMap((table, t) =>
    table.columns.map((column, c): MappingEntry => ({
      xpath: column.xpath,
      nodeType: 'element',
      sourceType: 'xs:string',
      minOccurs: 0,
      maxOccurs: 1,
      table: t,
      column: c,
    })),
  );
  return { mapLevel: 3, nameMaxLength: 63, tables: made, nodes: [], roots: [], mappings, namespaces: {} };
}
