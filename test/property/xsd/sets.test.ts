/** Random XSD sets with random documents: what must hold for every one of them. */
import { describe, expect, it } from 'vitest';
import { compileXsdSet } from '../../../src/engine/xsd/compile-set.ts';
import { holds, propertyTimeoutMs } from '../choices/settings.ts';
import { xmllintComplaint } from '../xmllint.ts';
import { xsdCases } from './cases.ts';
import { needs } from '../../support/needs.ts';

const utf8 = new TextEncoder();

describe('XSD sets', { timeout: propertyTimeoutMs }, () => {
  it('compile without a word against them', async () => {
    await holds(
      xsdCases({ extreme: true }),
      ({ files }) => {
        const set = Object.entries(files).map(([name, text]) => ({ name, bytes: utf8.encode(text) }));
        expect(compileXsdSet(set, {}).diagnostics).toEqual([]);
      },
      { runs: 200 },
    );
  });

  it('and their documents are valid for another validator, too', needs('xmllint'), async () => {
    await holds(
      xsdCases({ extreme: false, unusual: false }),
      async ({ files, documents }) => expect(await xmllintComplaint(files, documents)).toBeNull(),
      { runs: 60, share: 0.2 },
    );
  });
});
