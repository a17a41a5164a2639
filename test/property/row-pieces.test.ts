/** Places to cut a document at that are looked for in pieces, each apart from the others: those of one pass over all of it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultEngineLimits } from '../../src/engine/limits.ts';
import { createLevelCuts, levelAround, createQuickCuts } from '../../src/engine/shred/row-tag/tag-reader.ts';
import type { PieceOfRows } from '../../src/engine/shred/row-tag/pieces.ts';
import type { RowElementName } from '../../src/engine/shred/row-tag/elements.ts';
import { createTokenizerKernels } from '../../src/engine/xml/tokenizer/fast.ts';
import type { InputMember } from '../../src/inputs/members.ts';
import {
  splitDocument,
  countPieces,
  levelCutsOfPieces,
  rangesOfPieces,
  surveyPiece,
} from '../../src/inputs/readable-ranges.ts';
import { Choices, decisions } from './choices/random.ts';
import { bytesOf, documentOf, memberOf, rowTag } from './choices/row-documents.ts';
import { holds, propertyTimeoutMs } from './choices/settings.ts';

const kernels = createTokenizerKernels();

/** Whether one pass over the tags of the document tells where it may be cut. */
async function isQuick(member: InputMember, name: RowElementName, rangeBytes: number): Promise<boolean> {
  const bytes = Buffer.concat(await Array.fromAsync(member.chunks()));
  const markBytes = bytes[0] === 0xef ? 3 : 0;
  const quick = createQuickCuts(name, rangeBytes, markBytes)!;
  return quick.write(bytes.subarray(markBytes)) && quick.end() !== null;
}

describe('a document in pieces', { timeout: propertyTimeoutMs }, () => {
  it('has the ranges of the whole', async () => {
    let pieces = 0;
    let readAgain = 0;
    let ranges = 0;
    let refused = 0;
    await holds(
      fc.tuple(decisions(300), decisions(100)),
      async ([ofDocument, ofPieces]) => {
        const choices = new Choices(ofPieces);
        const whole = bytesOf(documentOf(new Choices(ofDocument), choices.chance(10)));
        // one that breaks off is not well-formed
        const bytes = choices.chance(10) ? whole.subarray(0, choices.between(1, whole.length)) : whole;
        // a byte order mark comes in one
        const member = memberOf(bytes, choices.between(3, 5000));
        const name = choices.pick([
          rowTag,
          rowTag,
          { namespaceUri: 'urn:p', localName: 'row' },
          { namespaceUri: '', localName: 'row' },
          { namespaceUri: 'urn:1', localName: 'row' },
          { namespaceUri: null, localName: 'a' },
        ]);
        const surveying = { rows: { rowTag: name }, rangeBytes: choices.between(1, 200) };
        const count = await countPieces(member, surveying);
        const limits = defaultEngineLimits;
        const expected = await splitDocument(member, {
          ...surveying.rows,
          rangeBytes: surveying.rangeBytes,
          limits,
          kernels,
        });
        if (count === 0) {
          expect(expected).toBeNull();
          return;
        }
        const surveyed: (PieceOfRows | null)[] = [];
        for (let number = 0; number < count; number += 1)
          surveyed.push(
            // as it comes from another machine
            JSON.parse(JSON.stringify(await surveyPiece(member, number, surveying))) as PieceOfRows | null,
          );
        let reads = 0;
        const parts = {
          ...member.parts!,
          bytes: (range: { readonly from: number; readonly to: number }) => {
            if (range.to === bytes.length && range.to - range.from > 1) reads += 1;
            return member.parts!.bytes(range);
          },
        };
        const found = await rangesOfPieces({ ...member, parts }, surveyed, surveying, 1);
        if (!(await isQuick(member, name, surveying.rangeBytes))) {
          refused += 1;
          expect(found).toBeNull();
          return;
        }
        expect(found).toEqual((expected ?? []).map((range) => ({ ...range, sha256: '' })));
        pieces += count;
        readAgain += reads;
        ranges += found?.length ?? 0;
      },
      { runs: 1000 },
    );
    expect(ranges).toBeGreaterThan(100);
    expect(refused).toBeGreaterThan(10);
    expect(readAgain).toBeGreaterThan(10);
    // most are right at once
    expect(readAgain).toBeLessThan(pieces / 2);
  });

  it('is read once where each piece begins at a row, whatever stands around', async () => {
    const row = '<row><a>1</a></row>\n';
    const sections = Array.from(
      { length: 30 },
      (_, at) => `<section of="${at}">${row.repeat(at % 7)}</section>`,
    );
    const text = `<?xml version="1.0"?><list at="1">${sections.join('')}${row.repeat(200)}</list>`;
    const member = memberOf(new TextEncoder().encode(text), 100);
    const surveying = { rows: { rowTag }, rangeBytes: 150 };
    const count = await countPieces(member, surveying);
    const surveyed = await Promise.all(
      Array.from({ length: count }, (_, number) => surveyPiece(member, number, surveying)),
    );
    const unread = {
      ...member,
      parts: {
        ...member.parts!,
        bytes: ({ from, to }: { readonly from: number; readonly to: number }) => {
          // what stands before the root, and the first byte of each range
          expect(from === 0 || to === from + 1).toBe(true);
          return member.parts!.bytes({ from, to });
        },
      },
    };
    const found = await rangesOfPieces(unread, surveyed, surveying, 1);
    const limits = defaultEngineLimits;
    const expected = await splitDocument(member, {
      ...surveying.rows,
      rangeBytes: surveying.rangeBytes,
      limits,
      kernels,
    });
    expect(expected!.length).toBeGreaterThan(20);
    expect(found).toEqual(expected!.map((range) => ({ ...range, sha256: '' })));
  });

  it('is read once at a level where rows of any name follow one another', async () => {
    const rows = Array.from(
      { length: 400 },
      (_, at) =>
        `<p:${at % 3 === 0 ? 'a' : 'b.c'} n="${at}"><d>x</d><!-- <p:x> --></p:${at % 3 === 0 ? 'a' : 'b.c'}>\r\n`,
    );
    const head = '<?xml version="1.0"?>\n<list xmlns:p="urn:p"><title/><all of="400">';
    const bytes = new TextEncoder().encode(`${head}${rows.join('')}</all><tail/></list>`);
    const member = memberOf(bytes, 100);
    const rangeBytes = 1000;
    const found = {
      offset: head.indexOf('<all'),
      folded: [{ namespaceUri: '', localName: 'title' }],
      headBytes: 500,
      tailBytes: 1_000_000,
    };
    const around = levelAround(found, bytes.subarray(0, head.length), 0)!;
    expect(around.tags).toEqual(['<list xmlns:p="urn:p">', '<all of="400">']);
    const surveying = { rows: { level: { ...found, around, rowNames: ['a', 'b.c'] } }, rangeBytes };
    const count = await countPieces(member, surveying);
    const surveyed = await Promise.all(
      Array.from({ length: count }, (_, number) => surveyPiece(member, number, surveying)),
    );
    const unread = {
      ...member,
      parts: { ...member.parts!, bytes: () => expect.unreachable('a piece is read again') },
    };
    const cuts = createLevelCuts(found, rangeBytes, 0)!;
    expect(cuts.write(bytes)).toBe(true);
    const expected = cuts.end()!;
    expect(expected.cuts.length).toBeGreaterThan(15);
    expect(expected.isSole).toBe(true);
    expect(await levelCutsOfPieces(unread, surveyed, surveying)).toEqual(expected);
  });
});
