/**
 * Renders `datapackage.json`, which describes the tables of a folder of CSV or TSV files to programs that read Data Packages (Frictionless
 * Data).
 */
import {
  describeSideTable,
  describeTable,
  type DescribedTable,
} from '../../../../engine/metadata/described.ts';
import { dataPackage, type PackagedTable } from '../../../../engine/metadata/frictionless.ts';
import { tableIndexes } from '../../../../engine/model/packed/models.ts';
import type { RelationalModel } from '../../../../engine/model/relational-model.ts';
import { codesTable, sideTableDefinitions } from '../../../../engine/model/side-tables.ts';
import { placesOfRows } from '../../../../engine/sql/places-of-rows.ts';
import { adaptedModel } from './folder-tables.ts';
import type { ManifestTable, TargetManifest } from '../manifest.ts';

/**
 * Renders `datapackage.json` in pieces. `model`: that of the newest job; for tables of other models only the names of columns are known.
 */
export function renderDataPackage(
  model: RelationalModel,
  manifest: TargetManifest,
  format: 'csv' | 'tsv',
): Iterable<string> {
  const adapted = adaptedModel(model, manifest);
  const indexOf = tableIndexes(model);
  const places = placesOfRows(adapted);
  const tables = manifest.tables.flatMap((table): PackagedTable[] => {
    const { name } = table;
    const index = indexOf.get(name);
    const describe = (): DescribedTable =>
      index === undefined ? describeOther(table) : describeTable(adapted, index, places);
    // files of one table may have other columns than files of earlier jobs
    return [...Map.groupBy(table.files, ({ columns }) => JSON.stringify(columns)).values()].map((files) => ({
      name,
      describe: () => withColumns(describe(), files[0]!.columns),
      files: files.map(({ name, bytes, sha256 }) => ({ path: name, bytes, sha256 })),
    }));
  });
  return dataPackage({ name: 'tables', title: 'Tables of documents', format }, tables);
}

function describeOther(table: ManifestTable): DescribedTable {
  const side = [...Object.values(sideTableDefinitions), codesTable].find(({ name }) => name === table.name);
  if (side !== undefined) return describeSideTable(side);
  return {
    name: table.name,
    xpath: null,
    description: '',
    documentation: '',
    columns: [],
    primaryKey: [],
    uniqueKeys: [],
    references: [],
  };
}

/** Replaces the columns by those of the file, in its order. For a column that the model does not know, only the name is known. */
function withColumns(table: DescribedTable, names: readonly string[]): DescribedTable {
  const known = new Map(table.columns.map((column) => [column.name, column]));
  return {
    ...table,
    columns: names.map(
      (name) =>
        known.get(name) ?? {
          name,
          type: { kind: 'text' },
          nullable: true,
          description: '',
          documentation: '',
          xpath: null,
          constraint: '',
          meaning: '',
          enumeration: null,
          saidOfValues: new Map(),
          codeLists: [],
        },
    ),
    references: table.references.filter(({ column }) => names.includes(column)),
  };
}
