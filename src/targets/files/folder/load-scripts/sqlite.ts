/**
 * `load.sqlite.sql` of a folder of JSON Lines: makes the tables in SQLite and fills them. SQLite has no arrays, so the items of
 * lists go to tables of their own (`src/engine/sql/list-tables.ts`). It is this format's alone: SQLite reads JSON itself, with the
 * digits that numbers were written with, while its reader of CSV knows no NULL.
 */
import { ddlInOrder } from '../../../../engine/sql/ddl.ts';
import { standardLiteral } from '../../../../engine/sql/dialect.ts';
import { withListTables, type ListTable } from '../../../../engine/sql/list-tables.ts';
import { memberName } from '../../../../engine/shred/json-lines/members.ts';
import { physicalName } from '../../../../engine/sql/physical-names.ts';
import { sqlite } from '../../../../engine/sql/dialects/sqlite.ts';
import type { ColumnType, RelationalModel, Table } from '../../../../engine/model/relational-model.ts';
import { tableColumns } from '../contents/table-columns.ts';
import { adaptedModel, hasCodes, ledger, loadedTables, notLoaded, script, tablesOfFolder } from './psql.ts';
import { type TargetManifest, type ManifestTable } from '../contents/manifest.ts';

const lines = '_svc_lines';

/** Dot commands among it: for the shell `sqlite3` (3.38 or later). */
/** `name`: of the script. */
export function sqliteLoad(model: RelationalModel, manifest: TargetManifest, name: string): Iterable<string> {
  return script(loadParagraphs(model, manifest, name));
}

function* loadParagraphs(
  model: RelationalModel,
  manifest: TargetManifest,
  scriptName: string,
): Iterable<string> {
  const adapted = adaptedModel(model, manifest);
  const { model: drawn, lists } = withListTables(adapted, sqlite);
  yield `-- Makes the tables of this folder and fills them: sqlite3 FILE '.read ${scriptName}', run inside the folder.`;
  yield* notLoaded(model, manifest);
  // rows come table by table, and keys lead both ways
  yield `.bail on\nPRAGMA foreign_keys = OFF;\nBEGIN;`;
  const after = yield* ddlInOrder(adapted, sqlite, {
    ifNotExists: true,
    tables: tablesOfFolder(adapted, manifest),
    hasCodes: hasCodes(manifest),
  });
  // characters that JSON never has unescaped, so that a line is one field, as it is
  yield `CREATE TEMPORARY TABLE ${lines} (line TEXT);\n.mode ascii\n.separator "\\037" "\\n"`;
  yield loadedTables(model, manifest)
    .flatMap((table) => {
      const owner = drawn.tables.findIndex(({ name }) => name === table.name);
      const own = lists.filter((list) => list.owner === owner);
      return tableCommands(table, tableColumns(adapted, table.name), (column) => {
        const found = own.find((list) => adapted.tables[owner]!.columns[list.column]!.name === column);
        return found === undefined ? null : listOf(drawn, found);
      });
    })
    .join('\n');
  yield `DROP TABLE ${lines};`;
  yield ledger(manifest, sqlite);
  yield* after;
  yield 'COMMIT;';
}

interface LoadedList {
  readonly countColumn: string;
  /** columns: row key, parent key, position, item */
  readonly table: Table;
}

function listOf({ tables }: RelationalModel, { owner, column, table }: ListTable): LoadedList {
  return { countColumn: tables[owner]!.columns[column]!.name, table: tables[table!]! };
}

function tableCommands(
  table: ManifestTable,
  columns: readonly { readonly name: string; readonly type: ColumnType }[],
  listColumn: (name: string) => LoadedList | null,
): string[] {
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  return table.files
    .filter((file) => file.rows > 0)
    .flatMap((file) => {
      const lists = file.columns.flatMap((column) => {
        const list = listColumn(column);
        return list === null ? [] : [{ column, list }];
      });
      const names = file.columns.map((column) => quoted(listColumn(column)?.countColumn ?? column));
      const values = file.columns.map((column) =>
        listColumn(column) === null
          ? scalar(column, types.get(column)!)
          : `CASE json_type(line, ${path(column)}) WHEN 'array' THEN json_array_length(line, ${path(column)}) END`,
      );
      return [
        // a name that starts with `|` would be a program to run
        `.import ${JSON.stringify(`./${file.name}`)} ${lines}`,
        `INSERT INTO ${quoted(table.name)} (${names.join(', ')})\nSELECT ${values.join(', ')}\nFROM ${lines};`,
        ...lists.map(({ column, list }) => items(column, list, file.columns[0]!)),
        `DELETE FROM ${lines};`,
      ];
    });
}

/** Numbers with their digits; in a column that became text, what JSON calls true is the text, and an array its items. */
function scalar(column: string, { kind }: ColumnType): string {
  const at = path(column);
  const text =
    kind === 'text'
      ? ` WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' WHEN 'array' THEN (SELECT coalesce(group_concat(${item(column)}, ' '), '') FROM json_each(line, ${at}) j)`
      : '';
  return `CASE json_type(line, ${at}) WHEN 'integer' THEN line -> ${at} WHEN 'real' THEN line -> ${at}${text} ELSE line ->> ${at} END`;
}

/** The item as the column's value, in the array that `json_each` goes through as `j`. */
function item(column: string): string {
  return `CASE WHEN j.type IN ('integer', 'real') THEN line -> (${path(column)} || '[' || j.key || ']') ELSE j.value END`;
}

/** Keys go on where those of the table end. */
function items(column: string, { table }: LoadedList, rowKey: string): string {
  const name = quoted(table.name);
  const [key, ...others] = table.columns.map((one) => quoted(one.name));
  return `INSERT INTO ${name} (${[key, ...others].join(', ')})
SELECT (SELECT coalesce(max(${key}), 0) FROM ${name}) + row_number() OVER (ORDER BY l.rowid, j.key), line -> ${path(rowKey)}, j.key + 1, ${item(column)}
FROM ${lines} l, json_each(line, ${path(column)}) j
WHERE json_type(line, ${path(column)}) = 'array';`;
}

/** SQLite compares a member's name as JSON writes it. */
function path(column: string): string {
  return standardLiteral(`$.${memberName(column)}`);
}

function quoted(name: string): string {
  return sqlite.quote(physicalName(sqlite, name));
}
