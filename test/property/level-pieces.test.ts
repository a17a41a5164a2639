/** Places to cut a document at that stays one, looked for in pieces, each apart from the others: those of one pass over all of it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLevelCuts, levelAround } from '../../src/engine/shred/row-tag/tag-reader.ts';
import type { PieceOfRows } from '../../src/engine/shred/row-tag/pieces.ts';
import { countPieces, levelCutsOfPieces, surveyPiece } from '../../src/inputs/readable-ranges.ts';
import { Choices, decisions } from './choices/random.ts';
import { memberOf } from './choices/row-documents.ts';
import { holds, propertyTimeoutMs } from './choices/settings.ts';

/** Rows of several names within `<list level="">`, that hold the same names, among all that only looks like tags. */
function documentOf(choices: Choices): string {
  const misleading = (): string =>
    choices.pick([
      '<!-- <row> -->',
      '<!-- </row></list> ]]> ?> -->',
      '<?go <row> --> ]]>?>',
      '<!---->',
      '\n',
      '\r\n  ',
      '',
      ' ',
    ]);
  const content = (depth: number): string =>
    choices.pick([
      () => 'text',
      () => 'ä -- &gt; >',
      () => (choices.chance(5) ? 'stray --> ?> end' : ''),
      () => '<![CDATA[</row><row><!-- ]]>',
      () => '<![CDATA[ --> <row a="]]>',
      () => misleading(),
      () => (depth > 2 ? '' : element(depth + 1)),
    ])();
  function element(depth: number): string {
    const names = depth === 0 ? ['row', 'item', 'p:row', 'x'] : ['row', 'item', 'list', 'a', 'p:b'];
    const name = choices.pick(names);
    const attributes = choices.several(0, 2, (at) =>
      choices.pick([
        ` a${at}="/>"`,
        ` a${at}='--> ]]> "'`,
        ` a${at} = "&lt;row>"`,
        ` a${at}="<!-- "`.replace('<', ''),
      ]),
    );
    const declared = choices.chance(10) ? choices.pick([' xmlns="urn:o"', ' xmlns:p="urn:q"']) : '';
    const open = `<${name}${attributes.join('')}${declared}`;
    if (choices.chance(15)) return `${open}/>`;
    return `${open}>${choices.several(0, 4, () => content(depth)).join('')}</${name}>`;
  }
  const rows = choices.several(4, 40, () => {
    const odd = choices.chance(1) ? choices.pick(['text', '<![CDATA[x]]>', '&amp;']) : '';
    return `${element(0)}${misleading()}${odd}`;
  });
  const few = (): string => choices.several(0, 2, () => element(1)).join('\n');
  let body = `${tag}${choices.pick(['', '\n', 'text', few()])}${rows.join('')}</list>${few()}`;
  for (let depth = choices.between(0, 2); depth > 0; depth -= 1) {
    const name = choices.pick(['list', 'wrap']);
    body = `<${name} y="${depth}">${few()}${body}${few()}</${name}>`;
  }
  return `<?xml version="1.0"?><!-- <list> --><all xmlns:p="urn:p">${few()}${body}</all>${misleading()}`;
}

const tag = '<list level="">';

/** As it goes to another machine, and comes from one. */
function carried<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

describe('a document in pieces that stays one', { timeout: propertyTimeoutMs }, () => {
  it('has the places to cut of the whole', async () => {
    let [cut, pieces, readAgain] = [0, 0, 0];
    await holds(
      fc.tuple(decisions(600), decisions(20)),
      async ([ofDocument, ofPieces]) => {
        const choices = new Choices(ofPieces);
        const text = documentOf(new Choices(ofDocument));
        const whole = new TextEncoder().encode(text);
        // one that breaks off is not well-formed
        const bytes = choices.chance(5) ? whole.subarray(0, choices.between(1, whole.length)) : whole;
        const member = memberOf(bytes, choices.between(3, 5000));
        const others = choices
          .several(0, 1, () => choices.pick(['x', 'item']))
          .map((localName) => ({
            namespaceUri: '',
            localName,
          }));
        const level = {
          offset: Buffer.byteLength(text.slice(0, text.indexOf(tag))),
          folded: choices.chance(70) ? [] : others,
          headBytes: choices.between(0, 300),
          tailBytes: choices.pick([0, 1_000_000]),
        };
        const rangeBytes = choices.between(15, 500);
        const cuts = createLevelCuts(level, rangeBytes, 0)!;
        const expected = cuts.write(bytes) ? cuts.end() : null;
        const beginning = bytes.subarray(0, level.offset + tag.length);
        const around = levelAround(level, beginning, 0);
        // it breaks off before
        if (around === null || bytes.length < level.offset + tag.length) return;
        // a name that no row has yet, and one that others have, too
        const rowNames = choices.shuffled(['row', 'item', 'x']).slice(0, choices.between(1, 3));
        const surveying = carried({ rows: { level: { ...level, around, rowNames } }, rangeBytes });
        const surveyed: (PieceOfRows | null)[] = [];
        for (let number = 0; number < (await countPieces(member, surveying)); number += 1)
          surveyed.push(carried(await surveyPiece(member, number, surveying)));
        let reads = 0;
        const parts = {
          ...member.parts!,
          bytes: (range: { readonly from: number; readonly to: number }) => {
            reads += 1;
            return member.parts!.bytes(range);
          },
        };
        const found = await levelCutsOfPieces({ ...member, parts }, surveyed, surveying);
        expect(found).toEqual(expected);
        if (found === null || found.cuts.length === 0) return;
        cut += 1;
        pieces += surveyed.length;
        readAgain += reads;
      },
      { runs: 240 },
    );
    expect(cut).toBeGreaterThan(0);
    expect(readAgain).toBeLessThan(pieces);
  });
});
