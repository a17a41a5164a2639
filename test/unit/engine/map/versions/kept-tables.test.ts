/** Next versions in which a type is used at more places, or holds itself: what has the same path keeps its table. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../../src/engine/map/build-model.ts';
import type { MapLevel, RelationalModel } from '../../../../../src/engine/model/relational-model.ts';
import { expectSameMeanings } from '../../../../support/models/name-meanings.ts';
import { compiled, inferred, shred, type Row } from '../../../../support/models/shredding.ts';

const levels: readonly MapLevel[] = [0, 1, 2, 3];
const often = 'maxOccurs="unbounded"';
const maybe = `minOccurs="0" ${often}`;

const sequence = (children: string): string =>
  `<xs:complexType><xs:sequence>${children}</xs:sequence></xs:complexType>`;
const type = (name: string, children: string): string =>
  `<xs:complexType name="${name}"><xs:sequence>${children}</xs:sequence></xs:complexType>`;
const of = (name: string, typeName: string, occurs = ''): string =>
  `<xs:element name="${name}" type="${typeName}" ${occurs}/>`;
const id = of('id', 'xs:int');
const schema = (body: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${body}</xs:schema>`;
const rootOf = (children: string, types: string): string =>
  schema(`<xs:element name="r">${sequence(children)}</xs:element>${types}`);

function versionsOf(xsds: readonly string[], mapLevel: MapLevel): RelationalModel[] {
  const models: RelationalModel[] = [];
  for (const xsd of xsds) {
    const previous = models.at(-1);
    const model = buildRelationalModel(compiled(xsd), {
      mapLevel,
      ...(previous === undefined ? {} : { previous }),
    });
    for (const before of models) expectSameMeanings(before, model);
    models.push(model);
  }
  return models;
}

const valuesIn = (rows: Readonly<Record<string, readonly Row[]>>, table: string, column = 'id'): unknown[] =>
  (rows[table] ?? []).map((row) => row[column]);

/** The table with the row whose id is 7. */
function tableOf(model: RelationalModel, document: string): string {
  return Object.entries(shred(model, [document]).rows).find(([, rows]) =>
    rows.some((row) => row['id'] === '7'),
  )![0];
}

describe.each(levels)('at level %i', (mapLevel) => {
  const once = rootOf(of('item', 'Item', often), type('Item', id));

  it('a type that is used at one more place', () => {
    const twice = rootOf(of('spare', 'Item', maybe) + of('item', 'Item', often), type('Item', id));
    const [, second] = versionsOf([once, twice], mapLevel);
    const { rows } = shred(second!, ['<r><spare><id>3</id></spare><item><id>2</id></item></r>']);
    expect(valuesIn(rows, 'item').includes('2')).toBe(true);
    expect(rows['item']!.find((row) => row['id'] === '2')).toMatchObject({ r_key: '1' });
    // a table for each place, or one for both
    expect(valuesIn(rows, mapLevel < 2 ? 'spare' : 'item')).toContain('3');
  });

  it('a type that comes to hold itself', () => {
    const group = `<xs:element name="group" minOccurs="0">${sequence(of('item', 'Item', often))}</xs:element>`;
    const [, second] = versionsOf(
      [once, rootOf(of('item', 'Item', often), type('Item', id + group))],
      mapLevel,
    );
    const { rows } = shred(second!, ['<r><item><id>2</id><group><item><id>3</id></item></group></item></r>']);
    expect(valuesIn(rows, 'item').toSorted()).toEqual(['2', '3']);
  });

  it('a root that comes to hold itself', () => {
    const root = (children: string): string => schema(of('o', 'O') + type('O', children));
    const [, second] = versionsOf([root(id), root(id + of('o', 'O', maybe))], mapLevel);
    const { rows } = shred(second!, ['<o><id>2</id><o><id>3</id></o></o>']);
    expect(Object.fromEntries(rows['o']!.map((row) => [row['id'], row['parent_o_key']]))).toEqual({
      2: null,
      3: '1',
    });
  });

  it('a type of which one more place comes with each version, the last of them in itself', () => {
    const [b, c] = [of('b', 'T', maybe), of('c', 'T', maybe)];
    const versions = versionsOf(
      [
        rootOf(of('a', 'T', often), type('T', id)),
        rootOf(b + of('a', 'T', often), type('T', id)),
        rootOf(c + b + of('a', 'T', often), type('T', id)),
        rootOf(c + b + of('a', 'T', often), type('T', id + of('a', 'T', maybe))),
      ],
      mapLevel,
    );
    const seven = '<id>7</id>';
    const a = versions.map((model) => tableOf(model, `<r><a>${seven}</a></r>`));
    expect(new Set(a)).toEqual(new Set(['a']));
    const later = versions.slice(1).map((model) => tableOf(model, `<r><b>${seven}</b><a><id>1</id></a></r>`));
    expect(new Set(later).size).toBe(1);
    const last = versions.slice(2).map((model) => tableOf(model, `<r><c>${seven}</c><a><id>1</id></a></r>`));
    expect(new Set(last).size).toBe(1);
  });

  it('places that had tables of their own keep them when their type holds itself', () => {
    const places = of('a', 'A', often) + of('b', 'B', often);
    const both = of('a', 'T', often) + of('b', 'T', often);
    const [, second] = versionsOf(
      [
        rootOf(places, type('A', id) + type('B', id + of('note', 'xs:string', maybe))),
        rootOf(both, type('T', id + of('note', 'xs:string', maybe) + of('part', 'T', maybe))),
      ],
      mapLevel,
    );
    const { rows } = shred(second!, [
      '<r><a><id>1</id><part><id>2</id></part></a><b><id>3</id><note>n</note><part><id>4</id></part></b></r>',
    ]);
    expect(valuesIn(rows, 'a')).toContain('1');
    expect(valuesIn(rows, 'b')).toContain('3');
    expect([...valuesIn(rows, 'a'), ...valuesIn(rows, 'b')].toSorted()).toEqual(['1', '2', '3', '4']);
    expect(Object.keys(rows)).toContain('note');
  });

  it('a type that is called otherwise', () => {
    const [, second] = versionsOf(
      [
        rootOf(of('a', 'T', often) + of('b', 'T', often), type('T', id)),
        rootOf(
          of('c', 'Thing', maybe) + of('a', 'Thing', often) + of('b', 'Thing', often),
          type('Thing', id),
        ),
      ],
      mapLevel,
    );
    const document = '<r><c><id>0</id></c><a><id>1</id></a><b><id>2</id></b></r>';
    const { rows } = shred(second!, [document]);
    expect(
      Object.keys(rows)
        .filter((name) => !name.startsWith('_'))
        .toSorted(),
    ).toEqual(mapLevel < 2 ? ['a', 'b', 'c', 'r'] : ['r', 't']);
  });

  it('a place whose type is another one', () => {
    const types = type('T', id) + type('U', id + of('note', 'xs:string', maybe));
    const [a, b] = [of('a', 'T', often), of('b', 'T', often)];
    const others = of('b', 'U', often) + of('c', 'U', often);
    const [, second] = versionsOf([rootOf(a + b, types), rootOf(a + others, types)], mapLevel);
    const document = '<r><a><id>1</id></a><b><id>2</id><note>n</note></b><c><id>3</id></c></r>';
    const { rows } = shred(second!, [document]);
    // the type of `b` and `c` goes on with the table that `b` had
    const [ofA, ofB, ofC] = mapLevel < 2 ? ['a', 'b', 'c'] : ['t', 't', 't'];
    expect(valuesIn(rows, ofA!)).toContain('1');
    expect(valuesIn(rows, ofB!)).toContain('2');
    expect(valuesIn(rows, ofC!)).toContain('3');
  });

  it('a table that would be folded, and columns that have to become one', () => {
    const part = (occurs: string): string => `<xs:element name="part" ${occurs}>${sequence(id)}</xs:element>`;
    const [first, second, third] = versionsOf(
      [rootOf(id + part(''), ''), rootOf(id + part(often), ''), rootOf(id + part('minOccurs="0"'), '')],
      mapLevel,
    );
    const document = '<r><id>1</id><part><id>5</id></part></r>';
    const isFolded = mapLevel === 1 || mapLevel === 3;
    const { rows } = shred(first!, [document]);
    expect(isFolded ? valuesIn(rows, 'r', 'part_id') : valuesIn(rows, 'part')).toEqual(['5']);
    for (const model of [second!, third!])
      expect(valuesIn(shred(model, [document]).rows, 'part')).toEqual(['5']);
    expect(third!.tables.map(({ name }) => name)).toEqual(second!.tables.map(({ name }) => name));
  });

  it('what repeated once, as documents tell it', () => {
    const before = buildRelationalModel(inferred(['<o><b>1</b><b>2</b></o>']), { mapLevel });
    const after = buildRelationalModel(inferred(['<o><b>1</b><o><b>3</b></o></o>']), {
      mapLevel,
      previous: before,
    });
    const { rows } = shred(after, ['<o><b>1</b><o><b>3</b></o></o>']);
    expect(valuesIn(rows, 'b', 'value')).toEqual(['1', '3']);
    expect(rows['o']).toHaveLength(2);
  });
});

it('rows below what was read in the row above stay where they are when that has rows of its own', () => {
  const line = of('line', 'Line', often);
  const part = (name: string, occurs: string): string => of(name, 'Part', occurs);
  const types = type('Line', id) + type('Part', line);
  const [, second] = versionsOf(
    [rootOf(part('part', ''), types), rootOf(part('part', often) + part('rest', often), types)],
    3,
  );
  const { rows } = shred(second!, [
    '<r><part><line><id>5</id></line></part><rest><line><id>6</id></line></rest></r>',
  ]);
  expect(valuesIn(rows, 'line')).toEqual(['5', '6']);
});

const leg = (
  name: string,
  fields: number,
  base: string,
): string => `<xs:complexType name="${name}"><xs:complexContent><xs:extension base="${base}"><xs:sequence>
  ${Array.from({ length: fields }, (_, at) => `<xs:element name="${name}${at}" type="xs:int" minOccurs="0"/>`).join('')}
  </xs:sequence></xs:extension></xs:complexContent></xs:complexType>`;

const swap = (fields: number): string =>
  rootOf(
    `<xs:element ref="leg" ${often}/>`,
    type('Leg', id) +
      ['Fixed', 'Floating'].map((name) => leg(name, fields, 'Leg')).join('') +
      `<xs:element name="leg" type="Leg"/>${['Fixed', 'Floating'].map((name) => `<xs:element name="${name.toLowerCase()}" type="${name}" substitutionGroup="leg"/>`).join('')}`,
  );

describe.each([
  [
    'members of a substitution group',
    (name: string) => `<${name.toLowerCase()}><id>7</id></${name.toLowerCase()}>`,
  ],
  [
    'types that xsi:type names',
    (name: string) =>
      `<leg xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="${name}"><id>7</id></leg>`,
  ],
])('%s', (_, elementOf) => {
  it('stay in one table when a later version has more columns for them than a first one may', () => {
    const [narrow, wide] = versionsOf([swap(2), swap(150)], 3);
    const document = `<r>${elementOf('Fixed')}</r>`;
    expect(tableOf(wide!, document)).toBe(tableOf(narrow!, document));
    const [first] = versionsOf([swap(150)], 3);
    expect(tableOf(first!, document)).not.toBe(tableOf(narrow!, document));
  });
});
