/** Random documents in ranges that stay one: rows, findings and statistics are those of the document as a whole. */
import { describe, expect, it } from 'vitest';
import type { MapLevel } from '../../src/engine/model/relational-model.ts';
import { byValue, loaded } from '../support/models/loaded.ts';
import { inferred, modelOf } from '../support/models/shredding.ts';
import { Choices, decisions } from './choices/random.ts';
import { holds, propertyTimeoutMs } from './choices/settings.ts';

/** An element of few names at each depth, so that they recur; small ones, as rows and what stands around them are. */
function elementOf(choices: Choices, depth: number): string {
  const name = choices.pick([`a${depth}`, `b${depth}`, `p:c${depth}`, 'd']);
  const attributes = choices.several(
    0,
    2,
    (at) => ` x${at}="${choices.pick(['1', 'v &gt; w', '2026-01-01'])}"`,
  );
  const declared = choices.chance(10) ? ' xmlns="urn:other"' : '';
  const open = `<${name}${attributes.join('')}${declared}`;
  if (choices.chance(20)) return `${open}/>`;
  const content =
    depth < 3 && choices.chance(50)
      ? choices.several(1, 3, () => elementOf(choices, depth + 1)).join('')
      : choices.pick(['12', 'ä &amp; b', '', '1.50', '<![CDATA[<d>]]>']);
  return `${open}>${content}</${name}>`;
}

/** Rows below a root, or wrapped, between a head and a tail. */
function documentOf(choices: Choices): string {
  const between = (): string =>
    choices.pick([
      '',
      '\n',
      '\r\n  ',
      '<!-- <d> -->',
      '<?go <d>?>',
      choices.chance(4) ? 'stray &amp; text' : ' ',
    ]);
  const few = (most: number): string => choices.several(0, most, () => elementOf(choices, 1)).join('\n');
  const kinds = choices.several(1, 3, () => choices.between(1, 1000));
  const rows = choices.several(8, 40, () => {
    const kind = choices.pick(kinds) % 3;
    return `<row${kind}${kind === 2 ? ' xmlns="urn:r"' : ''}>${few(2)}</row${kind}>${between()}`;
  });
  let body = `${few(2)}${rows.join('')}${few(1)}`;
  for (let depth = choices.between(0, 2); depth > 0; depth -= 1)
    body = `${few(1)}<wrap${depth} y="${depth}">${body}</wrap${depth}>${few(1)}`;
  return `<?xml version="1.0"?><p:list xmlns:p="urn:p" at="1">${body}</p:list>${choices.pick(['', '\n', '<!-- e -->'])}`;
}

describe('a document in ranges', { timeout: propertyTimeoutMs }, () => {
  it('has the rows of the whole', async () => {
    let cut = 0;
    await holds(
      decisions(400),
      async (ofDocument) => {
        const choices = new Choices(ofDocument);
        const level = choices.between(0, 3) as MapLevel;
        const rangeBytes = choices.between(20, 400);
        const text = documentOf(choices);
        // other documents decide what may be absent, and what repeats
        const model = modelOf(inferred(choices.chance(50) ? [text] : [text, documentOf(choices)]), level);
        const document = new TextEncoder().encode(text);
        const whole = await loaded(model, document, null);
        const ranges = await loaded(model, document, rangeBytes);
        if (ranges.ranges > 1) cut += 1;
        const pieces = await loaded(model, document, rangeBytes, {}, true);
        expect([pieces.starts, pieces.log]).toEqual([ranges.starts, ranges.log]);
        expect(byValue(model, pieces)).toEqual(byValue(model, whole));
        expect(pieces.statistics).toEqual(whole.statistics);
        expect(byValue(model, ranges)).toEqual(byValue(model, whole));
        expect(ranges.statistics).toEqual(whole.statistics);
        expect(ranges.findings).toEqual(whole.findings);
        expect(ranges.nullAllowed).toEqual(whole.nullAllowed);
      },
      { runs: 200 },
    );
    expect(cut).toBeGreaterThan(0);
  });
});
