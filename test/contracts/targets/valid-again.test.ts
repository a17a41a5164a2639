/** Values of types whose patterns allow only some lexical forms: a document that is valid is valid again, from every target. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { patternedDocument, patternedXsd } from '../../support/documents/patterned-values.ts';
import { needs, some } from '../../support/needs.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { compiled } from '../../support/models/shredding.ts';
import { convert } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { loadEveryTarget, type EveryTarget } from './every-target.ts';

const trial = useTrial();
const source = compiled(patternedXsd);

describe.each(some([3, 0], 1))('at level %d', needs(['xmllint']), (level) => {
  let home: ServiceHome;
  let targets: EveryTarget;

  beforeAll(async () => {
    home = await trial.home();
    await writeFile(join(home.directory, 'a.xsd'), patternedXsd);
    await writeFile(join(home.directory, 'd.xml'), patternedDocument);
    const { origin } = await convert(home, 'xsd2er', join(home.directory, 'a.xsd'), '-g', String(level));
    targets = await loadEveryTarget(home, origin!, [[join(home.directory, 'd.xml')]]);
  }, 240_000);

  afterAll(async () => {
    await targets?.drop();
  });

  test('from every target', async () => {
    const files: string[] = [];
    for (const [name, argv] of targets.sources) {
      const back = join(home.directory, 'back', name);
      await convert(home, 'er2xml', ...argv, '-o', back);
      files.push(join(back, 'd.xml'));
      expect(compareXml(patternedDocument, await readFile(files.at(-1)!), { source }), name).toEqual([]);
    }
    expect(files.length).toBeGreaterThanOrEqual(9);
    const argv = [
      '--noout',
      '--schema',
      join(home.directory, 'a.xsd'),
      join(home.directory, 'd.xml'),
      ...files,
    ];
    await promisify(execFile)('xmllint', argv);
  }, 240_000);

  test('with the same values beside the rows', async () => {
    const expected = await targets.rows('postgresql', '_lexical');
    for (const name of targets.sources.keys())
      expect(await targets.rows(name, '_lexical'), name).toEqual(expected);
  });
});
