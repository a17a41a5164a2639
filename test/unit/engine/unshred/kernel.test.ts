/** The kernel for elements writes what TypeScript alone writes, wherever blocks of rows end, and refuses what is not plain. */
import { describe, expect, it } from 'vitest';
import type { RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { createDocumentWriter } from '../../../../src/engine/unshred/document-writer.ts';
import type { DocumentRows, RowBlock, RowBlocks } from '../../../../src/engine/unshred/rows/document-rows.ts';
import { memoryDocumentRows } from '../../../support/memory/document-rows.ts';
import { bytesOf, compiled, inferred, modelOf, shred } from '../../../support/models/shredding.ts';
import { groupModel } from '../../../support/round-trip/corpus.ts';
import { constructs } from './constructs.ts';

/** The same rows, so many in a block; one that is given back is of no more use. */
function inBlocksOf(count: number, rows: DocumentRows): DocumentRows {
  const split = (blocks: RowBlocks): RowBlocks => {
    let block: RowBlock | null = null;
    let at = 0;
    return {
      async next() {
        if (block === null || at >= block.rows) [block, at] = [await blocks.next(), 0];
        if (block === null) return null;
        const width = block.cells.length / block.rows;
        const taken = Math.min(count, block.rows - at);
        const cells = block.cells.slice(at * width, (at + taken) * width);
        at += taken;
        // of rows that lie one behind the other
        const begin = cells.find((from, index) => index % 2 === 0 && from >= 0) ?? 0;
        const bytes = block.bytes.slice(begin, Math.max(begin, cells.at(-1)!));
        const own = cells.map((place) => (place < 0 ? -1 : place - begin));
        return { bytes, cells: own, rows: taken };
      },
      giveBack({ bytes, cells }) {
        bytes.fill(0x21);
        cells.fill(0);
      },
    };
  };
  return {
    ...rows,
    table: async (index) => {
      const blocks = await rows.table(index);
      return blocks === null ? null : split(blocks);
    },
  };
}

interface Written {
  readonly documents: readonly string[];
  readonly rows: Float64Array;
}

async function written(
  model: RelationalModel,
  rows: DocumentRows,
  count: number,
  kernelAfter: number,
): Promise<Written> {
  const writer = createDocumentWriter(model, rows, { kernelAfter });
  const documents: string[] = [];
  for (let key = 1; key <= count; key += 1) {
    const pieces: Uint8Array[] = [];
    await writer.write(String(key), (bytes) => void pieces.push(bytes.slice()));
    documents.push(Buffer.concat(pieces).toString());
  }
  return { documents, rows: writer.rowCounts };
}

const levels = [0, 2, 3] as const;

describe.each(constructs)('$name', ({ xsd, documents }) => {
  // twice, so that rows of the next document lie behind those of each
  const bytes = [...documents, ...documents].map(bytesOf);
  const source = compiled(xsd);

  it.each(levels)('is the same with blocks of few rows, at level %i', async (mapLevel) => {
    const model = groupModel(source, mapLevel, bytes);
    const rows = memoryDocumentRows(shred(model, bytes));
    const alone = await written(model, rows, bytes.length, Infinity);
    for (const count of [1, 2, 5])
      for (const kernelAfter of [0, Infinity])
        expect(await written(model, inBlocksOf(count, rows), bytes.length, kernelAfter)).toEqual(alone);
    expect(await written(model, rows, bytes.length, 3)).toEqual(alone);
  });
});

const source = compiled(
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="list"><xs:complexType><xs:sequence>
    <xs:element name="item" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="item" minOccurs="0" type="xs:string"/><xs:element name="sub" minOccurs="0" maxOccurs="unbounded" type="xs:string"/></xs:sequence>
    <xs:attribute name="n" type="xs:string"/></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>`,
);
const model = modelOf(source, 1);
const references = '&amp; &lt; > " &#9; &#10; &#13; é 東京 &#x10FFFF; ]]&gt;';
const values = [references, references.repeat(9), 'x'.repeat(15) + '&amp;', 'x'.repeat(31) + '&lt;', '', ' '];
const items = (value: string): string =>
  `<item n="${value.replaceAll('"', '&quot;')}"><item>${value}</item><sub>${value}</sub><sub/></item>`;

const timed = (time: string): string => `<at on="2024-03-01T${time}"><stop>2024-01-01T${time}</stop></at>`;

describe('values', () => {
  it.each([
    ['of any length, with characters that are written as references', values],
    ['longer than what the kernel writes at once', ['y'.repeat(40_000), `&amp;${'z'.repeat(70_000)}`]],
  ])('%s', async (_, texts) => {
    const documents = [`<list>${texts.map(items).join('')}</list>`, `<list>${items('last')}</list>`];
    const rows = memoryDocumentRows(shred(model, documents));
    const alone = await written(model, rows, 2, Infinity);
    expect(await written(model, rows, 2, 0)).toEqual(alone);
    expect(alone.documents[0]).toContain(`<sub>${texts[0]!.slice(0, 10)}`);
  });

  it('at offsets from UTC, in blocks of few rows', async () => {
    const times = [
      '10:00:00Z',
      '10:00:00+02:00',
      '01:30:00Z',
      '23:00:00-05:30',
      '00:15:00.5+14:00',
      '09:00:00Z',
    ];
    const content = `${[...times, ...times].map((time) => timed(time).repeat(2)).join('')}</times>`;
    const document = `<times>${content}`;
    const ofTimes = modelOf(inferred([document]), 3);
    const rows = memoryDocumentRows(shred(ofTimes, [document, document]));
    const alone = await written(ofTimes, rows, 2, Infinity);
    for (const count of [1, 2, 5])
      for (const kernelAfter of [0, Infinity])
        expect(await written(ofTimes, inBlocksOf(count, rows), 2, kernelAfter)).toEqual(alone);
    expect(alone.documents[1]).toContain(content);
  });
});
