/** Writing back where rows are missing or left over, piece by piece, and without holding the document. */
import { describe, expect, it } from 'vitest';
import type { RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { createDocumentWriter } from '../../../../src/engine/unshred/document-writer.ts';
import type { DocumentRows, RowBlocks } from '../../../../src/engine/unshred/rows/document-rows.ts';
import { textBlock, type TextRow } from '../../../../src/engine/unshred/rows/values.ts';
import { memoryDocumentRows } from '../../../support/memory/document-rows.ts';
import { writeDocuments } from '../../../support/round-trip/in-memory.ts';
import { compiled, modelOf, shred, type Row } from '../../../support/models/shredding.ts';

const source = compiled(
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="list"><xs:complexType><xs:sequence>
    <xs:element name="item" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="sub" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:attribute name="k"/></xs:complexType></xs:element></xs:sequence>
    <xs:attribute name="n" type="xs:int"/></xs:complexType></xs:element><xs:element name="end" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType></xs:element></xs:schema>`,
);
const model = modelOf(source, 1);
/** items without anything that has rows */
const plainModel = modelOf(
  compiled(
    `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="list"><xs:complexType><xs:sequence>
    <xs:element name="item" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:attribute name="n" type="xs:int"/></xs:complexType></xs:element>
    <xs:element name="end" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType></xs:element></xs:schema>`,
  ),
  1,
);
const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

const documents = [
  '<list><item n="1"><sub k="a"/><sub/></item><item n="2"/><end>x</end></list>',
  '<list><item n="3"/></list>',
];
const shredded = shred(model, documents);
const without = (table: string, dropped: (row: Row) => boolean) =>
  memoryDocumentRows({
    ...shredded,
    rows: { ...shredded.rows, [table]: (shredded.rows[table] ?? []).filter((row) => !dropped(row)) },
  });

describe('rows of several documents', () => {
  it('are taken one document after the other', async () => {
    const written = await writeDocuments(model, memoryDocumentRows(shredded), ['1', '2']);
    const head =
      '<?xml version="1.0" encoding="UTF-8"?>\n<list xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">';
    expect(written.map(text)).toEqual([
      `${head}<item n="1"><sub k="a"/><sub/></item><item n="2"/><end>x</end></list>\n`,
      `${head}<item n="3"/></list>\n`,
    ]);
  });

  it('that are gone leave the rest of the document as it is', async () => {
    const rows = without('item', (row) => row['n'] === '2');
    expect(text((await writeDocuments(model, rows, ['1']))[0])).toContain('<sub/></item><end>x</end></list>');
  });

  it('whose parent is gone are not passed over in silence', async () => {
    const rows = without('item', (row) => row['n'] === '1');
    const writer = createDocumentWriter(model, rows);
    expect(await writer.has('1')).toBe(true);
    await expect(
      writer.write('1', () => undefined).then(() => writer.write('2', () => undefined)),
    ).rejects.toThrow(/the row of sub with key 1 has no place/);
  });

  it('without a root make no document', async () => {
    const writer = createDocumentWriter(
      model,
      without('list', (row) => row['document_key'] === '1'),
    );
    expect([await writer.has('1'), await writer.has('2')]).toEqual([false, true]);
    await expect(writer.write('1', () => undefined)).rejects.toThrow(
      'document 1 has no row for its root element',
    );
  });
});

function item(at: number): TextRow {
  return [String(at + 1), '1', '1', String(at + 1), String(at)];
}

function blocksOf(count: number, row: (at: number) => TextRow, blockRows: number): RowBlocks {
  let at = 0;
  return {
    async next() {
      const rows = Array.from({ length: Math.min(blockRows, count - at) }, (_, index) => row(at + index));
      at += rows.length;
      return rows.length === 0 ? null : textBlock(rows, rows[0]!.length);
    },
  };
}

/** A root with `count` items, made as they are asked for, so many in a block; `onItem`: of each. */
function rowsOf(
  { tables }: RelationalModel,
  count: number,
  blockRows: number,
  onItem = (_at: number): void => undefined,
): DocumentRows {
  const root = tables.findIndex((table) => table.name === 'list');
  const child = tables.findIndex((table) => table.name === 'item');
  const told = (at: number): TextRow => {
    onItem(at);
    return item(at);
  };
  return {
    table: async (index) =>
      index === root
        ? blocksOf(1, () => ['1', '1', 'end'], 1)
        : index === child
          ? blocksOf(count, told, blockRows)
          : null,
    lexical: async () => null,
    unmapped: async () => null,
  };
}

describe('a long document', () => {
  it('is handed over in pieces, with back-pressure', async () => {
    let [waiting, largest, pieces] = [0, 0, 0];
    const writer = createDocumentWriter(model, rowsOf(model, 20_000, 1000));
    const size = await writer.write('1', async (bytes) => {
      expect(waiting).toBe(0);
      waiting += 1;
      await new Promise((resolve) => setImmediate(resolve));
      waiting -= 1;
      pieces += 1;
      largest = Math.max(largest, bytes.length);
    });
    expect(pieces).toBeGreaterThan(3);
    expect(largest).toBeLessThan(size / 3);
    expect(writer.rowCounts.reduce((sum, count) => sum + count, 0)).toBe(20_001);
  });

  it('is handed over while its rows come one by one, as long ones do', async () => {
    let [asked, atFirstPiece, pieces] = [0, 0, 0];
    const rows = rowsOf(plainModel, 30_000, 1, (at) => {
      asked = at;
    });
    await createDocumentWriter(plainModel, rows).write('1', () => {
      if (pieces === 0) atFirstPiece = asked;
      pieces += 1;
    });
    expect(pieces).toBeGreaterThan(3);
    expect(atFirstPiece).toBeLessThan(10_000);
  });
});
