/** Pruned models keep the names of their origin's default without recording them. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../../src/engine/map/build-model.ts';
import { withNamesOf, withoutNamesOf } from '../../../../../src/engine/map/names/history.ts';
import { pruneSourceModel } from '../../../../../src/engine/map/prune.ts';
import { packRelationalModel, unpackRelationalModel } from '../../../../../src/engine/model/packed/models.ts';
import type { RelationalModel } from '../../../../../src/engine/model/relational-model.ts';
import { compiled, modelOf, statisticsOf } from '../../../../support/models/shredding.ts';

const leg = (name: string, inner: string): string =>
  `<xs:element name="${name}" minOccurs="0" maxOccurs="9"><xs:complexType><xs:sequence>
    <xs:element name="stop" maxOccurs="9"><xs:complexType><xs:attribute name="${inner}" type="xs:int"/><xs:attribute name="lines" type="xs:NMTOKENS"/><xs:attribute name="at"/></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element>`;

const source = compiled(
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="trip"><xs:complexType><xs:sequence>${leg('out', 'rank')}${leg('back', 'order')}
    </xs:sequence></xs:complexType></xs:element></xs:schema>`,
);
const standard = modelOf(source, 3);

const drawn = (document: string, previous: RelationalModel, keepsDefaultNames = false): RelationalModel => {
  const statistics = statisticsOf([document]);
  return buildRelationalModel(pruneSourceModel(source, statistics), {
    mapLevel: 3,
    previous,
    keepSplits: false,
    met: { statistics, declared: source },
    keepsDefaultNames,
  });
};

const short = '<trip><back><stop order="1" lines="a b"/></back></trip>';
const long =
  '<trip><out><stop rank="1" lines="c" at="x"/></out><back><stop order="1" lines="a b"/></back></trip>';

const stored = (model: RelationalModel): RelationalModel => {
  const { plan, mappings } = packRelationalModel(model);
  return unpackRelationalModel(plan, () => mappings);
};

describe('names of a default', () => {
  it('are those of a pruned model, which does not record the others', () => {
    const recorded = drawn(short, stored(standard));
    const { formerTables, ...same } = recorded;
    expect(formerTables!.map(({ name }) => name)).toContain('out_stop');
    expect(drawn(short, stored(standard), true)).toEqual({ ...same, keepsDefaultNames: true });
  });

  it('go on in its next version as if it had recorded them', () => {
    const recorded = drawn(long, drawn(short, standard));
    const kept = stored(drawn(short, standard, true));
    const grown = drawn(long, withNamesOf(kept, stored(standard)));
    expect(grown.tables).toEqual(recorded.tables);
    expect(grown.tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['back_stop', 'out_stop']));
    const slim = withoutNamesOf(grown, stored(standard));
    expect(slim.formerTables).toBeUndefined();
    expect(drawn(long, withNamesOf(slim, standard)).tables).toEqual(grown.tables);
  });

  it('are left to it: what a pruned model alone called so stays recorded', () => {
    const gone = { name: 'own', path: '/trip/own', columns: [{ name: 'own_key', use: 'row_key' }] };
    const known = { name: 'trip', path: '/trip', columns: [{ name: 'left', use: 'value /trip/@left' }] };
    const slim = withoutNamesOf({ ...standard, formerTables: [gone, known] }, standard);
    expect(slim.formerTables).toEqual([gone, known]);
  });

  it('stay where documents also start with an element that stands in others', () => {
    const nested = compiled(
      `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
        <xs:element name="book"><xs:complexType><xs:sequence><xs:element ref="chapter" maxOccurs="9"/></xs:sequence></xs:complexType></xs:element>
        <xs:element name="chapter"><xs:complexType><xs:sequence><xs:element name="note" type="xs:string" maxOccurs="9"/></xs:sequence><xs:attribute name="no" type="xs:int"/></xs:complexType></xs:element>
      </xs:schema>`,
    );
    const first = modelOf(nested, 3);
    const statistics = statisticsOf([
      '<book><chapter no="1"><note>a</note></chapter></book>',
      '<chapter no="2"><note>b</note></chapter>',
    ]);
    const names = (previous?: RelationalModel): string[] =>
      buildRelationalModel(pruneSourceModel(nested, statistics), {
        mapLevel: 3,
        roots: ['book', 'chapter'].map((localName) => ({ namespaceUri: '', localName })),
        ...(previous === undefined ? {} : { previous, keepSplits: false }),
        met: { statistics, declared: nested },
      }).tables.map(({ name }) => name);
    const tables = first.tables.map(({ name }) => name);
    expect(tables).toEqual(['book', 'chapter', 'note']);
    expect(names(first).toSorted()).toEqual(tables);
  });

  it('make no table in a later version where a pruned one has the children in the row above', () => {
    const wrapped = compiled(
      `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
        <xs:complexType name="Notes"><xs:sequence><xs:element name="note" maxOccurs="unbounded"><xs:complexType><xs:sequence>
          <xs:element name="text" type="xs:string"/><xs:element ref="line" minOccurs="0"/></xs:sequence></xs:complexType></xs:element></xs:sequence><xs:attribute name="lang"/></xs:complexType>
        <xs:element name="order"><xs:complexType><xs:sequence><xs:element name="notes" type="Notes" minOccurs="0"/><xs:element ref="line" maxOccurs="9"/></xs:sequence></xs:complexType></xs:element>
        <xs:element name="line"><xs:complexType><xs:sequence><xs:element name="notes" type="Notes" minOccurs="0"/></xs:sequence><xs:attribute name="no"/><xs:attribute name="sku"/></xs:complexType></xs:element>
      </xs:schema>`,
    );
    const first = modelOf(wrapped, 3);
    expect(first.tables.map(({ name }) => name)).toContain('notes');
    const pruned = (document: string, previous: RelationalModel, keepSplits: boolean): RelationalModel => {
      const statistics = statisticsOf([document]);
      return buildRelationalModel(pruneSourceModel(wrapped, statistics), {
        mapLevel: 3,
        roots: [{ namespaceUri: '', localName: 'order' }],
        previous,
        keepSplits,
        met: { statistics, declared: wrapped },
        keepsDefaultNames: true,
      });
    };
    const short =
      '<order><notes><note><text>a</text></note></notes><line no="1"><notes><note><text>b</text></note></notes></line></order>';
    const before = pruned(short, first, false);
    expect(before.tables.map(({ name }) => name)).not.toContain('notes');
    const later = short.replace('no="1"', 'no="1" sku="x"');
    const after = pruned(later, withNamesOf(before, first), true);
    expect(after.tables.map(({ name }) => name)).toEqual(before.tables.map(({ name }) => name));
  });

  it('take no room: a row of few columns is not split because its default is', () => {
    const fields = Array.from(
      { length: 400 },
      (_, at) => `<xs:element name="field${at}" type="xs:string" minOccurs="0"/>`,
    );
    const large = compiled(
      `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="form"><xs:complexType><xs:sequence>${fields.join('')}</xs:sequence></xs:complexType></xs:element></xs:schema>`,
    );
    const first = modelOf(large, 3);
    expect(first.tables.length).toBeGreaterThan(1);
    const pruned = (document: string, previous: RelationalModel, keepSplits: boolean): RelationalModel => {
      const statistics = statisticsOf([document]);
      const met = { statistics, declared: large };
      const source = pruneSourceModel(large, statistics);
      return buildRelationalModel(source, {
        mapLevel: 3,
        previous,
        keepSplits,
        met,
        keepsDefaultNames: true,
      });
    };
    const before = pruned('<form><field3>a</field3></form>', first, false);
    const after = pruned(
      '<form><field3>a</field3><field5>b</field5><field399>c</field399></form>',
      withNamesOf(before, first),
      true,
    );
    expect(after.tables.map(({ name }) => name)).toEqual(['form']);
  });
});
