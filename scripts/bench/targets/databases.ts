/**
 * A document into MariaDB beside `LOAD DATA LOCAL INFILE` alone of the same rows, and into a SQLite file beside the `.import` of its
 * shell; by the clock, and by what the processors spent on tool, client and server together. Tables have the keys of the target.
 */
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isHere, programOf } from '../../../test/support/needs.ts';
import { mariadbParts, startMariadb, type TestMariadb } from '../../../test/support/servers/mariadb.ts';
import { freePort } from '../../../test/support/service/external-postgres.ts';
import type { BenchDatabase } from '../database.ts';
import type { BenchInput } from '../inputs.ts';
import { measure, type Command } from '../measured-process.ts';
import { contestants as names } from '../names.ts';
import { cpuSecondsOf } from '../processor-time.ts';
import type { Results } from '../report.ts';

export interface DatabaseBench {
  readonly input: BenchInput;
  readonly database: BenchDatabase;
  readonly directory: string;
  readonly results: Results;
  /** told of results that are not what was written */
  readonly disagree: (line: string) => void;
}

export interface OpenDatabases {
  round(): Promise<void>;
  close(): Promise<void>;
}

/** Of what is not on this machine, nothing is measured; `tell` is told. */
export async function openDatabases(
  bench: DatabaseBench,
  tell: (line: string) => void,
): Promise<OpenDatabases> {
  const { input, database, directory } = bench;
  const made = await measure(database.tool(input.path, '-o', join(directory, 'model'), '-f', 'csv'));
  const load = (...target: string[]): Command =>
    database.tool(input.path, '-x', String(made.printed['origin']), '-e', 'd', '-o', ...target);
  const parts: OpenDatabases[] = [];
  if (mariadbParts.every(isHere)) parts.push(await openMariadb(bench, load));
  else tell('MariaDB: neither server nor client is here');
  if (isHere('sqlite3')) parts.push(await openSqlite(bench, load));
  else tell('SQLite: its shell is not here');
  return {
    async round() {
      for (const part of parts) await part.round();
    },
    async close() {
      for (const part of parts) await part.close();
    },
  };
}

async function openMariadb(
  bench: DatabaseBench,
  load: (...target: string[]) => Command,
): Promise<OpenDatabases> {
  const port = await freePort();
  // as it is by default, but for the memory, of which any server has more
  const server = await startMariadb({
    port,
    settings: ['--innodb-buffer-pool-size=1G'],
  });
  // the server writes there, whose user has no way into the folder of the bench
  const files = join(dirname(server.socket), 'rows');
  await mkdir(files);
  await chmod(files, 0o777);
  let tables: string[] | null = null;
  const client = (script: string): Command => ({
    file: programOf('mariadb')!,
    args: ['--no-defaults', `--socket=${server.socket}`, '--local-infile=1', '-e', script],
  });
  return {
    async round() {
      await emptied(server, 'bench');
      await contest(
        bench,
        names.mariadb,
        load(`mysql://127.0.0.1:${port}/bench`, '-u', 'root'),
        server.pid(),
      );
      tables ??= await dump(server, files);
      await expectRows(bench, names.mariadb, (table) => countIn(server, 'bench', table), tables);
      await emptied(server, 'alone');
      const script = tables.flatMap((table) => [
        `CREATE TABLE alone.\`${table}\` LIKE bench.\`${table}\``,
        `LOAD DATA LOCAL INFILE '${join(files, table)}' INTO TABLE alone.\`${table}\` CHARACTER SET utf8mb4`,
      ]);
      await contest(bench, names.loadData, client(script.join(';')), server.pid());
      await expectRows(bench, names.loadData, (table) => countIn(server, 'alone', table), tables);
    },
    close: () => server.stop(),
  };
}

async function emptied(server: TestMariadb, name: string): Promise<void> {
  await server.run(`DROP DATABASE IF EXISTS ${name}; CREATE DATABASE ${name};`);
}

async function dump(server: TestMariadb, files: string): Promise<string[]> {
  const listed = await server.run(
    `SELECT table_name FROM information_schema.tables WHERE table_schema = 'bench' AND table_name NOT LIKE '\\_%';`,
  );
  const tables = listed.trim().split('\n').slice(1);
  for (const table of tables)
    await server.run(
      `SELECT * INTO OUTFILE '${join(files, table)}' CHARACTER SET utf8mb4 FROM bench.\`${table}\`;`,
    );
  return tables;
}

async function countIn(server: TestMariadb, database: string, table: string): Promise<number> {
  const counted = await server.run(`SELECT count(*) FROM \`${table}\`;`, undefined, database);
  return Number(counted.trim().split('\n').at(-1));
}

async function openSqlite(
  bench: DatabaseBench,
  load: (...target: string[]) => Command,
): Promise<OpenDatabases> {
  const { directory } = bench;
  const [ours, theirs] = [join(directory, 'ours.sqlite'), join(directory, 'theirs.sqlite')] as const;
  const countsOf = (file: string) => async (table: string) =>
    Number((await askShell(directory, file, `SELECT count(*) FROM "${table}"`))[0]);
  let prepared: PreparedImport | null = null;
  return {
    async round() {
      for (const file of [ours, theirs]) await rm(file, { force: true });
      await contest(bench, names.sqlite, load(`sqlite:${ours}`), null);
      prepared ??= await prepareImport(directory, ours);
      const { tables, script } = prepared;
      await expectRows(bench, names.sqlite, countsOf(ours), tables);
      await contest(bench, names.sqliteImport, sqliteShell(theirs, `.read ${script}`), null);
      await expectRows(bench, names.sqliteImport, countsOf(theirs), tables);
    },
    close: async () => undefined,
  };
}

interface PreparedImport {
  readonly tables: readonly string[];
  /** for the shell */
  readonly script: string;
}

/** Files of the rows, and a script that makes their tables, imports them, and makes the indexes behind them, which costs least. */
async function prepareImport(directory: string, loaded: string): Promise<PreparedImport> {
  const ask = (query: string): Promise<string[]> => askShell(directory, loaded, query);
  const tables = await ask(schemaQuery('name', 'table'));
  const imports: string[] = [];
  for (const name of tables) {
    const file = join(directory, `${name}.csv`);
    await measure(sqliteShell(loaded, '.mode csv', `.once ${file}`, `SELECT * FROM "${name}"`));
    imports.push(`.import ${file} ${name}`);
  }
  const made = await ask(schemaQuery(`sql || ';'`, 'table'));
  const indexes = await ask(schemaQuery(`sql || ';'`, 'index'));
  const script = join(directory, 'import.sql');
  await writeFile(script, `${[...made, '.mode csv', ...imports, ...indexes].join('\n')}\n`);
  return { tables, script };
}

function schemaQuery(what: string, type: 'table' | 'index'): string {
  return `SELECT ${what} FROM sqlite_schema WHERE type = '${type}' AND substr(tbl_name, 1, 1) <> '_'`;
}

function sqliteShell(file: string, ...commands: string[]): Command {
  return { file: programOf('sqlite3')!, args: ['-bail', file, ...commands] };
}

async function askShell(directory: string, file: string, query: string): Promise<string[]> {
  const answer = join(directory, 'answer');
  await measure(sqliteShell(file, `.once ${answer}`, query));
  return (await readFile(answer, 'utf8')).split('\n').slice(0, -1);
}

async function contest(
  { input, results }: DatabaseBench,
  name: string,
  command: Command,
  server: number | null,
): Promise<void> {
  process.stderr.write(`  ${name}, ${input.shape}\n`);
  const spent = (): number => (server === null ? 0 : (cpuSecondsOf(server) ?? 0));
  const before = spent();
  const { wallSeconds, processCpuSeconds, peakBytes } = await measure(command);
  const cpuSeconds = (processCpuSeconds ?? 0) + spent() - before;
  results.add(name, input.shape, input.bytes, { seconds: wallSeconds, wallSeconds, cpuSeconds, peakBytes });
}

async function expectRows(
  { input, disagree }: DatabaseBench,
  name: string,
  count: (table: string) => Promise<number>,
  tables: readonly string[],
): Promise<void> {
  let rows = 0;
  for (const table of tables) rows += await count(table);
  if (rows !== input.counts.rows + 1)
    disagree(`${name} left ${rows} rows where there are ${input.counts.rows + 1}`);
}
