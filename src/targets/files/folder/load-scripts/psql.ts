/** Renders `load.sql`, which makes the tables of a folder and fills them. It is run inside the folder with PostgreSQL's psql. */
import {
  adaptedModel,
  hasCodes,
  ledger,
  loadedTables,
  notLoaded,
  script,
  tablesOfFolder,
} from './folder-tables.ts';
import { ddlInOrder } from '../../../../engine/sql/ddl.ts';
import { standardLiteral, type Dialect } from '../../../../engine/sql/dialect.ts';
import { physicalName } from '../../../../engine/sql/physical-model.ts';
import { postgresql } from '../../../../engine/sql/dialects/postgresql.ts';
import type { RelationalModel } from '../../../../engine/model/relational-model.ts';
import type { TargetManifest, ManifestTable } from '../manifest.ts';
import { tableColumns } from '../table-columns.ts';

/** A psql command is one line, so it cannot contain a name with a line end. Such a name is replaced, as names are that are too long. */
const psql: Dialect = { ...postgresql, refusedCharacters: /[\0\r\n]/u };

/** `copied`: the format of the files that `\\copy` reads; null: JSON Lines. */
export function loadScript(
  model: RelationalModel,
  manifest: TargetManifest,
  copied: 'csv' | 'text' | null,
): Iterable<string> {
  return script(loadParagraphs(model, manifest, copied));
}

function* loadParagraphs(
  model: RelationalModel,
  manifest: TargetManifest,
  copied: 'csv' | 'text' | null,
): Iterable<string> {
  const adapted = adaptedModel(model, manifest);
  const dialect = copied === null ? postgresql : psql;
  const tables = loadedTables(model, manifest);
  yield '-- Makes the tables of this folder and fills them: psql -f load.sql DATABASE, run inside the folder.';
  yield* notLoaded(model, manifest);
  yield '\\set ON_ERROR_STOP on\nBEGIN;';
  const after = yield* ddlInOrder(adapted, dialect, {
    ifNotExists: true,
    foreignKeysLast: true,
    tables: tablesOfFolder(adapted, manifest),
    hasCodes: hasCodes(manifest),
  });
  yield copied === null
    ? jsonLinesCommands(model, tables)
    : tables.flatMap((table) => copyCommands(table, copied)).join('\n');
  yield ledger(manifest, dialect);
  yield* after;
  yield 'COMMIT;';
}

/** Returns one line for each command, as psql requires. */
function copyCommands(table: ManifestTable, format: 'csv' | 'text'): string[] {
  const options = `FORMAT ${format}, HEADER true, ENCODING 'UTF8'`;
  return table.files
    .filter((file) => file.rows > 0)
    .map((file) => {
      const columns = file.columns.map((name) => psql.quote(physicalName(psql, name))).join(', ');
      const name = psql.quote(physicalName(psql, table.name));
      return `\\copy ${name} (${columns}) FROM ${standardLiteral(file.name)} WITH (${options})`;
    });
}

const staged = '_svc_lines';
const line = `${staged}.line`;

function jsonLinesCommands(model: RelationalModel, tables: readonly ManifestTable[]): string {
  const commands = tables.flatMap((table) =>
    table.files
      .filter((file) => file.rows > 0)
      .flatMap((file) => [
        // characters that JSON always escapes, so that a line is one field
        `\\copy pg_temp.${staged} FROM ${standardLiteral(file.name)} WITH (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02', ENCODING 'UTF8')`,
        insert(model, table, file.columns),
        `TRUNCATE pg_temp.${staged};`,
      ]),
  );
  if (commands.length === 0) return '';
  return [`CREATE TEMPORARY TABLE ${staged} (line json) ON COMMIT DROP;`, ...commands].join('\n');
}

function insert(model: RelationalModel, table: ManifestTable, columns: readonly string[]): string {
  const name = postgresql.quote(physicalName(postgresql, table.name));
  const types = new Map(tableColumns(model, table.name).map((column) => [column.name, column.type]));
  const physical = columns.map((column) => physicalName(postgresql, column));
  const names = physical.map((column) => postgresql.quote(column));
  const row = emptyRow(name, physical);
  const values = columns.map((column, at) => {
    const member = standardLiteral(column);
    if (types.get(column)?.list && table.text_columns.includes(column)) {
      return `CASE json_typeof(${line} -> ${member}) WHEN 'array' THEN array_to_string(ARRAY(SELECT json_array_elements_text(${line} -> ${member})), ' ') ELSE ${line} ->> ${member} END`;
    }
    // a name that is too long for PostgreSQL is another one there
    if (physical[at] === column) return `r.${names[at]!}`;
    return `(json_populate_record(${row}, json_build_object(${standardLiteral(physical[at]!)}, ${line} -> ${member}))).${names[at]!}`;
  });
  return `INSERT INTO ${name} (${names.join(', ')})
SELECT ${values.join(', ')}
FROM pg_temp.${staged} CROSS JOIN LATERAL json_populate_record(${row}, ${line}) r;`;
}

/**
 * Returns an empty row of the table. Uses no type name, because a table with the name of a built-in type (line, point, path) would be read
 * as that type.
 */
function emptyRow(table: string, columns: readonly string[]): string {
  // a column with the name of the alias would be read instead of the row
  let alias = 'one';
  while (columns.includes(alias)) alias += '_';
  return `(SELECT ${alias} FROM ${table} ${alias} WHERE false)`;
}
