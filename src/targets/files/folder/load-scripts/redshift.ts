/** How Amazon Redshift takes a file of Parquet: COPY into a table of the file's own columns, then INSERT … SELECT. */
import { redshift } from '../../../../engine/sql/dialects/redshift.ts';
import { withoutLength, type LoadedColumn, type FileLoad, type LoadStatements } from './warehouse-files.ts';

/** Types of Redshift for those that files have; lists are read as SUPER. */
const typesOfFiles: Readonly<Record<string, string>> = {
  VARCHAR: 'VARCHAR(65535)',
  FLOAT: 'REAL',
  DOUBLE: 'DOUBLE PRECISION',
  'TIMESTAMP WITH TIME ZONE': 'TIMESTAMPTZ',
};

/**
 * COPY of Parquet goes by the order of the columns and takes all of them (Redshift's manual, "COPY from columnar data formats"), while files
 * of several versions of a schema have different ones. The items of a list are unnested by PartiQL, each with its position.
 */
export function redshiftLoad({ number, table, file, columns }: FileLoad, location: string): LoadStatements {
  const staged = redshift.quote(`_svc_file_${number}`);
  const hasLists = columns.some(isList);
  const made = columns.map(({ source, from }) => `${redshift.quote(source)} ${typeOfFile(from)}`);
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

function isList({ from }: LoadedColumn): boolean {
  return from.endsWith('[]');
}

function typeOfFile(from: string): string {
  return from.endsWith('[]') ? 'SUPER' : (typesOfFiles[from] ?? from);
}

/** Keys of the items' rows go on where those of the table end (docs/decisions/model/list-tables.md). */
function items(staged: string, key: LoadedColumn, { source, type, list }: LoadedColumn): string[] {
  if (list === null || list.items === null) return [];
  const { table, columns } = list.items;
  const item = redshift.typeName(withoutLength({ ...type, list: false }));
  return [
    `INSERT INTO ${table} (${columns.join(', ')}) SELECT (SELECT COALESCE(MAX(${columns[0]}), 0) FROM ${table}) + ROW_NUMBER() OVER (ORDER BY f.${redshift.quote(key.source)}, at), f.${redshift.quote(key.source)}, at + 1, CAST(item AS ${item}) FROM ${staged} AS f, f.${redshift.quote(source)} AS item AT at;`,
  ];
}
