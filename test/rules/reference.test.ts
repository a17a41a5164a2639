/** The pages of docs/reference that are generated are those of the registries as they are now. */
import { describe, expect, it } from 'vitest';
import { referencePages } from '../../scripts/reference/pages.ts';
import { readText } from './project-files.ts';

/** A page without the alignment of its tables. */
const unaligned = (text: string): string =>
  text
    .replaceAll(/ *\| */g, '|')
    .replaceAll(/-{3,}/g, '---')
    .replaceAll(/ +$/gm, '');

describe('docs/reference', () => {
  it('is current: npm run docs:reference writes the pages anew', async () => {
    for (const [path, text] of Object.entries(await referencePages()))
      expect([path, unaligned(readText(path))]).toEqual([path, unaligned(text)]);
  });
});
