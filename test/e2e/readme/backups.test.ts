/** The commands of docs/how-to/backup.md: what was backed up goes on elsewhere, and what a lost key takes away is told. */
import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stopEmbeddedPostgres } from '../../../src/process/embedded-postgres/server.ts';
import { readText } from '../../rules/project-files.ts';
import { needs } from '../../support/needs.ts';
import { startExternalPostgres } from '../../support/service/external-postgres.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { blockIn, readBlocks } from './blocks.ts';
import { runShell } from './shell.ts';

const blocks = readBlocks(readText('docs/how-to/backup.md'));
const [embedded, ownDatabase] = ['The embedded database', 'A database of your own'] as const;

const block = (heading: string, index: number, folder: string): string =>
  blockIn(blocks, heading, 'sh', index).replaceAll('/tmp/', `${folder}/`);

async function expectDone(script: string, environment: Record<string, string>): Promise<string> {
  const { code, output } = await runShell(script, environment);
  expect(code, output).toBe(0);
  return output;
}

async function loaded(home: ServiceHome, id: number): Promise<void> {
  const file = join(home.directory, `${id}.xml`);
  await writeFile(file, `<order><id>${id}</id></order>`);
  const schema = id === 1 ? ['--name', 'orders'] : ['-x', '1'];
  await convert(home, 'xml2er', file, '-o', 'metadb:orders', '-S', 'm', ...schema);
}

describe('backups', { timeout: 180_000 }, () => {
  const trial = useTrial();

  it('of a home with its database go on in another folder', async () => {
    const folder = await trial.folder('backups-');
    // as /tmp is: the database of root runs as another user where there is no setpriv
    await chmod(folder, 0o711);
    const home = await trial.home();
    await loaded(home, 1);
    await stopEmbeddedPostgres(join(home.directory, 'db'));
    await expectDone(block(embedded, 0, folder), { SVC_HOME: home.directory });
    // the one that was backed up is lost
    await rm(home.directory, { recursive: true });
    const output = await expectDone(block(embedded, 1, folder), {});
    expect(output).toMatch(/^jobs +1 completed$/m);
    expect(output).toMatch(/^targets +metadb:orders$/m);
    const restored = { ...home, directory: join(folder, 'restored') };
    try {
      await loaded(restored, 2);
      const { stdout } = await runTool(restored, 'er2xml', [
        '-i',
        'metadb:orders',
        '-o',
        join(folder, 'back'),
      ]);
      expect(stdout).toMatch(/documents: 2 ok/);
    } finally {
      await stopEmbeddedPostgres(join(restored.directory, 'db'));
      await mkdir(home.directory, { recursive: true });
    }
  });

  it('of a database of PostgreSQL go on in another server', needs(['postgresql', 'psql']), async () => {
    const folder = await trial.folder('backups-');
    const [first, second] = [await startExternalPostgres(), await startExternalPostgres()];
    try {
      const home = await trial.home({ 'metadb.url': first.url });
      await loaded(home, 1);
      await expectDone(block(ownDatabase, 0, folder), {
        SVC_HOME: home.directory,
        SVC_METADB_URL: first.url,
      });
      await first.stop();
      const address = new URL(second.url);
      await expectDone(block(ownDatabase, 1, folder), {
        PGHOST: address.hostname,
        PGPORT: address.port,
        PGUSER: address.username,
        PGPASSWORD: address.password,
        RESTORED_DATABASE: 'restored',
      });
      address.pathname = '/restored';
      const restored = await trial.home({ 'metadb.url': address.href });
      await cp(join(home.directory, 'secret.key'), join(restored.directory, 'secret.key'));
      await loaded(restored, 2);
      const { stdout } = await runTool(restored, 'er2xml', [
        '-i',
        'metadb:orders',
        '-o',
        join(folder, 'back'),
      ]);
      expect(stdout).toMatch(/documents: 2 ok/);
    } finally {
      await first.stop().catch(() => undefined);
      await second.stop();
    }
  });

  it('without the key say which secrets are lost, and the old key opens them', async () => {
    const home = await trial.home({ 'svc.allow.hosts': '127.0.0.1' });
    const file = join(home.directory, 'a.xml');
    await writeFile(file, '<order><id>1</id></order>');
    const secret = JSON.stringify({ kind: 's3', access_key: 'reader', secret_key: 'very secret' });
    await expectDone(`echo '${secret}' | npx conversion-job-service credentials add store`, {
      SVC_HOME: home.directory,
    });
    const key = await readFile(join(home.directory, 'secret.key'), 'utf8');
    await rm(join(home.directory, 'secret.key'));
    const from = ['s3://bucket/in/', '--credential', 'store', '-o', 'metadb:orders'];
    const lost = await runTool(home, 'xml2er', from);
    expect([lost.code, lost.stdout + lost.stderr]).toEqual([
      1,
      expect.stringMatching(/a stored secret cannot be read.*svc\.secret\.old_keys/),
    ]);
    await convert(home, 'xml2er', file, '-o', 'metadb:orders');
    await home.configure({ 'svc.secret.old_keys': key.trim(), 'svc.allow.hosts': '127.0.0.1' });
    const found = await runTool(home, 'xml2er', from);
    expect(found.stdout + found.stderr).not.toContain('cannot be read');
  });
});
