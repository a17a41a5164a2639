/** How psql takes in JSON Lines: each line as one value of type json, then its members as columns. */
import { standardLiteral } from '../../../../engine/sql/dialect.ts';
import { physicalName } from '../../../../engine/sql/physical-names.ts';
import { postgresql } from '../../../../engine/sql/dialects/postgresql.ts';
import type { RelationalModel } from '../../../../engine/model/relational-model.ts';
import { tableColumns } from '../contents/table-columns.ts';
import type { ManifestTable } from '../contents/manifest.ts';

const staged = '_svc_lines';
const line = `${staged}.line`;

export function jsonLinesCommands(model: RelationalModel, tables: readonly ManifestTable[]): string {
  const commands = tables.flatMap((table) =>
    table.files
      .filter((file) => file.rows > 0)
      .flatMap((file) => [
        // characters that JSON never has unescaped, so that a line is one field, as it is
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
    // a name that PostgreSQL cannot have in full is another one there
    if (physical[at] === column) return `r.${names[at]!}`;
    return `(json_populate_record(${row}, json_build_object(${standardLiteral(physical[at]!)}, ${line} -> ${member}))).${names[at]!}`;
  });
  return `INSERT INTO ${name} (${names.join(', ')})
SELECT ${values.join(', ')}
FROM pg_temp.${staged} CROSS JOIN LATERAL json_populate_record(${row}, ${line}) r;`;
}

/** A row of that table, as a type: by name, a table that is called as a built-in type is (line, point, path) would be that type. */
function emptyRow(table: string, columns: readonly string[]): string {
  // a column of that name would be taken for the row
  let alias = 'one';
  while (columns.includes(alias)) alias += '_';
  return `(SELECT ${alias} FROM ${table} ${alias} WHERE false)`;
}
