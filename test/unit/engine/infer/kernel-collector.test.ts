/** What WebAssembly counts is what TypeScript alone counts. */
import { describe, expect, test } from 'vitest';
import { createStatisticsCollector } from '../../../../src/engine/infer/collector.ts';
import type { DocumentStatistics } from '../../../../src/engine/infer/statistics.ts';
import { createRowElements } from '../../../../src/engine/shred/row-tag/elements.ts';
import { createNameTable } from '../../../../src/engine/xml/names/interned.ts';
import { createXmlTokenizer } from '../../../../src/engine/xml/tokenizer/portable.ts';
import type { XmlTokenizer } from '../../../../src/engine/xml/tokens.ts';
import { corpusFiles, readCorpus } from '../../../support/corpus.ts';
import { statisticsOf, type CollectingOptions } from '../../../support/models/shredding.ts';
import { needs, some } from '../../../support/needs.ts';

const plain: CollectingOptions = { kernelFrom: Infinity };
const kernel: CollectingOptions = { kernelFrom: 1 };

const ways: readonly CollectingOptions[] = [
  kernel,
  { ...kernel, sharesMemory: true },
  { ...kernel, windowBytes: 7 },
  { ...kernel, windowBytes: 61 },
];

function expectSame(documents: readonly string[], options: CollectingOptions = {}): void {
  const expected = statisticsOf(documents, { ...plain, ...options });
  for (const way of ways)
    expect(statisticsOf(documents, { ...way, ...options }), JSON.stringify(way)).toEqual(expected);
}

function valuesOf(values: readonly string[]): string[] {
  const escaped = values.map((value) => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;'));
  return [
    `<a>${escaped.map((value) => `<v>${value}</v>`).join('')}</a>`,
    `<a>${escaped.map((value) => `<v w="${value.replaceAll('"', '&quot;')}"/>`).join('')}</a>`,
  ];
}

const values: Readonly<Record<string, readonly string[]>> = {
  integers: ['1', '0', '-1', '42', '999999999999999', '1000000000000000', '-7'],
  'long integers': ['123456789012345678', '99999999999999999999', '123456789012345679', '5'],
  decimals: ['1.5', '0.25', '-0.5', '12.00', '12.0', '12', '123456789.123456789'],
  'numbers that keep their form': ['01', '1', '007', '-0', '+1', '1.', '.5', '1e3', '00.5', '1.0', '1.00'],
  'numbers of a thousand digits': [
    '9'.repeat(999),
    '9'.repeat(1000),
    '9'.repeat(1001),
    `0.${'3'.repeat(250)}`,
  ],
  'a number that becomes a text': ['1', '2.5', '3x', '4'],
  booleans: ['true', 'false', 'true'],
  'no booleans': ['true', 'False', 'truth'],
  'below one': ['.5', '-.5', '12', '0.25', '.125', '-3', `.${'7'.repeat(250)}`, `.${'7'.repeat(999)}`],
  'no numbers with a point': ['.', '-.', '.5.', '..5', '.5x', '-.0', '.00'],
  exponents: ['1.5E-4', '-2.5e+38', '0e+000', '12', '-0.0E1', '1.25', `1.${'5'.repeat(60)}E5`],
  'too long an exponent': [`1.${'5'.repeat(61)}E5`, '1.5E39', '1.5E1000'],
  'no exponents': ['1.5E', '1.5E+', '12E4', '1.E5', '-E5', '00.5E5', '1.5E5x', 'e5'],
  dates: ['2026-01-31', '2024-02-29', '0001-01-01'],
  'no dates': ['2026-01-31', '2023-02-29'],
  'dates of a later century': ['12026-01-31', '2026-01-31'],
  'dates with a zone': ['2026-01-31Z'],
  times: ['23:59:59', '00:00:00.123456', '12:30:00', '12:30:00.123456789'],
  'end of the day': ['24:00:00'],
  'times with a zone': ['23:59:59Z'],
  'too many digits of a second': ['00:00:00.1234567890', '00:00:00.'],
  'local times': ['2026-01-31T10:11:12', '2026-01-31T10:11:12.5'],
  'times with what only looks like an offset': [
    '2026-01-31T10:11:12-05:3',
    `2026-01-31T10:11:12.${'1'.repeat(60)}+05:30`,
    '2026-01-31 10:11:12+05:30',
    `from 9 to ${'2026-01-31T10:11:12+05:30'.repeat(40)}`,
  ],
  'times with white space around them': [
    '\n    2026-01-31T10:11:12+05:30\n  ',
    `${' '.repeat(487)}2026-01-31T10:11:12+05:30`,
    `${' '.repeat(488)}2026-01-31T10:11:12+05:30`,
    ' '.repeat(100),
  ],
  'times in zones': ['2026-01-31T10:11:12Z', '2026-01-31T10:11:12.123+14:00', '2026-01-31T10:11:12-05:30'],
  'no zones': ['2026-01-31T10:11:12+14:01', '2026-01-31T10:11:12+1400', '2026-01-31T25:11:12Z'],
  'calendar, then text': ['2026-01-31', '2026-01-31T10:11:12Z', 'x'],
  texts: ['b', 'a', 'Zürich', '東京', '😀', 'z', '', ' ', 'a b'],
  'long texts': ['m'.repeat(199), 'm'.repeat(201), 'a'.repeat(300), 'z'.repeat(900), 'ü'.repeat(150), 'n'],
  'very long texts': ['m'.repeat(9000), `${'é'.repeat(5000)}x`, 'k', '1'.repeat(20_000), '2'.repeat(8193)],
  many: Array.from({ length: 700 }, (_, n) => String((n * 7919) % 1000)),
  'many texts': Array.from({ length: 700 }, (_, n) => `v${(n * 7919) % 500}`),
};

describe.each(some(Object.entries(values), 5))('values: %s', (_, list) => {
  test('in elements and attributes, in both orders', () => {
    for (const order of [list, list.toReversed()])
      for (const document of valuesOf(order)) expectSame([document]);
  });

  test('without samples', () => {
    expectSame(valuesOf(list), { samples: false });
  });
});

const orders = Array.from(
  { length: 40 },
  (_, n) =>
    `<order id="${n}"><date>2026-01-${String(1 + (n % 28)).padStart(2, '0')}</date>${'<line q="é&amp;1">1.50</line>'.repeat(n % 4)}${n % 7 === 0 ? '<note>Zürich</note>' : ''}</order>`,
);

describe('many small documents', () => {
  test('are counted alike, whichever of them the kernel begins with', () => {
    const expected = statisticsOf(orders, plain);
    for (const kernelFrom of [1, 30, 200, 400])
      expect(statisticsOf(orders, { kernelFrom }), `${kernelFrom} records`).toEqual(expected);
  });

  test('are counted alike where they are parts of a larger one', () => {
    const whole = `<orders>${'<!-- x -->'.repeat(3000)}${orders.join('\n')}</orders>`;
    const counted = (kernelFrom: number): DocumentStatistics => {
      const names = createNameTable();
      const collector = createStatisticsCollector(names, { samples: true, kernelFrom });
      const rows = createRowElements({ namespaceUri: null, localName: 'order' }, names, {
        begin: () => collector.beginDocument(),
        consume: (batch) => collector.consume(batch),
        end: (bytes) => collector.endDocument(bytes),
      });
      const tokenizer: XmlTokenizer = createXmlTokenizer({
        names,
        onBatch: (batch) => rows.consume(batch, (index) => tokenizer.locate(index)),
      });
      tokenizer.write(new TextEncoder().encode(whole));
      tokenizer.end();
      return collector.statistics;
    };
    expect(counted(1)).toEqual(counted(Infinity));
    expect(counted(1)).toEqual(statisticsOf(orders, plain));
  });
});

const wide = Array.from({ length: 300 }, (_, n) => n);
const documents: Readonly<Record<string, readonly string[]>> = {
  'order, repetition and absence': [
    '<a><b/><c/><b/><d/></a>',
    '<a><d/><b/></a>',
    '<r><a><b/><b/></a><a/><a><c/><b/></a></r>',
  ],
  'mixed content': ['<a>x<b>y</b>z<c/> <b> </b>\n</a>', '<a> <b>1</b> </a>', '<a>only text</a>'],
  'text in pieces': [
    '<a><b>1<!-- c -->2</b><b><![CDATA[3]]>4</b><b>&#53;&lt;6</b><b><?p?></b><b></b><b><!-- c --></b><b>\r\n7\r\n</b></a>',
  ],
  recursion: [
    '<a><b><a><c><b><a/></b></c></a></b><b/></a>',
    '<a><a><a/><b/></a><b><b>t</b></b></a>',
    '<n><n><m/><n/></n><m/></n>',
  ],
  attributes: [
    '<a><b x="1" y="2"/><b y="3" x="4" z=""/><b z="5"/><b/></a>',
    `<a>${wide.map((n) => `<b x${n}="${n}" x${299 - n}a="v"/>`).join('')}</a>`,
  ],
  'xsi and namespaces': [
    '<a xmlns="urn:a" xmlns:p="urn:p" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="urn:a a.xsd"><p:b xsi:nil="true" p:x="1" x="2"/><p:b xsi:nil="true" xmlns:p="urn:q"/><b xsi:type="t" xmlns:q="urn:p" q:x="3"/></a>',
  ],
  'elements of many kinds': [
    `<a>${wide.map((n) => `<b${n}/>`).join('')}<c>${wide.map((n) => `<b${299 - n}>${n}</b${299 - n}>`).join('')}</c></a>`,
    `<a>${wide.map((n) => `<b${n}/>`).join('')}${wide.map((n) => `<b${(n * 7) % 300}/>`).join('')}</a>`,
  ],
  'new children in elements that are open': [
    `<a><a><b/><c/><d/><e/><f/></a>${wide.map((n) => `<b${n}/><a><g${n}/></a>`).join('')}</a>`,
  ],
  'documents that break off': [
    '<a><b>1</b><c>',
    '<a><b>2</b></a>',
    '<a><c><d x="1">',
    '<a><b/><c><d/></c></a>',
  ],
  depth: [`${'<d>x'.repeat(1500)}${'</d>'.repeat(1500)}`, '<d><e/></d>'],
};

describe.each(some(Object.entries(documents), 4))('documents: %s', (_, list) => {
  test('each, and all together', () => {
    for (const document of list) expectSame([document]);
    expectSame(list);
  });

  test('where the kernel comes to it after the first', () => {
    const large = `<a>${'<b>1</b>'.repeat(2000)}</a>`;
    const all = [...list, large, ...list];
    expect(statisticsOf(all, { sharesMemory: true })).toEqual(statisticsOf(all, plain));
    expect(statisticsOf(all)).toEqual(statisticsOf(all, plain));
  });
});

test('goes on without the kernel wherever that has no more room', () => {
  const document = `<a>${wide.map((n) => `<b${n} x${n}="${n}"><c>${n}</c> <d${n % 7}>${n}<e/></d${n % 7}></b${n}>`).join('')}</a>`;
  const again = ['<a><b1><c>x</c></b1></a>', document];
  const expected = statisticsOf([document, ...again], plain);
  for (const kernelPages of [30, 78, 80, 84, 86, 88, 90, 92, 94, 96, 98, 100, 104, 108, 116])
    expect(
      statisticsOf([document, ...again], { ...kernel, kernelPages, windowBytes: 999 }),
      String(kernelPages),
    ).toEqual(expected);
});

test(
  'the documents of the corpus that are not large',
  { ...needs('whole run'), timeout: 60_000, ...needs('corpus') },
  () => {
    const folders = Map.groupBy(corpusFiles('', '.xml'), (file) => file.split('/')[0]!);
    for (const [folder, files] of folders) {
      const all = files.map((file) => readCorpus(file)).filter(({ length }) => length < 100_000);
      const found = statisticsOf(all, { ...kernel, sharesMemory: true });
      expect(found, folder).toEqual(statisticsOf(all, plain));
    }
  },
);
