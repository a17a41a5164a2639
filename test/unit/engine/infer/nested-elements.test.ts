/** An element in one of its own name: recursion, or two things that are called the same. */
import { describe, expect, it } from 'vitest';
import { inferSourceModel } from '../../../../src/engine/infer/source-model.ts';
import { placesOfDeclarations, type DeclaredPlaces } from '../../../../src/engine/infer/declared-places.ts';
import { mergeStatistics } from '../../../../src/engine/infer/merge-statistics.ts';
import type { NameTable } from '../../../../src/engine/xml/tokens.ts';
import { compareXml } from '../../../support/documents/canonical-xml.ts';
import { roundTrip } from '../../../support/round-trip/in-memory.ts';
import { compiled, inferred, modelOf, outline, statisticsOf } from '../../../support/models/shredding.ts';

const comments = [
  '<topic><Comment id="1"><Date>2024-01-05</Date><Comment>first</Comment></Comment><Comment id="2"><Date>2024-01-06</Date></Comment></topic>',
  '<topic><Comment id="3"><Date>2024-01-07</Date><Comment>second</Comment><View ref="a"/></Comment></topic>',
];
const outlineOf = (documents: readonly string[], level: 0 | 1 | 2 | 3): string[] =>
  outline(modelOf(inferred(documents), level)).split('\n');

/** whatever was met first */
const shape = (given: readonly string[]): string[] =>
  outlineOf(given, 0)
    .map((line) =>
      line
        .split(/[:,] ?/)
        .toSorted()
        .join(' '),
    )
    .toSorted();

describe('another thing that is called the same', () => {
  it('is a column where it is a value, and what it stands in holds elements', () => {
    const expected = [
      'topic: topic_key bigint!, document_key bigint!',
      'comment: comment_key bigint!, document_key bigint!, topic_key bigint! -> topic, position integer!, id integer!, date date!, comment text, view_ref text',
    ];
    expect(outlineOf(comments, 1)).toEqual(expected);
    expect(outlineOf(comments, 3)).toEqual(expected);
    expect(outlineOf(['<Comment><Comment>text</Comment></Comment>'], 1)).toEqual([
      'comment: comment_key bigint!, document_key bigint!, comment text!',
    ]);
  });

  it('is so too where both have the same attributes', () => {
    expect(outlineOf(['<p><a id="1" x="1"><a id="2" x="1">v</a></a></p>'], 3)).toEqual([
      'p: p_key bigint!, document_key bigint!, a_id integer!, a_x integer!, a_a text!, a_a_id integer!, a_a_x integer!',
    ]);
  });

  it('has a table of its own where the two have nothing in common', () => {
    const document =
      '<list><code scheme="s"><owner>o</owner><code><rank>1</rank></code><code><rank>2</rank></code></code></list>';
    expect(outlineOf([document], 1)).toEqual([
      'list: list_key bigint!, document_key bigint!, code_scheme text!, code_owner text!',
      'code: code_key bigint!, document_key bigint!, list_key bigint! -> list, position integer!, rank integer!',
    ]);
  });

  it('comes back, also where later documents show that it is recursion', async () => {
    const later =
      '<topic><Comment id="1"><Comment><Comment>deep<b/></Comment></Comment><Date/></Comment></topic>';
    const source = inferred(comments);
    for (const level of [0, 1, 2, 3] as const) {
      for (const document of [...comments, later]) {
        const [written] = await roundTrip(modelOf(source, level), [document]);
        expect(compareXml(document, written!, { source, asText: true })).toEqual([]);
      }
    }
  });
});

describe('the same thing again', () => {
  it.each([
    ['it holds another one', '<n><n><n>1</n></n></n>'],
    ['both have something in common', '<n id="1"><n id="2"><m/></n></n>'],
    ['both have text', '<r><n>a<n>b</n></n></r>'],
    ['it has nothing', '<n id="1"><n/></n>'],
    ['what it stands in has nothing else', '<n><n id="1"/></n>'],
  ])('is one table: %s', (_, document) => {
    const { elements } = inferred([document]);
    expect(elements.filter(({ name }) => name.localName === 'n')).toHaveLength(1);
    expect(modelOf(inferred([document]), 1).tables.map((table) => table.name)).toContain('n');
  });

  it('counts as one: what not all of them have is not sure', () => {
    expect(outlineOf(['<part><name>a</name><size>1</size><part><name>b</name></part></part>'], 1)).toEqual([
      'part: part_key bigint!, document_key bigint!, parent_part_key bigint -> part, position integer, name text!, size integer',
    ]);
  });
});

it('is found out from all documents, in whatever order and however divided into runs', () => {
  const documents = [
    ...comments,
    '<topic><Comment id="4"><Comment id="5"><Comment/></Comment></Comment></topic>',
  ];
  const whole = inferSourceModel(statisticsOf(documents));
  for (const cut of [0, 1, 2, 3]) {
    const parts = [documents.slice(0, cut), documents.slice(cut)].map((part) => statisticsOf(part));
    expect(inferSourceModel(mergeStatistics(parts[0]!, parts[1]!))).toEqual(whole);
  }
  expect(shape(documents.toReversed())).toEqual(shape(documents));
  expect(whole.elements.filter(({ name }) => name.localName === 'Comment')).toHaveLength(1);
});

it('is not taken for the element around it whose type is another one, however documents are divided', () => {
  const set = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r" type="P"/>
    <xs:complexType name="P"><xs:sequence><xs:element name="part" minOccurs="0"><xs:complexType><xs:sequence>
      <xs:element name="code" type="xs:int" minOccurs="0"/><xs:element name="a" type="A" minOccurs="0"/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType>
    <xs:complexType name="A"><xs:sequence><xs:element name="part" type="Q"/></xs:sequence></xs:complexType>
    <xs:complexType name="Q"><xs:complexContent><xs:extension base="P"><xs:sequence><xs:element name="code" type="xs:int" minOccurs="0"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType></xs:schema>`);
  const placesWith = (names: NameTable): DeclaredPlaces => placesOfDeclarations(set, names);
  const documents = [
    '<r><part><code>1</code><a><part><part><code>2</code></part></part></a></part></r>',
    '<r><part><a><part><code>3</code></part></a></part></r>',
  ];
  const [first, second] = documents.map((document) => statisticsOf([document], { placesWith }));
  expect(mergeStatistics(first!, second!)).toEqual(statisticsOf(documents, { placesWith }));
});
