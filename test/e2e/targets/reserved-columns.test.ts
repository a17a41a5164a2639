/** Elements and attributes called as targets call columns of their own: they load everywhere, and the mapping says what they are called. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { mariadbParts, startMariadb } from '../../support/servers/mariadb.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { isHere, needs } from '../../support/needs.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const reserved =
  'ctid xmin xmax cmin cmax tableoid rowid _rowid_ insertxid deletexid db_row_id DB_TRX_ID db_roll_ptr fts_doc_id ora_rowscn _metadata _commit_version _file _pos _deleted _spec_id _partition _PARTITIONTIME _TABLE_x _FILE_NAME __root__ _change_type _row_id'.split(
    ' ',
  );
const common = ['oid', 'level', 'key', 'constraint'];

const document = `<box xmin="1.5" xmax="2.5" ctid="c">${[...reserved, ...common]
  .map((name, at) => `<${name}>${at}</${name}>`)
  .join('')}<corner><xmin>3</xmin><tableoid>t</tableoid></corner><corner><xmin>4</xmin></corner></box>`;

const trial = useTrial();
let home: ServiceHome;
let folder: string;

beforeAll(async () => {
  home = await trial.home();
  folder = await trial.folder('reserved-columns-');
  await writeFile(join(folder, 'a.xml'), document);
}, 60_000);

async function expectLoad(target: string, ...options: string[]): Promise<void> {
  const loaded = await runTool(home, 'xml2er', [join(folder, 'a.xml'), '-o', target, ...options]);
  expect(loaded.code, loaded.stdout + loaded.stderr).toBe(0);
  const back = await trial.folder('reserved-columns-back-');
  const written = await runTool(home, 'er2xml', ['-i', target, '-o', back]);
  expect(written.code, written.stdout + written.stderr).toBe(0);
  expect(compareXml(document, await readFile(join(back, 'a.xml'), 'utf8'))).toEqual([]);
}

const targets: readonly (readonly [target: string, ...options: string[]])[] = [
  ['metadb:boxes'],
  ['sqlite:$/boxes.sqlite'],
  ['duckdb:$/boxes.duckdb'],
  ['$/delta', '-f', 'delta'],
  ['$/iceberg', '-f', 'iceberg'],
  ['$/parquet', '-f', 'parquet'],
  ['$/csv', '-f', 'csv'],
];

const modes = ['l', 'u', 'c'] as const;

it.each(modes.map((mode, at) => [mode, at] as const))(
  'every target loads them, by --namemode %s',
  { timeout: 240_000 },
  async (mode, number) => {
    for (const level of [0, 3])
      for (const [at, [target, ...options]] of targets.entries()) {
        // two of the three modes for each target, one of them at each level; the whole run has all
        if (!isHere('whole run') && (at + number) % 3 !== (level === 0 ? 0 : 1)) continue;
        const own = target.replace('$', folder).replace(/(?=\.\w+$|$)/, `${mode}${level}`);
        await expectLoad(own, '-g', String(level), '--namemode', mode, ...options);
      }
  },
);

it('MariaDB loads them', needs(mariadbParts), async () => {
  const server = trial.keep(await startMariadb({ port: 33_917 }), (started) => started.stop());
  await server.run('CREATE DATABASE boxes');
  await expectLoad('mysql://root@127.0.0.1:33917/boxes', '-g', '0', '--namemode', 'c');
});

it('values are in the columns that the mapping names', async () => {
  await expectLoad('metadb:named', '-g', '1', '--name', 'named');
  const sql = await trial.metadb(home);
  expect(
    await sql`select xmin_attr, xmax_attr, ctid_attr, ctid_value, tableoid_value, oid, level from named.box`,
  ).toEqual([
    {
      xmin_attr: '1.5',
      xmax_attr: '2.5',
      ctid_attr: 'c',
      ctid_value: 0,
      tableoid_value: 5,
      oid: 28,
      level: 29,
    },
  ]);
  expect(await sql`select xmin_value, tableoid_value from named.corner order by position`).toEqual([
    { xmin_value: 3, tableoid_value: 't' },
    { xmin_value: 4, tableoid_value: null },
  ]);
});

it.each([
  ['-R', 'xmin =1'],
  ['-R', 'CTID NOW'],
  ['--rename', 'corner=TableOID'],
  ['--rename', 'level=_file_name'],
])('%s %s is a usage error that names the option', async (option, value) => {
  const run = await runTool(home, 'xml2er', [
    join(folder, 'a.xml'),
    '-o',
    join(folder, 'none'),
    option,
    value,
  ]);
  expect(run.code).toBe(2);
  expect(run.stderr).toMatch(new RegExp(`${option}: \\S+ is reserved: databases and table formats`));
});

it.each([
  ['-r', 'sqlite_'],
  ['--rename', 'box=SQLite_box'],
])('%s %s is a usage error, as SQLite reserves such tables', async (option, value) => {
  const run = await runTool(home, 'xml2er', [
    join(folder, 'a.xml'),
    '-o',
    join(folder, 'none'),
    option,
    value,
  ]);
  expect(run.code).toBe(2);
  expect(run.stderr).toContain('names that begin with sqlite_ are reserved for tables of SQLite itself');
});
