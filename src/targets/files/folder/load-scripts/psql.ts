/** `load.sql`: makes the tables of a folder and fills them, run inside the folder, with PostgreSQL's psql. */
import { ddlInOrder } from '../../../../engine/sql/ddl.ts';
import { standardLiteral, type Dialect } from '../../../../engine/sql/dialect.ts';
import { physicalName } from '../../../../engine/sql/physical-names.ts';
import { postgresql } from '../../../../engine/sql/dialects/postgresql.ts';
import { lazyArray, memberOf, passed } from '../../../../engine/model/packed/lazy-array.ts';
import { tableIndexes } from '../../../../engine/model/packed/table-names.ts';
import { withOtherColumns, withOtherParts } from '../../../../engine/model/packed/models.ts';
import {
  mostDecimalDigits,
  type Column,
  type ColumnType,
  type RelationalModel,
  type Table,
} from '../../../../engine/model/relational-model.ts';
import { codesTable, sideTableNames } from '../../../../engine/model/side-tables.ts';
import type { TargetManifest, ManifestTable } from '../contents/manifest.ts';
import { tableColumns } from '../contents/table-columns.ts';

/** A command of psql is one line, and ends where a name has a line end: such a name gets another one, as those that are too long do. */
const psql: Dialect = { ...postgresql, refusedCharacters: /[\0\r\n]/u };

/** `copied`: the format of the files, as `\\copy` reads them; null: JSON Lines. */
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

/** A script of these paragraphs, in pieces: that of thousands of tables is not held. */
export function* script(paragraphs: Iterable<string>): Iterable<string> {
  let isFirst = true;
  for (const paragraph of paragraphs) {
    if (paragraph === '') continue;
    if (!isFirst) yield '\n\n';
    isFirst = false;
    yield paragraph;
  }
  yield '\n';
}

/** Tables of the model, and those beside the data. */
export function loadedTables(model: RelationalModel, manifest: TargetManifest): ManifestTable[] {
  const own = ownNames(model);
  return manifest.tables.filter((table) => own.has(table.name));
}

/** A job kept codes in a table of the folder. */
export function hasCodes({ codes }: TargetManifest): boolean {
  return codes !== undefined;
}

/** Indexes of the model's tables that have a file: those with rows, and all where every table was asked for. */
export function tablesOfFolder(model: RelationalModel, manifest: TargetManifest): ReadonlySet<number> {
  const filled = new Set(manifest.tables.map(({ name }) => name));
  return new Set([...tableIndexes(model)].flatMap(([name, at]) => (filled.has(name) ? [at] : [])));
}

export function notLoaded(model: RelationalModel, manifest: TargetManifest): string[] {
  const own = ownNames(model);
  return manifest.tables
    .filter((table) => !own.has(table.name))
    .map((table) => `-- Not of this schema, so not loaded: ${table.name.replaceAll(/\s+/g, ' ')}`);
}

function ownNames(model: RelationalModel): ReadonlySet<string> {
  return new Set([...tableIndexes(model).keys(), ...Object.values(sideTableNames), codesTable.name]);
}

/** With the types and NOT NULLs that the rows of the folder allow. */
export function adaptedModel(
  model: RelationalModel,
  manifest: TargetManifest,
  typeOf: (column: Column, table: ManifestTable) => Column['type'] = (column) => column.type,
): RelationalModel {
  const byName = new Map(manifest.tables.map((table) => [table.name, table]));
  const make = (at: number): Table => {
    const known = byName.get(memberOf(model.tables, at, 'name'));
    if (known === undefined) return model.tables[at]!;
    const table = passed(model.tables, at);
    const adapted = withOtherColumns(table, (columns) => {
      const written = writtenColumns(known);
      return [
        ...columns.map((column): Column => {
          const { name } = column;
          const type = widenedType(known, name) ?? typeOf(column, known);
          // files that another logical schema wrote may not have the column
          const isLacking = written.some((names) => !names.has(name));
          const nullable = column.nullable || isLacking || known.nullable_columns.includes(name);
          return type === column.type && nullable === column.nullable
            ? column
            : { ...column, type, nullable };
        }),
        ...columnsOfOthers(columns, written),
      ];
    });
    // natural keys are wanted, not demanded
    return Object.defineProperty(adapted, 'uniqueKeys', { value: [], enumerable: true });
  };
  const tables = lazyArray(model.tables.length, make, (at, key) =>
    key === 'name' ? memberOf(model.tables, at, key) : make(at)[key as keyof Table],
  );
  return withOtherParts(model, { tables });
}

function widenedType(table: ManifestTable, name: string): ColumnType | null {
  if (table.text_columns.includes(name)) return { kind: 'text' };
  if (table.decimal_columns?.includes(name) === true)
    return { kind: 'numeric', precision: mostDecimalDigits, scale: 0 };
  const digits = table.decimal_digits?.[name];
  return digits === undefined
    ? null
    : { kind: 'numeric', precision: digits[0] + digits[1], scale: digits[1] };
}

/** The columns of each file that has rows. */
function writtenColumns({ files }: ManifestTable): ReadonlySet<string>[] {
  return files.flatMap(({ rows, columns }) => (rows > 0 ? [new Set(columns)] : []));
}

/** What another logical schema wrote into the table, and this one does not know: as text, which holds it all. */
function columnsOfOthers(own: readonly Column[], written: readonly ReadonlySet<string>[]): Column[] {
  const known = new Set(own.map(({ name }) => name));
  const others = new Set(written.flatMap((names) => [...names].filter((name) => !known.has(name))));
  return [...others].map((name) => ({
    name,
    role: 'value',
    type: { kind: 'text' },
    nullable: true,
    xpath: null,
    path: name,
    sourceType: null,
    references: null,
  }));
}

/** One line each, as psql wants them. */
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

export function ledger(
  manifest: TargetManifest,
  dialect: Dialect,
  momentOf: (text: string) => string = standardLiteral,
): string {
  const jobs = manifest.jobs.map(
    (job) =>
      `(${standardLiteral(job.job_uuid)}, ${job.job}, ${standardLiteral(job.installation)}, ${job.id_sch ?? 'NULL'}, ${job.id_lschma ?? 'NULL'}, ${job.model_sha256 === null ? 'NULL' : standardLiteral(job.model_sha256)}, ${momentOf(job.published_at)}, ${job.documents}, ${job.rows})`,
  );
  const keys = Object.entries(manifest.keys).map(
    ([table, key]) => `(${standardLiteral(physicalName(dialect, table))}, ${key})`,
  );
  return [
    jobs.length === 0
      ? ''
      : `INSERT INTO ${dialect.quote(sideTableNames.loads)} VALUES\n  ${jobs.join(',\n  ')};`,
    keys.length === 0
      ? ''
      : `INSERT INTO ${dialect.quote(sideTableNames.keys)} VALUES\n  ${keys.join(',\n  ')};`,
  ]
    .filter((statement) => statement !== '')
    .join('\n');
}

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
