/** Documents of a server of SFTP on a real Spark, whose executors read them there: `npm run test:spark` with SPARK_SUBMIT. */
import { mkdir, readFile, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { needs } from '../../support/needs.ts';
import { startSshd, type TestSshd } from '../../support/servers/sshd.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool, type ToolRun } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { loadedTables, targetArguments } from '../loaded-tables.ts';
import { sparkSettings } from '../settings.ts';

const order = (id: number): string => `<order id="${id}"><line><sku>ü ${id}</sku></line></order>`;

/** Of a file of that text that gets another of the same length: `at` seconds later. */
async function changeLater(path: string, text: string, at: number): Promise<void> {
  await writeFile(path, text);
  const changed = new Date(Date.now() + at * 1000);
  await utimes(path, changed, changed);
}

describe(
  'documents of a server of SFTP on Spark',
  {
    timeout: 240_000,
    ...needs(['whole run', 'spark', 'sshd']),
  },
  () => {
    const trial = useTrial();
    const large = `<orders>${Array.from({ length: 12_000 }, (_, at) => order(at)).join('\n')}</orders>`;
    let server: TestSshd;
    let files: string;
    let place: string;
    let settings: Record<string, string>;
    let work: string;
    let home: ServiceHome;

    beforeAll(async () => {
      server = await startSshd();
      files = await trial.folder('sftp-spark-');
      await mkdir(join(files, 'small', 'below'), { recursive: true });
      for (let at = 0; at < 120; at += 1)
        await writeFile(join(files, 'small', at % 2 === 0 ? '' : 'below', `order ${at}.xml`), order(at));
      await writeFile(join(files, 'small', 'packed.xml.gz'), gzipSync(order(1000)));
      await writeFile(join(files, 'large.xml'), large);
      place = `sftp://${server.user}@127.0.0.1:${server.port}${files}`;
      work = await trial.folder('sftp-work-');
      settings = {
        ...sparkSettings(work, { 'svc.spark.range_bytes': '100 KiB' }),
        'svc.sources.inbox.location': place,
        'svc.sources.inbox.key_file': server.keyFile,
        'svc.sources.inbox.host_key': server.hostKey,
      };
      home = await trial.home(settings);
    }, 120_000);
    afterAll(() => server?.stop());

    const onSpark = (name: string, argv: readonly string[]): Promise<ToolRun> =>
      runTool(home, 'xml2er', [
        ...argv,
        ...targetArguments(home, 'metadb', name),
        '--engine',
        'spark',
        '--json',
      ]);

    it.each([
      ['whole', 'small/', ['--keys', 'hash'], /121 documents, read in place/],
      ['in_ranges', 'large.xml', ['--row-tag', 'order', '--keys', 'hash'], /places to cut files at/],
    ] as const)('give the rows of the local engine, %s', async (name, path, options, told) => {
      const argv = [`${place}/${path}`, ...options];
      await convert(home, 'xml2er', ...argv, ...targetArguments(home, 'metadb', `${name}_local`));
      const { code, stdout, stderr } = await onSpark(`${name}_spark`, argv);
      expect(code, stdout + stderr).toBe(0);
      expect(stdout).toMatch(told);
      expect(stdout).not.toMatch(/fetched in/);
      expect(stdout + stderr).not.toContain(await readFile(server.keyFile, 'utf8'));
      expect(await loadedTables(home, 'metadb', `${name}_spark`)).toEqual(
        await loadedTables(home, 'metadb', `${name}_local`),
      );
      expect(await readdir(work)).toEqual([]);
    });

    it('publish nothing where one changes before executors have read it', async () => {
      const path = join(files, 'large.xml');
      const changing = (async () => {
        // the folder of the job comes once its documents are listed
        while ((await readdir(work)).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
        await changeLater(path, large.replaceAll('ü', 'ö'), 5);
      })();
      const argv = [`${place}/large.xml`, '--row-tag', 'order', '--keys', 'sequence'];
      const { code, stdout } = await onSpark('changed', argv);
      await changing;
      expect([code, stdout]).toEqual([1, expect.stringContaining('large.xml: changed while it was read')]);
      expect(await loadedTables(home, 'metadb', 'changed')).toEqual({});
    });

    it('are fetched where their server is known to the user of this machine alone', async () => {
      const { 'svc.sources.inbox.host_key': _, ...others } = settings;
      const known = await trial.home(others);
      const { stdout } = await runTool(known, 'xml2er', [
        `${place}/small/`,
        '-o',
        'metadb:x',
        '--engine',
        'spark',
      ]);
      // its key is in no known_hosts: so it is the machine of the job that asks for it
      expect(stdout).toContain('the host key of the server is unknown or differs');
    });
  },
);
