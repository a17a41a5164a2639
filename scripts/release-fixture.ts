/**
 * `npm run release-fixture`: makes a home and targets with this version and stores them below `test/fixtures/releases`, for the test of
 * upgrades that later versions run (test/e2e/deployments/earlier-releases.test.ts). Needs a PostgreSQL server's programs and `pg_dump`.
 */
import { execFile } from 'node:child_process';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { startExternalPostgres } from '../test/support/service/external-postgres.ts';
import { createServiceHome } from '../test/support/service/start.ts';
import { convert } from '../test/support/service/tools.ts';
import { releaseTargets, schemaOfReleases } from '../test/support/service/releases.ts';
import { scriptOptions } from './options.ts';

scriptOptions(import.meta.filename, {});

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
const documents = join(root, 'scripts/demo/documents');
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
const folder = join(root, 'test/fixtures/releases', version);
const server = await startExternalPostgres();
const home = await createServiceHome({ 'metadb.url': server.url });
try {
  await convert(home, 'xsd2er', join(root, 'scripts/demo/xsd'), '--name', schemaOfReleases);
  const [first = '', second = ''] = (await readdir(documents)).toSorted();
  for (const [at, target] of releaseTargets(join(home.directory, 'targets')).entries()) {
    const schema = at === 0 ? ['-x', '1'] : ['-l', '1'];
    for (const document of [first, second])
      await convert(home, 'xml2er', join(documents, document), ...schema, ...target);
  }
  const dump = await run('pg_dump', ['--inserts', '--no-privileges', server.url], {
    maxBuffer: 2 ** 28,
  });
  await mkdir(folder, { recursive: true });
  const sql = dump.stdout
    // commands of psql itself, which other clients cannot run, and the owner that only this server has
    .replaceAll(/^\\.*\n|^ALTER .* OWNER TO owner;\n/gm, '')
    // where it was made is no part of it
    .replaceAll(join(root, '.'), '/srv/conversions')
    .replaceAll(home.directory, '/srv/home')
    .replaceAll(hostname(), 'host');
  await writeFile(join(folder, 'metadb.sql.gz'), gzipSync(sql, { level: 9 }));
  await run('tar', ['-C', home.directory, '-czf', join(folder, 'targets.tar.gz'), 'targets']);
} finally {
  await home.remove();
  await server.stop();
}
