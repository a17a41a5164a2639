/** Times and the offsets that they are written with: to rows, by WebAssembly as by TypeScript, and back from instants and minutes. */
import { describe, expect, it } from 'vitest';
import type { RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { compareXml } from '../../../support/documents/canonical-xml.ts';
import { shredToBytes } from '../../../support/models/shredded-bytes.ts';
import { compiled, inferred, modelOf, shred, statisticsOf } from '../../../support/models/shredding.ts';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { pruneSourceModel } from '../../../../src/engine/map/prune.ts';
import { roundTrip } from '../../../support/round-trip/in-memory.ts';

const source = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="r"><xs:complexType><xs:sequence><xs:element name="t" type="xs:dateTime" minOccurs="0" maxOccurs="unbounded"/>
    <xs:element name="one" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="at" type="xs:dateTime" minOccurs="0"/></xs:sequence>
      <xs:attribute name="seen" type="xs:dateTime"/></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
</xs:schema>`);
const offsets = ['+02:00', '+00:00', '-05:30', '+14:00', '-14:00', '+05:45', '-00:30'];
const days = [
  '2024-02-28',
  '2024-02-29',
  '2023-03-01',
  '1900-03-01',
  '2000-02-28',
  '2023-12-31',
  '2024-01-01',
  '0002-01-01',
  '9998-12-31',
  '2024-06-30',
];
const clocks = ['00:00:00', '23:59:59', '12:30:15.5', '01:30:00.123456'];

const document = (times: readonly string[]): string =>
  `<r>${times.map((time) => `<t>${time}</t>`).join('')}${times.map((time) => `<one seen="${time}"><at>${time}</at></one>`).join('')}</r>`;

function pruned(documents: readonly string[]): RelationalModel {
  const statistics = statisticsOf(documents);
  const met = { statistics, declared: source };
  return buildRelationalModel(pruneSourceModel(source, statistics), { mapLevel: 3, met });
}

function expectSameByKernel(model: RelationalModel, text: string): void {
  for (const encoding of ['copy-text', 'csv', 'words', 'json-lines'] as const)
    for (const windowBytes of [37, 65_536]) {
      const way = { encoding, tokenizer: 'shared', windowBytes } as const;
      const expected = shredToBytes(model, [text], { ...way, kernelFrom: Infinity });
      expect(shredToBytes(model, [text], { ...way, kernelFrom: 0 })).toEqual(expected);
    }
}

const modelFrom = {
  inferred: (text: string) => modelOf(inferred([text]), 3),
  pruned: (text: string) => pruned([text]),
};

describe.each(['inferred', 'pruned'] as const)('times with offsets, in a model that is %s', (how) => {
  it('come back from the instant and the minutes, on every day and over its ends', async () => {
    const times = days.flatMap((day) =>
      clocks.flatMap((clock) => ['Z', ...offsets].map((offset) => `${day}T${clock}${offset}`)),
    );
    const text = document(times);
    const model = modelFrom[how](text);
    expectSameByKernel(model, text);
    expect(shred(model, [text]).rows['_lexical']).toBeUndefined();
    const [written] = await roundTrip(model, [text]);
    expect(compareXml(text, written!, { source, asText: true })).toEqual([]);
  });

  it('have the minutes ahead of UTC, and none where they are in UTC', () => {
    const text = document([
      '2024-01-01T10:00:00+02:00',
      '2024-01-01T10:00:00-05:30',
      '2024-01-01T10:00:00+00:00',
      '2024-01-01T10:00:00Z',
    ]);
    const { rows } = shred(modelFrom[how](text), [text]);
    expect(rows['t']!.map((row) => row['value_offset'])).toEqual(['120', '-330', '0', null]);
    expect(rows['one']!.map((row) => [row['seen_offset'], row['at_offset']])).toEqual([
      ['120', '120'],
      ['-330', '-330'],
      ['0', '0'],
      [null, null],
    ]);
  });
});

describe('what instant and minutes do not give back', () => {
  const usual = document(['2024-01-01T10:00:00+02:00', '2024-01-01T10:00:00Z']);
  const kept: readonly (readonly [written: string, minutes: string | null])[] = [
    ['2024-01-01T10:00:00-00:00', '0'],
    ['2024-01-01T10:00:00.000+02:00', '120'],
    ['2024-01-01T10:00:00.1234567-01:00', '-60'],
    ['2024-01-01T10:00:00.123456789012+02:00', '120'],
    ['2024-01-01T24:00:00+02:00', '120'],
    ['0001-01-01T00:00:00+02:00', '120'],
    ['9999-12-31T23:59:59-02:00', '-120'],
    ['2024-01-01T10:00:00', null],
    ['2024-01-01T24:00:00Z', null],
    ['\n  2024-01-01T10:00:00-00:00 ', '0'],
  ];

  it.each(kept)('%s is kept as written, with the minutes in their column', async (written, minutes) => {
    const text = document([written]);
    const model = pruned([usual]);
    expectSameByKernel(model, text);
    const { rows } = shred(model, [text]);
    expect(rows['t']!.map((row) => row['value_offset'])).toEqual([minutes]);
    expect(rows['_lexical']!.map(({ content }) => content!.trim())).toEqual(Array(3).fill(written.trim()));
    const [back] = await roundTrip(model, [text]);
    expect(compareXml(text, back!, { source, asText: true })).toEqual([]);
  });

  it.each([
    '-0044-03-15T10:00:00+02:00',
    '12024-01-01T10:00:00+02:00',
    '2016-12-31T23:59:60+02:00',
    '2024-01-01T10:00:00+14:01',
    '2024-02-30T10:00:00+02:00',
    'soon',
  ])('%s makes the column text', async (written) => {
    const text = document(['2024-01-01T10:00:00+02:00', written, '2024-01-01T10:00:00-05:00']);
    const model = pruned([usual]);
    expectSameByKernel(model, text);
    const { rows, unconvertedValues } = shred(model, [text]);
    expect(unconvertedValues.map(({ text: value }) => value)).toEqual(Array(3).fill(written));
    expect(rows['t']!.map((row) => row['value_offset'])).toEqual(['120', null, '-300']);
    const [back] = await roundTrip(model, [text]);
    expect(compareXml(text, back!, { source, asText: true })).toEqual([]);
  });

  it('is all that has an offset where the model has no column for it', async () => {
    const model = pruned([document(['2024-01-01T10:00:00Z'])]);
    const { rows } = shred(model, [usual]);
    expect(rows['_lexical']!.map(({ content }) => content)).toEqual(
      Array(3).fill('2024-01-01T10:00:00+02:00'),
    );
    const [back] = await roundTrip(model, [usual]);
    expect(compareXml(usual, back!, { source, asText: true })).toEqual([]);
  });
});
