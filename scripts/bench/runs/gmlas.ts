/**
 * scripts/bench/runs/gmlas.ts FILE XSD (postgresql|sqlite|csv) PLACE: the element-heavy document by GDAL's GMLAS driver, into the schema
 * `bench_gmlas` of a database, a file, or a folder; prints the time of `ogr2ogr` and the rows that it wrote. Notes of an order
 * get no table: they are an array, or its text, in the order's row, and are counted there.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { connectPostgres } from '../../../src/postgres/connect.ts';
import { measure } from '../measured-process.ts';

const [file, xsd, format, place] = process.argv.slice(2) as [string, string, string, string];
const schema = 'bench_gmlas';

/** Where `ogr2ogr` writes, and how to count what is there then. */
interface Output {
  readonly args: readonly string[];
  prepare(): Promise<void>;
  /** rows of tables, and notes */
  count(): Promise<{ readonly rows: number; readonly notes: number }>;
}

async function run({ args, prepare, count }: Output): Promise<void> {
  await prepare();
  const { wallSeconds, processCpuSeconds, peakBytes } = await measure({
    file: 'ogr2ogr',
    args: ['-q', ...args, `GMLAS:${file}`, '-oo', `XSD=${xsd}`],
  });
  const { rows, notes } = await count();
  // the root has a row, too
  const counted = { rows: rows - 1 + notes, rowsOfTables: rows };
  console.log(JSON.stringify({ seconds: wallSeconds, cpuSeconds: processCpuSeconds, peakBytes, ...counted }));
}

function toPostgres(url: string): Output {
  const { hostname, port, username, password, pathname } = new URL(url);
  // this driver puts words of its own behind an address, and takes them for the name of the database
  const connection = `PG:host=${hostname} port=${port} user=${username} password=${password} dbname=${pathname.slice(1)}`;
  const on = async <T>(work: (sql: ReturnType<typeof connectPostgres>) => Promise<T>): Promise<T> => {
    const sql = connectPostgres(url, { applicationName: 'bench', max: 1 });
    return work(sql).finally(() => sql.end());
  };
  return {
    args: ['-f', 'PostgreSQL', connection, '-lco', `SCHEMA=${schema}`],
    prepare: () =>
      on(async (sql) => {
        await sql.unsafe(`DROP SCHEMA IF EXISTS ${schema} CASCADE; CREATE SCHEMA ${schema}`);
      }),
    count: () =>
      on(async (sql) => {
        const tables = await sql<{ name: string }[]>`
          SELECT table_name AS name FROM information_schema.tables WHERE table_schema = ${schema}`;
        let rows = 0;
        for (const { name } of tables) {
          const [counted] = await sql.unsafe(`SELECT count(*)::int AS n FROM ${schema}."${name}"`);
          rows += Number(counted!['n']);
        }
        const [notes] = await sql.unsafe(
          `SELECT sum(cardinality(note))::int AS n FROM ${schema}.elements_order`,
        );
        return { rows, notes: Number(notes!['n']) };
      }),
  };
}

function toSqlite(path: string): Output {
  return {
    args: ['-f', 'SQLite', path],
    prepare: () => rm(path, { force: true }),
    count: async () => {
      const database = new DatabaseSync(path);
      const number = (query: string): number => Number(database.prepare(query).get()!['n']);
      const rows = ['elements', 'elements_order', 'elements_order_line']
        .map((table) => number(`SELECT count(*) AS n FROM ${table}`))
        .reduce((sum, n) => sum + n, 0);
      const notes = number(`SELECT sum(json_array_length(note)) AS n FROM elements_order`);
      database.close();
      return { rows, notes };
    },
  };
}

function toCsv(folder: string): Output {
  return {
    args: ['-f', 'CSV', folder],
    prepare: () => rm(folder, { recursive: true, force: true }),
    count: async () => {
      let rows = 0;
      let notes = 0;
      for (const name of await readdir(folder)) {
        const lines = (await readFile(join(folder, name), 'utf8')).trimEnd().split('\n').slice(1);
        rows += lines.length;
        for (const line of lines) {
          const list = /"(\[ .* \])"$/.exec(line)?.[1];
          if (list !== undefined) notes += (JSON.parse(list.replaceAll('""', '"')) as unknown[]).length;
        }
      }
      return { rows, notes };
    },
  };
}

const outputs: Readonly<Record<string, (place: string) => Output>> = {
  postgresql: toPostgres,
  sqlite: toSqlite,
  csv: toCsv,
};
await run(outputs[format]!(place));
