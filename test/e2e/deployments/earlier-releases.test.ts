/** A home and targets that earlier releases made (test/fixtures/releases, made by `npm run release-fixture`) go on with this version. */
import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../../rules/project-files.ts';
import { compiled } from '../../support/models/shredding.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { convert } from '../../support/service/tools.ts';
import { releaseTargets } from '../../support/service/releases.ts';
import { useTrial } from '../../support/service/trial.ts';

const releases = join(projectRoot, 'test/fixtures/releases');
const documents = join(projectRoot, 'scripts/demo/documents');

const xsd = join(projectRoot, 'scripts/demo/xsd');
const files = (await readdir(xsd)).map(
  async (name) => [name, await readFile(join(xsd, name), 'utf8')] as const,
);
const source = compiled(Object.fromEntries(await Promise.all(files)));

describe.each(await readdir(releases))('release %s', { timeout: 240_000 }, (version) => {
  const trial = useTrial();

  it('leaves targets that take another document and give all of them back', async () => {
    const database = await trial.emptyDatabase();
    // roles belong to the server, not to the dump
    await database.sql.unsafe(
      'do $$ begin create role svc_loader_1 nologin; exception when duplicate_object then null; end $$',
    );
    await database.sql.unsafe(
      gunzipSync(await readFile(join(releases, version, 'metadb.sql.gz'))).toString(),
    );
    const home = await trial.home({ 'metadb.url': database.url });
    await promisify(execFile)('tar', [
      '-C',
      home.directory,
      '-xzf',
      join(releases, version, 'targets.tar.gz'),
    ]);
    const [first = '', second = '', third = ''] = (await readdir(documents)).toSorted();
    for (const [at, target] of releaseTargets(join(home.directory, 'targets')).entries()) {
      await convert(home, 'xml2er', join(documents, third), '-l', '1', ...target);
      const back = join(home.directory, `back-${at}`);
      await convert(home, 'er2xml', '-l', '1', '-i', target[1]!, '-o', back);
      expect((await readdir(back)).toSorted(), target.join(' ')).toEqual([first, second, third]);
      for (const name of [first, second, third])
        expect(
          compareXml(await readFile(join(documents, name)), await readFile(join(back, name)), {
            source,
          }),
        ).toEqual([]);
    }
  });
});
