/** Every command of the README and of the pages in docs/ is run, and what they show is what comes out. */
import { chmod, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { legalTransitions, type JobStatus, statusLetters } from '../../../src/service/jobs/record.ts';
import { stopEmbeddedPostgres } from '../../../src/process/embedded-postgres/server.ts';
import { listFiles, projectRoot, readText } from '../../rules/project-files.ts';
import { needs } from '../../support/needs.ts';
import { createEmptyDatabase } from '../../support/servers/postgres.ts';
import { blockIn, readBlocks } from './blocks.ts';
import { runShell, startShell } from './shell.ts';
import { isWalked, missingLines } from './walk.ts';

/** Pages for users, and the commands in them. */
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...listFiles('docs').filter((path) => /^docs\/(?!decisions\/|interface\/).*\.md$/.test(path)),
];
const textOf = new Map(pages.map((page) => [page, readText(page)]));
const blocksOf = new Map(pages.map((page) => [page, readBlocks(textOf.get(page)!)]));

function code(page: string, heading: string, language: string, index = 0): string {
  return blockIn(blocksOf.get(page)!, heading, language, index);
}

/** A page with the folders and the address that a reader would choose. */
function adapt(script: string, folder: string, url = ''): string {
  return script
    .replaceAll('/tmp/conversions', join(folder, 'home'))
    .replaceAll('/tmp/other-home', join(folder, 'other'))
    .replaceAll('/tmp/orders', join(folder, 'orders'))
    .replaceAll('http://127.0.0.1:8080', url)
    .replace(/\bnpm start$/m, 'exec npm start');
}

describe('README and docs', { timeout: 180_000 }, () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'readme-'));
    // a server of root's that has no other way enters it as somebody else
    await chmod(folder, 0o755);
  });

  afterAll(async () => {
    for (const name of ['home', 'by-hand', 'demo', 'other', 'inside', 'trial']) {
      await stopEmbeddedPostgres(join(folder, name, 'db')).catch(() => undefined);
    }
    await rm(folder, { recursive: true, force: true });
  });

  it('has no block of commands that is not run below', () => {
    const counted = pages.flatMap((page) =>
      blocksOf
        .get(page)!
        .filter(({ language }) => language !== 'text' && language !== 'sql')
        .filter(({ language }) => language !== 'sh' || !isWalked(page))
        .map(({ heading, language }) => `${page}, ${heading}: ${language}`),
    );
    expect(counted.toSorted()).toEqual([
      'CONTRIBUTING.md, One job by hand: sh',
      // whose scripts are looked at by test/rules/links.test.ts
      'CONTRIBUTING.md, Set up: sh',
      'README.md, Try it: sh',
      'README.md, Try it: sh',
      'docs/explanation/how-tables-come-about.md, An example: xml',
      // by test/e2e/readme/backups.test.ts
      'docs/how-to/backup.md, A database of your own: sh',
      'docs/how-to/backup.md, A database of your own: sh',
      'docs/how-to/backup.md, The embedded database: sh',
      'docs/how-to/backup.md, The embedded database: sh',
      // by test/unit/config/sources.test.ts
      'docs/how-to/buckets.md, Load the files of each morning: properties',
      // by test/e2e/readme/columns.test.ts
      'docs/how-to/database-rows.md, Read XML from rows of a database: sh',
      // needs dbt, which brings more packages than the tests do
      'docs/how-to/dbt.md, Use the tables in dbt: bash',
      // by test/e2e/readme/delta.test.ts
      'docs/how-to/delta.md, Query it: python',
      'docs/how-to/embed.md, Inside another application: ts',
      // by test/e2e/targets/registered.test.ts
      'docs/how-to/embed.md, Targets of your own: ts',
      // by test/e2e/readme/iceberg.test.ts
      'docs/how-to/iceberg.md, Query it: python',
      // by test/e2e/readme/metadata.test.ts
      'docs/how-to/metadata.md, Data dictionary: sh',
      'docs/how-to/metadata.md, Metadata for other tools: sh',
      'docs/how-to/move-schemas.md, Move schemas between installations: sh',
      // by test/e2e/attacks/squatter.test.ts
      'docs/how-to/operate.md, Connect to the embedded database: sh',
      'docs/how-to/operate.md, Look at it: sh',
      'docs/how-to/operate.md, Several machines: sh',
      // by test/e2e/readme/own-adapters.test.ts
      'docs/how-to/own-adapters.md, A file store: ts',
      'docs/how-to/own-adapters.md, A runner: ts',
      'docs/how-to/own-adapters.md, Test it: ts',
      'docs/how-to/own-adapters.md, Write your own adapter: ts',
      'docs/how-to/own-adapters.md, Write your own adapter: ts',
      // one call of pandas, whose view of such files is test/contracts/parquet's
      'docs/how-to/parquet.md, Query it: python',
      // by test/e2e/clients/python-client.test.ts
      'docs/how-to/python-client.md, Lists: python',
      'docs/how-to/python-client.md, Repeated requests: python',
      'docs/how-to/python-client.md, Use the Python client: python',
      'docs/how-to/python-client.md, Use the Python client: sh',
      // by test/e2e/targets/rows-over-http.test.ts
      'docs/how-to/query-over-http.md, Query rows over HTTP: json',
      'docs/how-to/query-over-http.md, Query rows over HTTP: sh',
      'docs/how-to/query-over-http.md, Query rows over HTTP: sh',
      'docs/how-to/rest-api.md, Convert over REST: sh',
      'docs/how-to/rest-api.md, Convert over REST: sh',
      // by test/e2e/readme/watches.test.ts
      'docs/how-to/watches.md, A bucket: json',
      'docs/how-to/watches.md, A folder: json',
      'docs/how-to/watches.md, A folder: sh',
      'docs/how-to/watches.md, Rows of a database: json',
    ]);
    for (const page of pages)
      expect([page, blocksOf.get(page)!.every(({ language }) => language !== '')]).toEqual([page, true]);
    const withQueries = pages.filter(
      (page) => !isWalked(page) && blocksOf.get(page)!.some(({ language }) => language === 'sql'),
    );
    expect(withQueries).toEqual([
      // documents of these are not in the corpus
      'docs/how-to/fatturapa.md',
      'docs/how-to/fhir.md',
      'docs/how-to/hl7-cda.md',
      // by test/e2e/readme/querying.test.ts
      'docs/how-to/query-tables.md',
      'docs/how-to/ubl-peppol.md',
    ]);
  });

  it('Try it: the demo shows what the tutorial shows', async () => {
    expect(code('README.md', 'Try it', 'sh', 0)).toBe('npm ci && npm run demo\n');
    const { code: exit, output } = await runShell('npm run demo -- --home "$FOLDER"', {
      FOLDER: join(folder, 'demo'),
    });
    expect(exit, output).toBe(0);
    const shown = blocksOf.get('docs/tutorial/your-own-file.md')!.find(({ language }) => language === 'text');
    expect(missingLines(shown!.code, output)).toEqual([]);
    const ddl = code('docs/explanation/how-tables-come-about.md', 'An example', 'text');
    expect(missingLines(ddl, output)).toEqual([]);
  });

  it('Try it: the second command loads documents', async () => {
    const { code: exit, output } = await runShell(
      code('README.md', 'Try it', 'sh', 1).replace('/tmp/', `${folder}/`),
      { SVC_HOME: join(folder, 'by-hand') },
    );
    expect(exit, output).toBe(0);
    expect(output).toMatch(/^loaded 4, unknown root 0, rejected 0/m);
  });

  it('An example: the document is one of the demo, in part', () => {
    const lines = readText('scripts/demo/documents/orders-2026-03-04-a.xml')
      .split('\n')
      .map((line) => line.trim());
    const shown = code('docs/explanation/how-tables-come-about.md', 'An example', 'xml')
      .trimEnd()
      .split('\n');
    let at = 0;
    for (const line of shown) {
      at = lines.indexOf(line.trim(), at);
      expect([line, at >= 0]).toEqual([line, true]);
    }
  });

  it('the tests are run by .ci/run after npm ci', () => {
    const ci = readText('.ci/run');
    expect(ci).toMatch(/^npm ci\b/m);
    expect(ci).toMatch(/^tests "\$full" npm test\b/m);
    expect(ci).toMatch(/^ {2}PATH=\$bare_path tests "\$bare" npm test\b/m);
  });

  it('Convert over REST: curl streams what it uploads, and an older one takes every option', () => {
    const calls = [...textOf.get('docs/how-to/rest-api.md')!.matchAll(/\bcurl\b(?:[^\n]*\\\n)*[^\n]*/g)].map(
      ([call]) => call,
    );
    expect(calls.length).toBeGreaterThan(4);
    // --data-binary reads the whole file into memory; --json is of 7.82
    expect(calls.filter((call) => /\s--(?:json|data-binary|data-raw|fail-with-body)\b/.test(call))).toEqual(
      [],
    );
  });

  it('Convert over REST: from an upload to the tables', needs('curl'), async () => {
    const service = startShell(adapt(code('docs/how-to/rest-api.md', 'Convert over REST', 'sh', 0), folder), {
      PORT: '0',
    });
    try {
      const [, url] = await service.waitFor(/listening on (http:\/\/\S+)/);
      const { code: exit, output } = await runShell(
        adapt(code('docs/how-to/rest-api.md', 'Convert over REST', 'sh', 1), folder, url),
        {},
      );
      expect(exit, output).toBe(0);
      expect(output).toContain('"error":false');
      expect(output).toMatch(/^event: end\ndata: .*"status":"C"/m);
      expect(output).toMatch(/^create table /im);
    } finally {
      expect((await service.stop()).code).toBe(0);
    }
  });

  it('Step by step: the tools start the database themselves', async () => {
    const script = code('docs/how-to/convert.md', 'Step by step', 'sh').replaceAll('/tmp/', `${folder}/`);
    const { code: exit, output } = await runShell(script, { SVC_HOME: join(folder, 'by-hand') });
    expect(exit, output).toBe(0);
    expect(await readdir(join(folder, 'convert/orders'))).toContain('load.sql');
    expect(output).toContain('--savemode');
  });

  it('Look at it: what was done by hand is seen', needs('whole run'), async () => {
    const script = code('docs/how-to/operate.md', 'Look at it', 'sh')
      .replaceAll('orders.svg', join(folder, 'orders.svg'))
      .replaceAll(/\b(schema|ddl|diagram) orders\b/g, '$1 xsd')
      .replaceAll(/\b(job|log) 7\b/g, '$1 1');
    const { code: exit, output } = await runShell(script, { SVC_HOME: join(folder, 'by-hand') });
    expect(exit, output).toBe(0);
    expect(output).toContain('CREATE TABLE `');
    expect(await readFile(join(folder, 'orders.svg'), 'utf8')).toMatch(/^<svg /);
  });

  it('One job by hand: its log is where the page says', needs('whole run'), async () => {
    const script = code('CONTRIBUTING.md', 'One job by hand', 'sh').replace(
      '$(mktemp -d)',
      join(folder, 'trial'),
    );
    const { code: exit, output } = await runShell(script, {});
    expect(exit, output).toBe(0);
    expect(output.match(/^loaded 4, unknown root 0/gm)).toHaveLength(2);
  });

  it('Move schemas: what was made by hand arrives elsewhere', needs('whole run'), async () => {
    const script = adapt(
      code('docs/how-to/move-schemas.md', 'Move schemas between installations', 'sh'),
      folder,
    );
    const environment = { SVC_HOME: join(folder, 'by-hand') };
    const { code: exit, output } = await runShell(script, environment);
    expect(exit, output).toBe(0);
    expect(output.trimEnd().split('\n').at(-1)).toBe('{"error":false,"origin_ids":"1"}');
    expect(script).toContain('# {"error":false,"origin_ids":"1"}');
  });

  it('Job states: the table is that of the record', () => {
    const table = textOf
      .get('docs/reference/job-states.md')!
      .matchAll(/^\| `([A-Z])` +\| [^|]+ \| +((?:`[A-Z]`(?:, )?)*) *\|$/gm);
    const shown = [...table].map(([, state, next]) => [state, next!.match(/[A-Z]/g) ?? []]);
    expect(Object.fromEntries(shown)).toEqual(
      Object.fromEntries(
        Object.entries(legalTransitions).map(([state, next]) => [
          statusLetters[state as JobStatus],
          next.map((one) => statusLetters[one]),
        ]),
      ),
    );
  });

  it(
    'Inside another application: the example answers',
    { timeout: 60_000, ...needs('whole run') },
    async () => {
      const home = join(folder, 'inside');
      const entry = pathToFileURL(join(projectRoot, 'src/runtime/node.ts')).href;
      const example = code('docs/how-to/embed.md', 'Inside another application', 'ts')
        .replace("'conversion-job-service/node'", `'${entry}'`)
        .replace("'hono'", `'${import.meta.resolve('hono')}'`)
        .replace('/srv/conversions', home);
      const file = join(folder, 'host.ts');
      await writeFile(file, `${example}\nexport { host, service };\n`);
      const { host, service } = (await import(file)) as {
        host: { request(path: string): Promise<Response> };
        service: { close(): Promise<void> };
      };
      try {
        expect((await host.request('/convert/actuator/health/liveness')).status).toBe(200);
        expect((await host.request('/convert/v2/schema/all')).status).toBe(401);
      } finally {
        await service.close();
      }
    },
  );

  it('Several machines: a service and a worker share one database', needs('whole run'), async () => {
    const database = await createEmptyDatabase();
    const script = adapt(code('docs/how-to/operate.md', 'Several machines', 'sh'), folder).replace(
      /postgresql:\/\/\S+/,
      database.url,
    );
    const shells = startShell(`trap 'kill $(jobs -p); wait' TERM\n${script}\nwait`, {
      PORT: '0',
      SVC_HOME: join(folder, 'shared'),
    });
    try {
      await shells.waitFor(/listening on /);
      await shells.waitFor(/waiting for jobs/);
      const key = (await readFile(join(folder, 'shared', 'admin.key'), 'utf8')).trim();
      expect(key).toMatch(/^svk_/);
    } finally {
      await shells.stop();
      await database.drop();
    }
  });
});
