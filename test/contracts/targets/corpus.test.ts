/** Real documents of real XSD sets in every target, by value. All sets: `TARGET_SETS=all npm test -- test/contracts/targets/corpus.test.ts`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { corpusDirectory, needs } from '../../support/needs.ts';
import { convert } from '../../support/service/tools.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { loadEveryTarget, targetTests, type EveryTarget } from './every-target.ts';

/** Bank statements first; then lists, mixed content and times with zones, which take longer. */
const allSets = [
  'iso20022/assets/camt.053.001.02.xsd',
  'cdisc-odm/schema/ODM.xsd',
  'siri/xsd/siri.xsd',
  'sumo/xsd/net_file.xsd',
];
const sets = process.env.TARGET_SETS === 'all' ? allSets : allSets.slice(0, 1);

/** Documents of one set, as the manifest names them. */
function documentsOf(xsd: string): string[] {
  return readFileSync(join(corpusDirectory, 'MANIFEST.tsv'), 'utf8')
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([, set]) => set === xsd)
    .map(([, , document]) => join(corpusDirectory, document!));
}

describe.each(sets)('%s', needs(['corpus', 'whole run']), (xsd) => {
  const trial = useTrial();
  let home: ServiceHome;
  let targets: EveryTarget;

  beforeAll(async () => {
    home = await trial.home();
    const argv = [join(corpusDirectory, xsd), '-g', '3', '--missing', 'wildcard'];
    const { origin } = await convert(home, 'xsd2er', ...argv);
    targets = await loadEveryTarget(home, origin!, [documentsOf(xsd)]);
  }, 240_000);

  afterAll(async () => {
    await targets?.drop();
  });

  for (const [target, options] of targetTests)
    test(`${target} holds the rows that PostgreSQL holds`, options, async () => {
      let filled = 0;
      for (const name of [
        ...targets.model.tables.map((table) => table.name),
        '_documents',
        '_unmapped',
        '_lexical',
      ]) {
        const expected = (await targets.rows('postgresql', name)) ?? [];
        if (expected.length > 0) filled += 1;
        expect((await targets.rows(target, name)) ?? [], name).toEqual(expected);
      }
      expect(filled).toBeGreaterThan(5);
    });
});
