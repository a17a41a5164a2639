/**
 * Renders `load.mysql.sql` of a folder of TSV: makes the tables in MySQL or MariaDB and fills them. Only this format has the script: `LOAD
 * DATA` reads COPY text directly, with `\N` and escapes, but its CSV reader has no NULL, and MySQL's JSON reader rounds decimals.
 */
import { commentLine } from '../../../../engine/sql/comment-text.ts';
import { ddlInOrder, inlineCommentLimit } from '../../../../engine/sql/ddl.ts';
import { withListTables } from '../../../../engine/sql/list-tables.ts';
import { mysql, convertedText as converted, doubleForReal } from '../../../../engine/sql/dialects/mysql.ts';
import { physicalTables } from '../../../../engine/sql/physical-model.ts';
import { peekElement } from '../../../../engine/model/packed/reader.ts';
import { withColumns } from '../../../../engine/model/packed/models.ts';
import type { Column, RelationalModel } from '../../../../engine/model/relational-model.ts';
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

const staged = '`_svc_items`';
const format = String.raw`CHARACTER SET utf8mb4 FIELDS TERMINATED BY '\t' ESCAPED BY '\\' LINES TERMINATED BY '\n' IGNORE 1 LINES`;

/** The check of values. With LOCAL, MySQL only warns of a value that does not fit, and loses it; the check stops the script instead. */
const check =
  'SHOW WARNINGS LIMIT 5;\nSET @svc_warnings = @@warning_count;\nSET @svc_refused_for_warnings = IF(@svc_warnings = 0, 0, (SELECT 1 UNION ALL SELECT 2));';

/** `name`: the script's name. */
export function mysqlLoad(model: RelationalModel, manifest: TargetManifest, name: string): Iterable<string> {
  return script(loadParagraphs(model, manifest, name));
}

function* loadParagraphs(
  model: RelationalModel,
  manifest: TargetManifest,
  scriptName: string,
): Iterable<string> {
  const typed = adaptedModel(model, manifest);
  const tables = tablesOfFolder(typed, manifest);
  const adapted = withColumns(typed, doubleForReal, tables);
  const { model: drawn, lists } = withListTables(adapted, mysql);
  const physical = physicalTables(drawn, mysql, adapted);
  yield `-- Makes the tables of this folder and fills them: mysql --local-infile=1 DATABASE < ${scriptName}, run inside the folder.\n-- Instants are kept in UTC. A column of numbers that MySQL cannot hold (NaN, infinities, more than 35 digits before the point) stays text.`;
  yield* notLoaded(model, manifest);
  yield "SET NAMES utf8mb4;\nSET SESSION sql_mode = 'STRICT_ALL_TABLES';\nSET FOREIGN_KEY_CHECKS = 0;";
  const after = yield* ddlInOrder(withColumns(adapted, asTextForNumbers, tables), mysql, {
    ifNotExists: true,
    foreignKeysLast: true,
    tables,
    hasCodes: hasCodes(manifest),
  });
  yield `CREATE TEMPORARY TABLE ${staged} (row_key BIGINT NOT NULL, items LONGTEXT) DEFAULT CHARACTER SET utf8mb4;\nSTART TRANSACTION;`;
  const fileOf = filesOf(adapted, mysql, { model: drawn, lists }, physical);
  yield loadedTables(model, manifest)
    .flatMap((table) =>
      table.files
        .filter(({ rows }) => rows > 0)
        .map((file, at) => fileOf(table, file, at))
        .flatMap((file) => [load(file), check, ...file.columns.flatMap((column) => items(file, column))]),
    )
    .join('\n');
  yield ledger(manifest, mysql, (moment) => mysql.literal(moment.replace(/Z$/, '')));
  yield 'COMMIT;';
  for (const at of tables) yield numbers(adapted, drawn, peekElement(physical, at), at);
  yield 'SET FOREIGN_KEY_CHECKS = 1;';
  yield* after;
}

/** Returns a pattern of the values that the column's own type can hold; null if it can hold them all. */
function heldBy({ role, type }: Column): string | null {
  if (role !== 'value') return null;
  if (type.kind === 'double') return '^[^INn]*$';
  const isUnbounded = type.kind === 'numeric' && type.precision === undefined;
  return isUnbounded ? '^[+-]?[0-9]{0,35}([.][0-9]{0,30})?$' : null;
}

/** Returns the column as text if it may have unbounded decimals, NaN or infinities: its type is chosen once the values are loaded. */
function asTextForNumbers(column: Column): Column {
  if (heldBy(column) === null) return column;
  return { ...column, type: { kind: 'text', ...(column.type.list === true ? { list: true } : {}) } };
}

function load({ table, file, columns }: FileLoad): string {
  const targets: string[] = [];
  const sets: string[] = [];
  for (const [at, { target, type, list }] of columns.entries()) {
    const variable = `@v${at + 1}`;
    const value = list === null ? converted(type, variable) : counted(variable);
    targets.push(value === variable ? target : variable);
    if (value !== variable) sets.push(`${target} = ${value}`);
  }
  const set = sets.length === 0 ? '' : `\nSET ${sets.join(',\n  ')}`;
  return `LOAD DATA LOCAL INFILE ${path(file)} INTO TABLE ${table} ${format}\n(${targets.join(', ')})${set};`;
}

/** Loads the file again for its row keys and one list; keys of items continue after the highest key of the table. */
function items({ file, columns }: FileLoad, { source, type, list }: LoadedColumn): string[] {
  if (list === null || list.items === null) return [];
  const { table } = list.items;
  const [key] = list.items.columns;
  const targets = columns.map((column, at) =>
    at === 0 ? 'row_key' : column.source === source ? '@list' : '@other',
  );
  const { list: _, ...itemType } = type;
  return [
    `LOAD DATA LOCAL INFILE ${path(file)} INTO TABLE ${staged} ${format}\n(${targets.join(', ')})\nSET items = ${jsonOf('@list')};`,
    check,
    `INSERT INTO ${table} (${list.items.columns.join(', ')})
SELECT (SELECT COALESCE(MAX(${key}), 0) FROM ${table}) + ROW_NUMBER() OVER (ORDER BY s.row_key, j.place), s.row_key, j.place, ${converted(itemType, 'j.item')}
FROM ${staged} s, JSON_TABLE(s.items, '$[*]' COLUMNS (place FOR ORDINALITY, item LONGTEXT CHARACTER SET utf8mb4 PATH '$')) j;`,
    check,
    `DELETE FROM ${staged};`,
  ];
}

/** Returns an array literal, `{1,2}` or `{"a b","c"}`, as JSON, whose escapes are the same. */
function jsonOf(literal: string): string {
  const inner = `SUBSTRING(${literal}, 2, CHAR_LENGTH(${literal}) - 2)`;
  return `CASE WHEN ${literal} = '{}' THEN '[]' WHEN LEFT(${literal}, 2) = '{"' THEN CONCAT('[', ${inner}, ']') ELSE CONCAT('["', REPLACE(${inner}, ',', '","'), '"]') END`;
}

function counted(literal: string): string {
  return `IF(${literal} IS NULL, NULL, JSON_LENGTH(${jsonOf(literal)}))`;
}

/** Converts text columns to numbers if all values of the column fit; otherwise the values stay text with their digits. */
function numbers(
  adapted: RelationalModel,
  drawn: RelationalModel,
  physical: ReturnType<typeof physicalTables>[number],
  index: number,
): string {
  const { columns } = drawn.tables[index]!;
  const others = adapted.tables[index]!.columns;
  const numbers = columns.flatMap((column, at) => {
    const held = heldBy(column);
    return held === null || others[at]!.type.list === true ? [] : [{ at, held }];
  });
  if (numbers.length === 0) return '';
  const limit = mysql.comments.kind === 'inline' ? inlineCommentLimit(mysql.comments, physical) : null;
  const clauses = numbers.map(({ at, held }) => {
    const { name, sqlType, nullable, comment } = physical.columns[at]!;
    const inlineComment =
      mysql.comments.kind === 'inline' ? ` ${mysql.comments.column(commentLine(comment, limit))}` : '';
    const clause = `MODIFY ${mysql.quote(name)} ${sqlType}${nullable ? '' : ' NOT NULL'}${inlineComment}`;
    const fits = `COALESCE(SUM(${mysql.quote(name)} NOT REGEXP '${held}'), 0) = 0`;
    return `IF(${fits}, ${mysql.literal(clause)}, NULL)`;
  });
  const table = mysql.quote(physical.name);
  return `SET @svc_clauses = (SELECT CONCAT_WS(', ', ${clauses.join(',\n  ')}) FROM ${table});
SET @svc_alter = IF(@svc_clauses = '', 'DO 0', CONCAT(${mysql.literal(`ALTER TABLE ${table} `)}, @svc_clauses));
PREPARE svc_alter FROM @svc_alter;
EXECUTE svc_alter;
DEALLOCATE PREPARE svc_alter;`;
}

function path(file: string): string {
  return mysql.literal(`./${file}`);
}
