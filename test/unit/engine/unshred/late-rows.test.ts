/** Rows that others added to documents, or changed: they are written where parent key and position tell, or it is said which are not. */
import { describe, expect, it } from 'vitest';
import { InputError } from '../../../../src/engine/diagnostics.ts';
import { createDocumentWriter, writeLateDocument } from '../../../../src/engine/unshred/document-writer.ts';
import type { DocumentRows } from '../../../../src/engine/unshred/rows/document-rows.ts';
import { memoryDocumentRows } from '../../../support/memory/document-rows.ts';
import { compiled, modelOf, shred, type Row } from '../../../support/models/shredding.ts';

const source = compiled(
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="list"><xs:complexType><xs:sequence>
    <xs:element name="head" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="mark" maxOccurs="unbounded"><xs:complexType><xs:attribute name="m"/></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
    <xs:element name="item" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="sub" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:attribute name="k"/></xs:complexType></xs:element></xs:sequence>
    <xs:attribute name="n" type="xs:int"/></xs:complexType></xs:element><xs:element name="end" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType></xs:element></xs:schema>`,
);
const model = modelOf(source, 1);

const documents = [
  '<list><item n="1"><sub k="a"/><sub k="b"/></item><item n="2"/><end>x</end></list>',
  '<list><item n="3"><sub k="c"/></item><item n="4"><sub k="d"/></item></list>',
  '<list/>',
];
const shredded = shred(model, documents);
const keys = documents.map((_, at) => String(at + 1));

type Rows = Readonly<Record<string, readonly Row[]>>;

const consumer = (pieces: Uint8Array[]) => (bytes: Uint8Array) => void pieces.push(bytes.slice());
const textOf = (pieces: readonly Uint8Array[]) =>
  Buffer.concat(pieces)
    .toString()
    .replace(/^.*\n<list[^>]*?(\/?)>/, '<list$1>')
    .trimEnd();

/** The same by the kernel from the first element on, and by TypeScript alone. */
async function written(
  change: (rows: Record<string, Row[]>) => void,
  given = shredded,
): Promise<readonly string[]> {
  const byKernel = await writtenAfter(0, change, given);
  expect(await writtenAfter(Infinity, change, given)).toEqual(byKernel);
  return byKernel;
}

/** As of files of text: what is given back holds other rows then. */
function usedAgain(rows: DocumentRows): DocumentRows {
  return {
    ...rows,
    table: async (index) => {
      const blocks = await rows.table(index);
      return blocks === null
        ? null
        : {
            async next() {
              const block = await blocks.next();
              return block === null ? null : { ...block, bytes: Buffer.from(block.bytes) };
            },
            giveBack({ bytes, cells }) {
              bytes.fill(0x39);
              cells.fill(0);
            },
          };
    },
  };
}

/** What er2xml does: one pass, and once more each document that was met too late. */
async function writtenAfter(
  kernelAfter: number,
  change: (rows: Record<string, Row[]>) => void,
  given = shredded,
): Promise<readonly string[]> {
  const rows = structuredClone(given.rows) as Record<string, Row[]>;
  change(rows);
  const of = (all: Rows) => usedAgain(memoryDocumentRows({ ...given, rows: all }));
  const ofDocument = (key: string) =>
    of(
      Object.fromEntries(
        Object.entries(rows).map(([name, all]) => [name, all.filter((row) => row['document_key'] === key)]),
      ),
    );
  const writer = createDocumentWriter(model, of(rows), { kernelAfter });
  const texts = new Map<string, string>();
  for (const key of keys) {
    const pieces: Uint8Array[] = [];
    await writer.write(key, consumer(pieces)).catch((error: unknown) => {
      if (!(error instanceof InputError) || !writer.late.has(key)) throw error;
    });
    texts.set(key, textOf(pieces));
  }
  for (const key of writer.late) {
    const pieces: Uint8Array[] = [];
    const { bytes } = await writeLateDocument(model, async () => ofDocument(key), key, consumer(pieces));
    expect(bytes).toBe(Buffer.concat(pieces).length);
    texts.set(key, textOf(pieces));
  }
  return keys.map((key) => texts.get(key)!);
}

const row = (rows: Record<string, Row[]>, table: string, like: Row, values: Row): void => {
  rows[table] = [...(rows[table] ?? []), { ...like, ...values }];
};

describe('rows that others added', () => {
  it('to the last document and to others stand where their positions tell, with rows below them', async () => {
    const texts = await written((rows) => {
      const item = rows['item']![0]!;
      row(rows, 'item', item, { item_key: '900', position: '2', n: '15' });
      row(rows, 'sub', rows['sub']![0]!, { sub_key: '700', item_key: '900', position: '1', k: 'new' });
      row(rows, 'sub', rows['sub']![0]!, { sub_key: '701', item_key: '1', position: '0', k: 'first' });
      row(rows, 'item', item, { item_key: '901', document_key: '2', list_key: '2', position: '0', n: '25' });
      row(rows, 'item', item, { item_key: '902', document_key: '3', list_key: '3', position: '1', n: '35' });
    });
    expect(texts).toEqual([
      '<list><item n="1"><sub k="first"/><sub k="a"/><sub k="b"/></item><item n="2"/><item n="15"><sub k="new"/></item><end>x</end></list>',
      '<list><item n="25"/><item n="3"><sub k="c"/></item><item n="4"><sub k="d"/></item></list>',
      '<list><item n="35"/></list>',
    ]);
  });

  it('below an element that had none, in the row of its parent', async () => {
    const texts = await written((rows) =>
      row(rows, 'mark', {}, { mark_key: '5', document_key: '1', list_key: '1', position: '1', m: 'x' }),
    );
    expect(texts[0]).toContain('<head><mark m="x"/></head>');
  });

  it('without a position come last', async () => {
    const texts = await written((rows) =>
      row(rows, 'item', rows['item']![0]!, { item_key: '900', position: null, n: '9' }),
    );
    expect(texts[0]).toMatch(/<item n="2"\/>.*<item n="9"\/>/);
  });
});

it('rows that got another parent go with what is below them', async () => {
  const texts = await written((rows) => {
    for (const sub of rows['sub']!)
      if (sub['k'] === 'a') Object.assign(sub, { item_key: '2', position: '1' });
    const [third] = rows['item']!.filter((item) => item['n'] === '3');
    Object.assign(third!, { document_key: '1', list_key: '1', position: '9' });
    for (const sub of rows['sub']!) if (sub['k'] === 'c') Object.assign(sub, { document_key: '1' });
  });
  expect(texts).toEqual([
    '<list><item n="1"><sub k="b"/></item><item n="2"><sub k="a"/></item><end>x</end><item n="3"><sub k="c"/></item></list>',
    '<list><item n="4"><sub k="d"/></item></list>',
    '<list/>',
  ]);
});

it('rows of many blocks that go to an earlier document leave what is unmapped to the rows behind them', async () => {
  const items = Array.from({ length: 20 }, (_, at) => `<item n="${at}"/>`).join('');
  const last = '<item n="20" odd="x"/>';
  const texts = await written(
    (rows) => {
      for (const [at, item] of rows['item']!.slice(20, 40).entries())
        Object.assign(item, { document_key: '1', list_key: '1', position: String(at + 1) });
    },
    shred(model, ['<list/>', `<list>${items}</list>`, `<list>${items}${last}</list>`]),
  );
  expect(texts).toEqual([`<list>${items}</list>`, `<list>${items}</list>`, `<list>${last}</list>`]);
});

describe('rows that have no place', () => {
  it('are told of by table and keys, with what to do', async () => {
    await expect(
      written((rows) => {
        for (const key of ['900', '901'])
          row(rows, 'sub', rows['sub']![0]!, { sub_key: key, item_key: '77', position: '1' });
      }),
    ).rejects.toThrow(
      /^the rows of sub with the keys 900, 901 have no place in the document: .* correct that key/,
    );
  });

  it('and tell no document are told of, too', async () => {
    await expect(
      written((rows) =>
        row(rows, 'item', rows['item']![0]!, { item_key: '900', document_key: null, position: '7' }),
      ),
    ).rejects.toThrow(/^the row of item with key 900 has no place .* correct document_key/);
  });
});
