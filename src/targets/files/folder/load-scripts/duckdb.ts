/** Renders `load.sql` of a folder of Parquet for DuckDB, which reads the files directly. */
import { duckdb } from '../../../../engine/sql/dialects/duckdb.ts';
import { peekElement } from '../../../../engine/model/packed/reader.ts';
import { physicalTables, physicalName } from '../../../../engine/sql/physical-model.ts';
import type { RelationalModel } from '../../../../engine/model/relational-model.ts';
import { codesTable, sideTableDefinitions } from '../../../../engine/model/side-tables.ts';
import { pathLiteral } from '../../../sql/duckdb/database.ts';
import { sideTable } from '../../../../engine/sql/ddl.ts';
import { tableStatements, columnSqlType, converted } from '../../../sql/duckdb/types.ts';
import { tableColumns } from '../table-columns.ts';
import {
  adaptedModel,
  hasCodes,
  ledger,
  loadedTables,
  notLoaded,
  script,
  tablesOfFolder,
  decimalOfFiles,
} from './folder-tables.ts';
import type { TargetManifest, ManifestTable } from '../manifest.ts';

export function parquetScript(model: RelationalModel, manifest: TargetManifest): Iterable<string> {
  return script(loadParagraphs(model, manifest));
}

function* loadParagraphs(model: RelationalModel, manifest: TargetManifest): Iterable<string> {
  const adapted = adaptedModel(model, manifest, ({ name, type }, table) => decimalOfFiles(name, type, table));
  yield '-- Makes the tables of this folder and fills them: duckdb -f load.sql FILE, run inside the folder.';
  yield* notLoaded(model, manifest);
  yield "SET TimeZone = 'UTC';\nBEGIN;";
  const beside = [...Object.values(sideTableDefinitions), ...(hasCodes(manifest) ? [codesTable] : [])];
  for (const definition of beside)
    for (const statement of sideTable(duckdb, definition, { ifNotExists: true })) yield `${statement};`;
  const physical = physicalTables(adapted, duckdb);
  for (const index of tablesOfFolder(model, manifest)) {
    const table = peekElement(physical, index);
    for (const statement of tableStatements(table, table.columns, true)) yield `${statement};`;
  }
  yield loadedTables(model, manifest)
    .flatMap((table) => insertStatements(adapted, table))
    .join('\n');
  yield ledger(manifest, duckdb);
  yield 'COMMIT;';
}

function insertStatements(adapted: RelationalModel, table: ManifestTable): string[] {
  const name = duckdb.quote(physicalName(duckdb, table.name));
  const wanted = new Map(
    tableColumns(adapted, table.name).map((column) => [column.name, columnSqlType(column.type)]),
  );
  return table.files
    .filter((file) => file.rows > 0)
    .map((file) => {
      const columns = file.columns.map((column) => duckdb.quote(physicalName(duckdb, column))).join(', ');
      const values = file.columns.map((column, at) => {
        const [from, to] = [file.types![at]!, wanted.get(column)!];
        return from === to ? duckdb.quote(column) : converted(duckdb.quote(column), from, to);
      });
      return `INSERT INTO ${name} (${columns}) SELECT ${values.join(', ')} FROM read_parquet(${pathLiteral(file.name)});`;
    });
}
