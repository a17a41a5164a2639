/** Columns that name an element or say that it is there, over several versions of a schema: substitution groups and roles come and go. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { coversModel } from '../../../../src/engine/model/coverage.ts';
import type { Column, MapLevel, RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../../../src/engine/model/source-model.ts';
import { compareXml } from '../../../support/documents/canonical-xml.ts';
import { compiled, modelOf, shred, type Row, type Shredded } from '../../../support/models/shredding.ts';
import { memoryDocumentRows } from '../../../support/memory/document-rows.ts';
import { roundTrip, writeDocuments } from '../../../support/round-trip/in-memory.ts';

interface Version {
  readonly xsd: string;
  readonly documents: readonly string[];
}

interface Drawn {
  readonly source: SourceModel;
  readonly model: RelationalModel;
  readonly documents: readonly string[];
}

const xs = (body: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${body}</xs:schema>`;

function drawn(versions: readonly Version[], mapLevel: MapLevel = 3): Drawn[] {
  const all: Drawn[] = [];
  for (const { xsd, documents } of versions) {
    const source = compiled(xsd);
    const previous = all.at(-1)?.model;
    const model =
      previous === undefined
        ? modelOf(source, mapLevel)
        : buildRelationalModel(source, { mapLevel, previous });
    all.push({ source, model, documents });
  }
  return all;
}

const namesOf = (model: RelationalModel, table: string): Column[] =>
  model.tables.find(({ name }) => name === table)!.columns.filter(({ role }) => role === 'element_name');

const namingTable = ({ tables }: RelationalModel): string =>
  tables.find(({ columns }) => columns.some(({ role }) => role === 'element_name'))!.name;

/** Reads `v` and the name of the element from each row of a table, in the order of `v`. */
function named(model: RelationalModel, table: string, column: string, documents: readonly string[]) {
  const rows = shred(model, documents).rows[table]! as readonly Row[];
  return rows.map((row) => `${row['v']} ${row[column]}`).toSorted();
}

/** Returns rows of an earlier version as a later one reads them: columns that are new are NULL there. */
function readBy(model: RelationalModel, loaded: Shredded): Shredded {
  const rows = Object.entries(loaded.rows).map(([table, all]) => {
    const columns = model.tables.find(({ name }) => name === table)?.columns ?? [];
    const none = Object.fromEntries(columns.map(({ name }) => [name, null]));
    return [table, all.map((row) => ({ ...none, ...row }))] as const;
  });
  return { ...loaded, model, rows: Object.fromEntries(rows) };
}

/**
 * Expects one column of that name in all versions, never NULL; documents that read back equal, also those of earlier versions; and the same
 * model again for the same schema.
 */
async function expectOneColumn(all: readonly Drawn[], table: string, column: string): Promise<void> {
  for (const [at, { source, model, documents }] of all.entries()) {
    const [only, ...others] = namesOf(model, table);
    expect([only?.name, only?.nullable, others]).toEqual([column, false, []]);
    const { mapLevel } = model;
    expect(buildRelationalModel(source, { mapLevel, previous: model })).toEqual(model);
    for (const [index, written] of (await roundTrip(model, documents)).entries())
      expect(compareXml(documents[index]!, written, { source })).toEqual([]);
    for (const before of all.slice(0, at)) {
      if (!coversModel(model, before.model)) continue;
      expect(named(model, table, column, before.documents)).toEqual(
        named(before.model, table, column, before.documents),
      );
      const rows = memoryDocumentRows(readBy(model, shred(before.model, before.documents)));
      const keys = before.documents.map((_, index) => String(index + 1));
      for (const [index, written] of (await writeDocuments(model, rows, keys)).entries())
        expect(compareXml(before.documents[index]!, written, { source: before.source })).toEqual([]);
    }
  }
}

const many = 'minOccurs="0" maxOccurs="9"';
const member = (name: string, type = 'Part'): string =>
  `<xs:element name="${name}" type="${type}" substitutionGroup="part"/>`;
const spare = (content: string): string =>
  `<xs:element name="spare" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="n" type="xs:int" minOccurs="0"/>${content}</xs:sequence></xs:complexType></xs:element>`;
const ref = `<xs:element ref="part" ${many}/>`;

/** `part` in the rows of `r` and of its `spare`; `more`: further declarations. */
const parts = (more: string, content = ref + spare(ref), type = ''): string =>
  xs(`<xs:element name="r"><xs:complexType><xs:sequence>${content}</xs:sequence></xs:complexType></xs:element>
  <xs:element name="part" type="Part"/>${more}
  <xs:complexType name="Part"><xs:attribute name="v"/>${type}</xs:complexType>`);

/** `part` below two parents of one type, beside other elements of its type. */
const twoParents = (more: string): string =>
  xs(`<xs:element name="r"><xs:complexType><xs:sequence><xs:element name="left" type="Side" ${many}/><xs:element name="right" type="Side" ${many}/></xs:sequence></xs:complexType></xs:element>
<xs:complexType name="Side"><xs:sequence><xs:element ref="part" ${many}/><xs:element name="rest" type="Part" ${many}/></xs:sequence></xs:complexType>
<xs:element name="part" type="Part"/>${more}<xs:complexType name="Part"><xs:attribute name="v"/></xs:complexType>`);

const plain: Version = {
  xsd: parts(''),
  documents: ['<r><part v="1"/><spare><part v="2"/></spare></r>', '<r/>'],
};
const joined: Version = {
  xsd: parts(member('joined')),
  documents: ['<r><part v="3"/><joined v="4"/><spare><joined v="5"/><part v="6"/></spare></r>'],
};

describe('a column of roles', () => {
  const both: Version = {
    xsd: parts(member('joined') + member('glued')),
    documents: ['<r><glued v="7"/><joined v="8"/><spare><glued v="9"/></spare></r>'],
  };

  it('goes on when the element becomes the head of a substitution group', async () => {
    const all = drawn([plain, joined, both, joined, plain, both]);
    await expectOneColumn(all, 'part', 'role');
    expect(all.map(({ model, documents }) => named(model, 'part', 'role', documents)).slice(0, 3)).toEqual([
      ['1 part', '2 spare/part'],
      ['3 part', '4 joined', '5 spare/joined', '6 spare/part'],
      ['7 glued', '8 joined', '9 spare/glued'],
    ]);
    expect(all.map(({ model }) => coversModel(model, all[0]!.model))).toEqual(all.map(() => true));
  });

  it.each([1, 2, 3] as const)(
    'goes on for places in two parents of one type (level %i)',
    async (mapLevel) => {
      const document = '<r><left><part v="1"/><rest v="2"/></left><right><part v="3"/></right></r>';
      const later =
        '<r><left><joined v="4"/><part v="5"/><rest v="6"/></left><right><joined v="7"/></right></r>';
      const all = drawn(
        [
          { xsd: twoParents(''), documents: [document] },
          { xsd: twoParents(member('joined')), documents: [later, document] },
          { xsd: twoParents(member('joined') + member('glued')), documents: [later, document] },
        ],
        mapLevel,
      );
      if (mapLevel > 1) {
        await expectOneColumn(all, 'part', 'role');
        return;
      }
      for (const { model, documents, source } of all)
        for (const [index, written] of (await roundTrip(model, documents)).entries())
          expect(compareXml(documents[index]!, written, { source })).toEqual([]);
    },
  );

  it('goes on when elements leave, though only rows of other tables have them then', async () => {
    const other = `<xs:element name="box" ${many}><xs:complexType><xs:sequence>${ref}</xs:sequence></xs:complexType></xs:element>`;
    const alone: Version = {
      xsd: parts('', other),
      documents: ['<r><box><part v="3"/><part v="4"/></box></r>'],
    };
    const withBox: Version = {
      xsd: parts('', ref + spare(ref) + other),
      documents: ['<r><part v="1"/><spare><part v="2"/></spare><box><part v="3"/></box></r>'],
    };
    const all = drawn([withBox, alone, { ...alone, xsd: parts(member('joined'), other) }, withBox]);
    await expectOneColumn(all, 'part', 'role');
    expect(named(all[1]!.model, 'part', 'role', alone.documents)).toEqual(['3 part', '4 part']);
  });

  it('goes on beside the names of types', async () => {
    const types =
      '<xs:complexType name="Gear"><xs:complexContent><xs:extension base="Part"><xs:attribute name="teeth" type="xs:int"/></xs:extension></xs:complexContent></xs:complexType>';
    const typed =
      '<r xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><part v="3" xsi:type="Gear" teeth="9"/><joined v="4"/><spare><part v="5"/></spare></r>';
    const all = drawn([
      plain,
      { xsd: parts(types), documents: [typed.replace('<joined v="4"/>', '')] },
      { xsd: parts(types + member('joined', 'Gear')), documents: [typed] },
      plain,
    ]);
    await expectOneColumn(all, 'part', 'role');
    expect(named(all[2]!.model, 'part', 'role', [typed])).toEqual(['3 part', '4 joined', '5 spare/part']);
  });
});

const roots = (...names: string[]): string =>
  xs(
    `${names.map((name) => `<xs:element name="${name}" type="T"/>`).join('')}<xs:complexType name="T"><xs:attribute name="v"/></xs:complexType>`,
  );

describe('a column of the names of elements', () => {
  it('goes on when only one element of the substitution group is left', async () => {
    const all = drawn([joined, plain, joined]);
    await expectOneColumn(all, 'part', 'element');
    expect(named(all[1]!.model, 'part', 'element', plain.documents)).toEqual(['1 part', '2 spare/part']);
  });

  it.each([
    ['one place', ref],
    [
      'places in rows of two tables',
      `${ref}<xs:element name="box" ${many}><xs:complexType><xs:sequence>${ref}</xs:sequence></xs:complexType></xs:element>`,
    ],
  ])('goes on when the group of %s is used at one more, and loses its members', async (_, content) => {
    const two = content + spare(ref);
    const all = drawn([
      {
        xsd: parts(member('joined'), content),
        documents: ['<r><part v="1"/><joined v="2"/></r>'],
      },
      { xsd: parts(member('joined'), two), documents: joined.documents },
      { xsd: parts('', two), documents: plain.documents },
      { xsd: parts('', content), documents: ['<r><part v="1"/></r>'] },
      { xsd: parts(member('glued'), two), documents: ['<r><glued v="1"/><spare><part v="2"/></spare></r>'] },
    ]);
    await expectOneColumn(all, namingTable(all[0]!.model), 'element');
  });

  it('goes on when only one root of the table is left', async () => {
    const all = drawn([
      { xsd: roots('a', 'b'), documents: ['<a v="1"/>', '<b v="2"/>'] },
      { xsd: roots('a'), documents: ['<a v="1"/>'] },
      { xsd: roots('a', 'c'), documents: ['<a v="1"/>', '<c v="2"/>'] },
    ]);
    await expectOneColumn(all, namingTable(all[0]!.model), 'element');
  });
});

/** More attributes than members of a group can have in one table. */
const attributes = (prefix: string, count: number): string =>
  Array.from({ length: count }, (_, at) => `<xs:attribute name="${prefix}${at}"/>`).join('');
const wide = (count: number): string =>
  `${member('wide', 'Wide')}<xs:complexType name="Wide"><xs:complexContent><xs:extension base="Part">${attributes('b', count)}</xs:extension></xs:complexContent></xs:complexType>`;

const tableNames = ({ tables }: RelationalModel): string[] =>
  tables.flatMap(({ name, continues }) => (continues === undefined ? [name] : []));

describe('a group in a table with roles', () => {
  const document = '<r><part v="1" a7="a"/><wide v="2" b1="b"/><spare><wide v="3"/><part v="4"/></spare></r>';
  const version = (columns: number | null): Version => ({
    xsd: parts(columns === null ? '' : wide(columns), undefined, attributes('a', 120)),
    documents: columns === null ? plain.documents : [document, ...plain.documents],
  });

  it('stays in one table when a version has more columns for its members', async () => {
    const all = drawn([version(null), version(2), version(150), version(2)]);
    await expectOneColumn(all, 'part', 'role');
    const tables = all.map(({ model }) => tableNames(model));
    expect(tables).toEqual(all.map(() => ['r', 'part']));
  });

  it('has tables of its members beside it when it was too wide at first', async () => {
    const all = drawn([version(null), version(150), version(2), version(150)]);
    await expectOneColumn(all, 'part', 'role');
    const tables = all.map(({ model }) => tableNames(model));
    expect(tables.slice(1)).toEqual(all.slice(1).map(() => ['r', 'part', 'wide']));
    expect(named(all[1]!.model, 'part', 'role', [document])).toEqual([
      '1 part',
      '4 spare/part',
      'null spare/wide',
      'null wide',
    ]);
  });
});

/** A root with a child that its row may hold; `content`: of the child's type. */
const rootOf = (child: string, more: string, content = '<xs:attribute name="v"/>'): string =>
  xs(`<xs:element name="r"><xs:complexType><xs:sequence>${child}</xs:sequence><xs:attribute name="n"/></xs:complexType></xs:element>
  <xs:element name="part" type="Part"/>${more}<xs:complexType name="Part">${content}</xs:complexType>`);

describe('columns of an element in the row of its parent', () => {
  const optional = '<xs:element ref="part" minOccurs="0"/>';
  const required = '<xs:element ref="part"/>';
  const alone: Version = {
    xsd: rootOf(optional, ''),
    documents: ['<r n="1"><part v="2"/></r>', '<r><part/></r>', '<r/>'],
  };
  const group: Version = {
    xsd: rootOf(optional, member('joined')),
    documents: [...alone.documents, '<r><joined v="3"/></r>', '<r><joined/></r>'],
  };
  const sure: Version = { xsd: rootOf(required, ''), documents: alone.documents.slice(0, 2) };
  const bare: Version = { xsd: rootOf(optional, '', ''), documents: ['<r n="1"><part/></r>', '<r/>'] };
  const shown: Version = {
    xsd: rootOf(optional, '', '<xs:attribute name="v" use="required"/>'),
    documents: ['<r n="1"><part v="2"/></r>', '<r/>'],
  };

  it.each([
    ['that becomes the head of a group', [alone, group, sure], 'part_present'],
    ['that is always there', [alone, sure, group, alone], 'part_present'],
    ['that always shows', [alone, shown, sure], 'part_present'],
    ['that had no content', [bare, alone, shown, group], 'part'],
  ] as const)('say that it is there, also of one %s', async (_, versions, column) => {
    for (const { model, documents, source } of drawn(versions)) {
      const rows = shred(model, documents).rows['r']!;
      expect(rows.map((row) => row[column])).toEqual(
        documents.map((document) => (/<(part|joined)/.test(document) ? 't' : null)),
      );
      for (const [index, written] of (await roundTrip(model, documents)).entries())
        expect(compareXml(documents[index]!, written, { source })).toEqual([]);
    }
  });

  it.each([
    ['its group has no other element', [group, alone, group]],
    ['it is always there', [group, sure, group]],
  ] as const)('name it, also when %s', async (_, versions) => {
    for (const { model, documents, source } of drawn(versions)) {
      const rows = shred(model, documents).rows['r']!;
      expect(rows.map((row) => row['part_element'])).toEqual(
        documents.map((document) => /<(part|joined)/.exec(document)?.[1] ?? null),
      );
      for (const [index, written] of (await roundTrip(model, documents)).entries())
        expect(compareXml(documents[index]!, written, { source })).toEqual([]);
    }
  });
});
