/** Keys of models of real standards, pruned by documents: every join is that of an element with the one that the column's comment names. */
import { describe, expect, it } from 'vitest';
import type { MapLevel } from '../../../../../src/engine/model/relational-model.ts';
import { readCorpus } from '../../../../support/corpus.ts';
import { isHere, needs, some } from '../../../../support/needs.ts';
import { prunedModel } from '../../../../support/models/figures.ts';
import { followKeys } from '../../../../support/models/key-meanings.ts';
import { compiled, modelOf, shred } from '../../../../support/models/shredding.ts';
import { corpusGroups, groupSource } from '../../../../support/round-trip/corpus.ts';

const documentsOfSet = 4;
const levels: readonly MapLevel[] = [3, 1, 2, 0];

describe('keys of pruned models', { timeout: 600_000, ...needs('corpus') }, () => {
  // small sets are enough to begin with
  const sets = corpusGroups().filter(({ xsd }) => xsd !== null);
  const small = sets.filter(({ xsd }) => /camt\.05[34].*08|Table1|routes_file|musicxml/.test(xsd!));

  it.each(isHere('whole run') ? sets : small)('lead to what they say: $xsd', (group) => {
    const documents = group.documents.slice(0, documentsOfSet).map((name) => readCorpus(name));
    const { source } = groupSource(group);
    let followed = 0;
    for (const level of some(levels, 2)) {
      const model = prunedModel(source, level, documents);
      const found = documents.map((document) => followKeys(shred(model, [document]), document, source));
      expect([level, found.flatMap(({ faults }) => faults)]).toEqual([level, []]);
      followed += found.reduce((sum, one) => sum + one.followed, 0);
    }
    expect(followed).toBeGreaterThan(0);
  });
});

it('a key that leads to another row is found', () => {
  const party =
    '<xs:sequence><xs:element name="name" type="xs:string"/><xs:element name="tag" maxOccurs="9"/></xs:sequence>';
  const source = compiled(
    `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="bill"><xs:complexType><xs:sequence>
    <xs:element name="seller" type="P"/><xs:element name="buyer" type="P" minOccurs="0"/></xs:sequence></xs:complexType></xs:element><xs:complexType name="P">${party}</xs:complexType></xs:schema>`,
  );
  const document = new TextEncoder().encode(
    '<bill><seller><name>S</name><tag/></seller><buyer><name>B</name><tag/></buyer></bill>',
  );
  const shredded = shred(modelOf(source, 3), [document]);
  expect(followKeys(shredded, document, source)).toEqual({ followed: 4, unknown: [], faults: [] });
  const changed = (table: string, column: string, value: string | null) => ({
    ...shredded,
    rows: {
      ...shredded.rows,
      [table]: shredded.rows[table]!.map((row, at) => (at === 0 ? { ...row, [column]: value } : row)),
    },
  });
  for (const wrong of [
    changed('bill', 'seller_key', '2'),
    changed('bill', 'buyer_key', null),
    changed('tag', 'p_key', '2'),
  ])
    expect(followKeys(wrong, document, source).faults).toHaveLength(1);
});
