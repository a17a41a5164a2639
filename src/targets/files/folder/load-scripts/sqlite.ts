/**
 * Renders `load.sqlite.sql` of a folder of JSON Lines: makes the tables in SQLite and fills them. SQLite has no arrays, so the items of
 * lists go to tables of their own (`src/engine/sql/list-tables.ts`). Only this format has the script: SQLite reads JSON itself and keeps
 * the digits of numbers, but its CSV reader has no NULL.
 */
import { ddlInOrder } from '../../../../engine/sql/ddl.ts';
import { standardLiteral } from '../../../../engine/sql/dialect.ts';
import { memberName } from '../../../../engine/shred/json-line-members.ts';
import { sqlite } from '../../../../engine/sql/dialects/sqlite.ts';
import type { ColumnType, RelationalModel } from '../../../../engine/model/relational-model.ts';
import {
  adaptedModel,
  hasCodes,
  ledger,
  loadedTables,
  notLoaded,
  script,
  tablesOfFolder,
  filesOf,
  type FileLoad,
  type LoadedColumn,
} from './folder-tables.ts';
import type { TargetManifest } from '../manifest.ts';

const lines = '_svc_lines';

/** Returns the load script. It contains dot commands of the shell `sqlite3` (3.38 or later). `name`: the script's name. */
export function sqliteLoad(model: RelationalModel, manifest: TargetManifest, name: string): Iterable<string> {
  return script(loadParagraphs(model, manifest, name));
}

function* loadParagraphs(
  model: RelationalModel,
  manifest: TargetManifest,
  scriptName: string,
): Iterable<string> {
  const adapted = adaptedModel(model, manifest);
  yield `-- Makes the tables of this folder and fills them: sqlite3 FILE '.read ${scriptName}', run inside the folder.`;
  yield* notLoaded(model, manifest);
  // rows are loaded table by table, and foreign keys refer in both directions
  yield `.bail on\nPRAGMA foreign_keys = OFF;\nBEGIN;`;
  const after = yield* ddlInOrder(adapted, sqlite, {
    ifNotExists: true,
    tables: tablesOfFolder(adapted, manifest),
    hasCodes: hasCodes(manifest),
  });
  // characters that JSON always escapes, so that a line is one field
  yield `CREATE TEMPORARY TABLE ${lines} (line TEXT);\n.mode ascii\n.separator "\\037" "\\n"`;
  const fileOf = filesOf(adapted, sqlite);
  yield loadedTables(model, manifest)
    .flatMap((table) =>
      table.files.filter(({ rows }) => rows > 0).flatMap((file, at) => fileCommands(fileOf(table, file, at))),
    )
    .join('\n');
  yield `DROP TABLE ${lines};`;
  yield ledger(manifest, sqlite);
  yield* after;
  yield 'COMMIT;';
}

function fileCommands({ table, file, columns }: FileLoad): string[] {
  const values = columns.map(({ source, type, list }) =>
    list === null
      ? scalar(source, type)
      : `CASE json_type(line, ${path(source)}) WHEN 'array' THEN json_array_length(line, ${path(source)}) END`,
  );
  return [
    // a name that begins with `|` would be run as a program
    `.import ${JSON.stringify(`./${file}`)} ${lines}`,
    `INSERT INTO ${table} (${columns.map(({ target }) => target).join(', ')})\nSELECT ${values.join(', ')}\nFROM ${lines};`,
    ...columns.flatMap((column) => items(column, columns[0]!.source)),
    `DELETE FROM ${lines};`,
  ];
}

/**
 * Returns the expression of a value. Numbers keep their digits; in a column that became text, JSON's true is the text, and an array its
 * items.
 */
function scalar(column: string, { kind }: ColumnType): string {
  const at = path(column);
  const text =
    kind === 'text'
      ? ` WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' WHEN 'array' THEN (SELECT coalesce(group_concat(${item(column)}, ' '), '') FROM json_each(line, ${at}) j)`
      : '';
  return `CASE json_type(line, ${at}) WHEN 'integer' THEN line -> ${at} WHEN 'real' THEN line -> ${at}${text} ELSE line ->> ${at} END`;
}

/** Returns the item as the column's value, from the array that `json_each` iterates over as `j`. */
function item(column: string): string {
  return `CASE WHEN j.type IN ('integer', 'real') THEN line -> (${path(column)} || '[' || j.key || ']') ELSE j.value END`;
}

/** Loads the items of a list; keys continue after the highest key of the table. */
function items({ source, list }: LoadedColumn, rowKey: string): string[] {
  if (list === null || list.items === null) return [];
  const { table, columns } = list.items;
  return [
    `INSERT INTO ${table} (${columns.join(', ')})
SELECT (SELECT coalesce(max(${columns[0]}), 0) FROM ${table}) + row_number() OVER (ORDER BY l.rowid, j.key), line -> ${path(rowKey)}, j.key + 1, ${item(source)}
FROM ${lines} l, json_each(line, ${path(source)}) j
WHERE json_type(line, ${path(source)}) = 'array';`,
  ];
}

/** Returns the path of a member. SQLite compares its name in JSON's escaped form. */
function path(column: string): string {
  return standardLiteral(`$.${memberName(column)}`);
}
