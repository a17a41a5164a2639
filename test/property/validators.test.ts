/** `--validate`, whichever validator is there: the same documents are rejected, for the same reason at the same place. */
import { describe, expect, it } from 'vitest';
import { standaloneXsdSet, type StandaloneXsdSet } from '../../src/engine/xsd/read/standalone-set.ts';
import { AppError } from '../../src/errors.ts';
import type { DocumentValidator } from '../../src/ports/processes.ts';
import { needs } from '../support/needs.ts';
import { byXmllint, inWebAssembly, rejectsOf, type CreateValidator } from '../support/models/validated.ts';
import { deviate } from './documents/deviations.ts';
import { holds, propertyTimeoutMs } from './choices/settings.ts';
import { xsdCases } from './xsd/cases.ts';

const utf8 = new TextEncoder();

/** What xmllint gets wrong as it streams, or says in other words. */
const unlike = [/ is not a valid value of the atomic type 'xs:ENTITY'/];

/** The rejects, without the count of faults: after the first one, programs go on in ways of their own; or why there are none. */
async function said(
  create: CreateValidator,
  set: StandaloneXsdSet,
  documents: readonly string[],
): Promise<readonly string[]> {
  let validator: DocumentValidator | null = null;
  try {
    validator = await create(set);
    const rejects = await rejectsOf(validator, documents);
    return rejects.map((text) => text.replace(/ \(the first of \d+ faults\)$/, ''));
  } catch (error) {
    if (error instanceof AppError && error.message.includes('cannot compile the XSD set')) return ['no set'];
    throw error;
  } finally {
    await validator?.close();
  }
}

describe('the validators', { timeout: propertyTimeoutMs, ...needs('xmllint') }, () => {
  it('tell the same of documents that deviate from random sets', async () => {
    let told = 0;
    await holds(
      xsdCases({ extreme: false, unusual: false, change: deviate }),
      async ({ files, documents }) => {
        const set = standaloneXsdSet(
          Object.entries(files).map(([name, text]) => ({ name, bytes: utf8.encode(text) })),
          { entries: [Object.keys(files)[0]!] },
        );
        const [own = [], others = []] = [
          await said(inWebAssembly, set, documents),
          await said(byXmllint, set, documents),
        ];
        told += own.length;
        const known = others.filter((text) => !unlike.some((one) => one.test(text)));
        if (known.length === others.length) expect(own).toEqual(others);
      },
      { runs: 30, share: 0.1 },
    );
    expect(told).toBeGreaterThan(0);
  });
});
