/** What those who judge a model count: keys, indexes, names, and columns that documents leave empty. */
import { buildRelationalModel } from '../../../src/engine/map/build-model.ts';
import { byteLength } from '../../../src/engine/map/names/identifiers.ts';
import { pruneSourceModel } from '../../../src/engine/map/prune.ts';
import type { MapLevel, RelationalModel } from '../../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../../src/engine/model/source-model.ts';
import { postgresql } from '../../../src/engine/sql/dialects/postgresql.ts';
import { keyIndexes } from '../../../src/engine/sql/ddl.ts';
import { physicalTables } from '../../../src/engine/sql/physical-model.ts';
import { parseXmlTree } from '../../../src/engine/xml/tree.ts';
import { shred, statisticsOf } from './shredding.ts';

export interface ModelFigures {
  readonly tables: number;
  readonly columns: number;
  readonly foreignKeys: number;
  /** rows of which do not name their document */
  readonly tablesWithoutDocument: readonly string[];
  readonly tablesWithoutRows: readonly string[];
  /** foreign keys that no index begins with, with the indexes of a load that does not choose */
  readonly keysWithoutIndex: readonly string[];
  readonly hashedNames: readonly string[];
  readonly presenceColumns: readonly string[];
  readonly emptyColumns: readonly string[];
  /** of more than 40 bytes */
  readonly longNames: readonly string[];
  /** keys of parents in one table, where these are most */
  readonly maxParentKeys: { readonly table: string; readonly count: number };
}

/** The model of an XSD that was pruned by what these documents hold (`--prune`). */
export function prunedModel(
  source: SourceModel,
  mapLevel: MapLevel,
  documents: readonly Uint8Array[],
): RelationalModel {
  const statistics = statisticsOf(documents);
  const roots = [
    ...new Map(
      documents.map((document) => {
        const { name } = parseXmlTree(document, {});
        return [`${name.namespaceUri} ${name.localName}`, name];
      }),
    ).values(),
  ];
  return buildRelationalModel(pruneSourceModel(source, statistics), {
    mapLevel,
    roots,
    met: { statistics, declared: source },
  });
}

export function modelFigures(model: RelationalModel, documents: readonly Uint8Array[]): ModelFigures {
  const { rows } = shred(model, documents);
  const columns = model.tables.flatMap((table) =>
    table.columns.map((column) => ({ table, column, name: `${table.name}.${column.name}` })),
  );
  const named = [
    ...model.tables.map(({ name }) => ({ name, said: name })),
    ...columns.map(({ column, name }) => ({ name, said: column.name })),
  ];
  const physical = physicalTables(model, postgresql);
  const parentKeys = model.tables.map((table) => ({
    table: table.name,
    count: table.columns.filter(({ role }) => role === 'parent_key').length,
  }));
  return {
    tables: model.tables.length,
    columns: columns.length,
    foreignKeys: physical.reduce((sum, { foreignKeys }) => sum + foreignKeys.length, 0),
    tablesWithoutDocument: model.tables
      .filter((table) => table.continues === undefined)
      .filter((table) => !table.columns.some(({ role, nullable }) => role === 'document' && !nullable))
      .map(({ name }) => name),
    tablesWithoutRows: model.tables.map(({ name }) => name).filter((name) => rows[name] === undefined),
    keysWithoutIndex: physical.flatMap((table, at) => {
      const indexed = new Set([
        ...keyIndexes(model, at, table, 'keys').map(({ column }) => column),
        ...[table.primaryKey, ...table.uniqueKeys.map((key) => key.columns)].map(([first]) => first),
      ]);
      return table.foreignKeys
        .filter(({ column }) => !indexed.has(column))
        .map(({ column }) => `${table.name}.${column}`);
    }),
    hashedNames: named.filter(({ said }) => isHashed(said)).map(({ name }) => name),
    presenceColumns: columns.filter(({ column }) => column.role === 'presence').map(({ name }) => name),
    emptyColumns: columns
      .filter(({ table, column }) => (rows[table.name] ?? []).every((row) => row[column.name] === null))
      .map(({ name }) => name),
    longNames: named.filter(({ said }) => byteLength(said) > 40).map(({ name }) => name),
    maxParentKeys: parentKeys.reduce((most, one) => (one.count > most.count ? one : most), {
      table: '',
      count: 0,
    }),
  };
}

/** As names are closed that fit in no other way: eight hexadecimal digits, and no number or word. */
function isHashed(name: string): boolean {
  const digits = /_([0-9a-f]{8})(?:_[a-z]+)?$/.exec(name)?.[1];
  return digits !== undefined && /\d/.test(digits) && /[a-f]/.test(digits);
}
