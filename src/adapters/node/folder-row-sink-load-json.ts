/** How psql takes in JSON Lines: each line as one value of type json, then its members as columns. */
import { standardLiteral } from '../../engine/dialects/dialect.ts';
import { physicalName } from '../../engine/dialects/physical-names.ts';
import { postgresql } from '../../engine/dialects/postgresql.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import { tableColumns } from './folder-row-sink-formats.ts';
import type { ManifestTable } from './folder-row-sink-manifest.ts';

const lines = '_svc_lines';

export function jsonLinesCommands(model: RelationalModel, tables: readonly ManifestTable[]): string {
  const commands = tables.flatMap((table) =>
    table.files
      .filter((file) => file.rows > 0)
      .flatMap((file) => [
        // characters that JSON never has unescaped, so that a line is one field, as it is
        `\\copy ${lines} FROM ${standardLiteral(file.name)} WITH (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02', ENCODING 'UTF8')`,
        insert(model, table, file.columns),
        `TRUNCATE ${lines};`,
      ]),
  );
  if (commands.length === 0) return '';
  return [`CREATE TEMPORARY TABLE ${lines} (line json) ON COMMIT DROP;`, ...commands].join('\n');
}

function insert(model: RelationalModel, table: ManifestTable, columns: readonly string[]): string {
  const name = postgresql.quote(physicalName(postgresql, table.name));
  const types = new Map(tableColumns(model, table.name).map((column) => [column.name, column.type]));
  const names = columns.map((column) => postgresql.quote(physicalName(postgresql, column)));
  const values = columns.map((column, at) => {
    const member = standardLiteral(column);
    if (types.get(column)?.list && table.text_columns.includes(column)) {
      return `CASE json_typeof(line -> ${member}) WHEN 'array' THEN array_to_string(ARRAY(SELECT json_array_elements_text(line -> ${member})), ' ') ELSE line ->> ${member} END`;
    }
    // a name that PostgreSQL cannot have in full is another one there
    if (physicalName(postgresql, column) === column) return `r.${names[at]!}`;
    return `(json_populate_record(NULL::${name}, json_build_object(${standardLiteral(physicalName(postgresql, column))}, line -> ${member}))).${names[at]!}`;
  });
  return `INSERT INTO ${name} (${names.join(', ')})
SELECT ${values.join(', ')}
FROM ${lines} CROSS JOIN LATERAL json_populate_record(NULL::${name}, line) r;`;
}
