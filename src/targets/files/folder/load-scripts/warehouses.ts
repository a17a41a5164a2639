/**
 * Renders `load.snowflake.sql`, `load.bigquery.sql`, `load.redshift.sql` and `load.databricks.sql` of a folder of Parquet in a bucket. Each
 * makes the tables in its warehouse, and fills them directly from the files. Tests parse these scripts in each dialect, but do not run
 * them.
 */
import { ddlInOrder } from '../../../../engine/sql/ddl.ts';
import type { Dialect } from '../../../../engine/sql/dialect.ts';
import { bigquery } from '../../../../engine/sql/dialects/bigquery.ts';
import { databricks } from '../../../../engine/sql/dialects/databricks.ts';
import { redshift } from '../../../../engine/sql/dialects/redshift.ts';
import { snowflake } from '../../../../engine/sql/dialects/snowflake.ts';
import type { RelationalModel, ColumnType } from '../../../../engine/model/relational-model.ts';
import type { TargetManifest } from '../manifest.ts';
import {
  adaptedModel,
  hasCodes,
  ledger,
  loadedTables,
  notLoaded,
  script,
  tablesOfFolder,
  filesOf,
  decimalOfFiles,
  type FileLoad,
  type LoadedColumn,
} from './folder-tables.ts';

interface Warehouse {
  readonly dialect: Dialect;
  /** comment lines, without their dashes: how to run the script, and the placeholders to replace */
  readonly about: readonly string[];
  /** the text before the tables are made */
  readonly begin: (location: string) => string;
  /** the statements around those that fill the tables; '' if there is no transaction */
  readonly transaction: readonly [begin: string, commit: string];
  /** formats the address of the folder for the warehouse */
  readonly address: (location: string) => string;
  readonly load: (file: FileLoad, location: string) => LoadStatements;
}

const warehouses = {
  snowflake: {
    dialect: snowflake,
    about: [
      'snowsql -f load.snowflake.sql, in the database and schema of the session.',
      'STORAGE_INTEGRATION names an integration that may read the bucket: put yours in place of FOLDER_INTEGRATION.',
    ],
    address: snowflakeAddress,
    begin: (location) =>
      `CREATE OR REPLACE TEMPORARY STAGE _svc_folder URL = ${snowflake.literal(`${location}/`)} STORAGE_INTEGRATION = FOLDER_INTEGRATION;`,
    transaction: ['BEGIN;', 'COMMIT;'],
    load: snowflakeLoad,
  },
  bigquery: {
    dialect: bigquery,
    about: [
      'bq query --use_legacy_sql=false --dataset_id=DATASET < load.bigquery.sql',
      'BigQuery reads Google Cloud Storage: where the folder lies elsewhere, copy it there, and put its gs:// address in place of this one.',
    ],
    address: (location) => location.replace(/^s3:/, 'gs:'),
    begin: () => '',
    transaction: ['BEGIN TRANSACTION;', 'COMMIT TRANSACTION;'],
    load: bigqueryLoad,
  },
  redshift: {
    dialect: redshift,
    about: [
      'psql -v ON_ERROR_STOP=1 -f load.redshift.sql DATABASE',
      'IAM_ROLE default is the role of the cluster or workgroup, which must be let read the bucket.',
    ],
    address: (location) => location,
    begin: () => 'BEGIN;',
    transaction: ['', 'COMMIT;'],
    load: redshiftLoad,
  },
  databricks: {
    dialect: databricks,
    about: [
      'In a SQL editor, in the catalogue and schema of the session, which must be let read the bucket (an external location).',
      'COPY INTO takes no file twice, so that the script may be run again where it ended early. Run whole, it adds its line to _loads.',
    ],
    address: (location) => location,
    begin: () => '',
    transaction: ['', ''],
    load: databricksLoad,
  },
} as const satisfies Readonly<Record<string, Warehouse>>;

/** Returns the address of the folder. Azure stages use blob addresses. */
function snowflakeAddress(location: string): string {
  const [, container, host, path] = /^abfss:\/\/([^@]+)@([^/]+)(.*)$/.exec(location) ?? [];
  return container === undefined
    ? location
    : `azure://${host!.replace('.dfs.', '.blob.')}/${container}${path}`;
}

/** Renders the script in pieces. `location`: address of the folder without a trailing slash, as in the manifest. */
export function warehouseLoad(
  name: keyof typeof warehouses,
  model: RelationalModel,
  manifest: TargetManifest,
  location: string,
): Iterable<string> {
  const adapted = adaptedModel(model, manifest, ({ name: column, type }, table) =>
    decimalOfFiles(column, type, table),
  );
  const warehouse: Warehouse = warehouses[name];
  return script(loadParagraphs(warehouse, model, adapted, manifest, warehouse.address(location)));
}

function* loadParagraphs(
  { dialect, about, begin, transaction, load }: Warehouse,
  model: RelationalModel,
  adapted: RelationalModel,
  manifest: TargetManifest,
  location: string,
): Iterable<string> {
  const fileOf = filesOf(adapted, dialect);
  let number = 0;
  const loads = loadedTables(model, manifest).flatMap((table) =>
    table.files.flatMap((file) => {
      if (file.rows === 0) return [];
      number += 1;
      return [load(fileOf(table, file, number), location)];
    }),
  );
  const lines = (one: keyof LoadStatements): string => loads.flatMap((each) => each[one] ?? []).join('\n');
  yield ['Makes the tables of this folder and fills them:', ...about].map((line) => `-- ${line}`).join('\n');
  yield* notLoaded(model, manifest);
  yield begin(location);
  const after = yield* ddlInOrder(adapted, dialect, {
    ifNotExists: true,
    foreignKeysLast: true,
    tables: tablesOfFolder(adapted, manifest),
    hasCodes: hasCodes(manifest),
  });
  yield lines('before');
  yield transaction[0];
  yield lines('load');
  yield ledger(manifest, dialect, dialect.literal);
  yield transaction[1];
  yield lines('after');
  yield* after;
}

/** Parquet columns arrive as one VARIANT per row. Text has no length, because a cast would truncate it. */
function snowflakeLoad({ table, file, columns }: FileLoad): LoadStatements {
  const values = columns.map(({ source, type }) => {
    const typeName = type.kind === 'text' && type.list !== true ? 'VARCHAR' : snowflake.typeName(type);
    return `$1:${snowflake.quote(source)}::${typeName}`;
  });
  const targets = columns.map(({ target }) => target).join(', ');
  return {
    load: [
      `COPY INTO ${table} (${targets}) FROM (SELECT ${values.join(', ')} FROM @_svc_folder) FILES = (${snowflake.literal(file)}) FILE_FORMAT = (TYPE = PARQUET USE_LOGICAL_TYPE = TRUE) ON_ERROR = ABORT_STATEMENT;`,
    ],
  };
}

/** Transactions cannot contain DDL: tables over the files are made before, and dropped after. */
function bigqueryLoad({ number, table, file, columns }: FileLoad, location: string): LoadStatements {
  const source = bigquery.quote(`_svc_file_${number}`);
  const targets = columns.flatMap(({ target, list }) => (list === null ? [target] : [target, list.count]));
  const values = columns.flatMap(({ source: name, type, isCast, list }) => {
    const column = bigquery.quote(name);
    const value = isCast ? `CAST(${column} AS ${bigquery.typeName(withoutLength(type))})` : column;
    return list === null ? [value] : [value, `ARRAY_LENGTH(${column})`];
  });
  return {
    before: [
      `CREATE OR REPLACE EXTERNAL TABLE ${source} OPTIONS (format = 'PARQUET', enable_list_inference = TRUE, uris = [${bigquery.literal(`${location}/${file}`)}]);`,
    ],
    load: [`INSERT INTO ${table} (${targets.join(', ')}) SELECT ${values.join(', ')} FROM ${source};`],
    after: [`DROP EXTERNAL TABLE ${source};`],
  };
}

/** Databricks does not read times of day from Parquet: the script fails before it loads anything. */
function databricksLoad({ table, file, columns }: FileLoad, location: string): LoadStatements {
  const times = columns.filter(({ from = '' }) => /^TIME(\[\])?$/.test(from)).map(({ source }) => source);
  const refusal = `${file} has times of day (${times.join(', ')}), which Databricks does not read from Parquet: load a folder with -f delta, which has them as text`;
  if (times.length > 0) return { before: [`SELECT raise_error(${databricks.literal(refusal)});`], load: [] };
  const values = columns.map(({ source, target, type, isCast }) => {
    const column = databricks.quote(source);
    return `${isCast ? `CAST(${column} AS ${databricks.typeName(withoutLength(type))})` : column} AS ${target}`;
  });
  return {
    load: [
      `COPY INTO ${table} FROM (SELECT ${values.join(', ')} FROM ${databricks.literal(`${location}/`)}) FILEFORMAT = PARQUET FILES = (${databricks.literal(file)});`,
    ],
  };
}

/** The statements of a load, by the time at which they run. */
interface LoadStatements {
  /** statements before the transaction that it cannot contain */
  readonly before?: readonly string[];
  readonly load: readonly string[];
  /** statements after the transaction */
  readonly after?: readonly string[];
}

/** Removes the length, because a cast to a length truncates longer text. */
function withoutLength(type: ColumnType): ColumnType {
  return type.kind === 'text' ? { kind: 'text', ...(type.list === true ? { list: true } : {}) } : type;
}

/** Redshift types by the types in the files; lists are read as SUPER. */
const typesOfFiles: Readonly<Record<string, string>> = {
  VARCHAR: 'VARCHAR(65535)',
  FLOAT: 'REAL',
  DOUBLE: 'DOUBLE PRECISION',
  'TIMESTAMP WITH TIME ZONE': 'TIMESTAMPTZ',
};

/**
 * COPY of Parquet maps columns by position and requires all of them (Redshift's manual, "COPY from columnar data formats"), but files of
 * several versions of a schema have different ones. PartiQL unnests the items of a list, each with its position.
 */
function redshiftLoad({ number, table, file, columns }: FileLoad, location: string): LoadStatements {
  const staged = redshift.quote(`_svc_file_${number}`);
  const hasLists = columns.some(isList);
  const made = columns.map(({ source, from }) => `${redshift.quote(source)} ${typeOfFile(from!)}`);
  const targets = columns.map(({ target }) => target);
  const values = columns.map(({ source, type, isCast, list }) => {
    const column = redshift.quote(source);
    if (list !== null) return `GET_ARRAY_LENGTH(${column})`;
    return isCast ? `CAST(${column} AS ${redshift.typeName(withoutLength(type))})` : column;
  });
  const [key] = columns;
  return {
    load: [
      `CREATE TEMPORARY TABLE ${staged} (${made.join(', ')});`,
      `COPY ${staged} FROM ${redshift.literal(`${location}/${file}`)} IAM_ROLE default FORMAT AS PARQUET${hasLists ? ' SERIALIZETOJSON' : ''};`,
      `INSERT INTO ${table} (${targets.join(', ')}) SELECT ${values.join(', ')} FROM ${staged};`,
      ...columns.flatMap((column) => items(staged, key!, column)),
      `DROP TABLE ${staged};`,
    ],
  };
}

function isList({ from = '' }: LoadedColumn): boolean {
  return from.endsWith('[]');
}

function typeOfFile(from: string): string {
  return from.endsWith('[]') ? 'SUPER' : (typesOfFiles[from] ?? from);
}

/** Keys of item rows continue after the highest key of the table (docs/decisions/model/list-tables.md). */
function items(staged: string, key: LoadedColumn, { source, type, list }: LoadedColumn): string[] {
  if (list === null || list.items === null) return [];
  const { table, columns } = list.items;
  const item = redshift.typeName(withoutLength({ ...type, list: false }));
  return [
    `INSERT INTO ${table} (${columns.join(', ')}) SELECT (SELECT COALESCE(MAX(${columns[0]}), 0) FROM ${table}) + ROW_NUMBER() OVER (ORDER BY f.${redshift.quote(key.source)}, at), f.${redshift.quote(key.source)}, at + 1, CAST(item AS ${item}) FROM ${staged} AS f, f.${redshift.quote(source)} AS item AT at;`,
  ];
}
