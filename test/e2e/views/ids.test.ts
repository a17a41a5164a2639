/** Ids and references of real documents in PostgreSQL: which row each means, against the documents themselves. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres, type Sql } from '../../../src/postgres/connect.ts';
import { createPostgresRowSink } from '../../../src/targets/sql/postgres/sink.ts';
import type { MapLevel, RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { readCorpus } from '../../support/corpus.ts';
import { corpusGroups, groupModel, groupSource } from '../../support/round-trip/corpus.ts';
import { bytesOf, compiled, modelOf } from '../../support/models/shredding.ts';
import { needs, some } from '../../support/needs.ts';
import { loadInto, loadIntoPostgres } from '../../support/round-trip/postgres.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { readXml, type ReadElement } from '../../support/service/xml-reader.ts';
import { useTrial } from '../../support/service/trial.ts';

const trial = useTrial();
let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await trial.emptyDatabase();
  sql = connectPostgres(database.url, { applicationName: 'test', max: 1 });
});
afterAll(() => sql.end({ timeout: 1 }));

/** Id and local name of each element that has one, and all references, in the order of the document. */
function idsOf(root: ReadElement): { ids: Map<string, string>; references: string[] } {
  const ids = new Map<string, string>();
  const references: string[] = [];
  const open = [root];
  for (const { localName, attributes, children } of open) {
    for (const attribute of attributes) {
      if (attribute.localName === 'id') ids.set(attribute.value, localName);
      if (attribute.localName === 'href') references.push(attribute.value);
    }
    open.push(...children.filter((child) => typeof child !== 'string'));
  }
  return { ids, references };
}

async function load(model: RelationalModel, sqlSchema: string, documents: readonly Uint8Array[]) {
  const sink = createPostgresRowSink({ url: database.url, sqlSchema, createSchema: true });
  return await loadInto(sink, { model, idJob: 1, views: true }, documents);
}

describe('FpML: ids and references', needs('corpus'), () => {
  const group = corpusGroups().find(({ xsd }) => xsd?.includes('fpml-main'))!;

  it.each(some<MapLevel>([3, 0], 1))('lead to the rows that documents mean, at level %i', async (level) => {
    const { source } = groupSource(group);
    const texts = group.documents.slice(0, 6).map((name) => readCorpus(name));
    const documents = texts.map((bytes) => idsOf(readXml(new TextDecoder().decode(bytes))));
    const model = groupModel(source, level, texts);
    const schema = `fpml_${level}`;
    const { changes } = await load(model, schema, texts);
    expect(changes.filter((change) => change.includes('unique key'))).toEqual([]);
    const found = await sql<{ document_key: number; id: string; table_name: string; row_key: number }[]>`
      select * from ${sql(schema)}._ids order by document_key, row_key`;
    // one row for each id of each document
    const wanted = documents.flatMap(({ ids }, at) => [...ids.keys()].map((id) => `${at + 1} ${id}`));
    expect(found.map(({ document_key, id }) => `${document_key} ${id}`).toSorted()).toEqual(
      wanted.toSorted(),
    );
    expect(wanted.length).toBeGreaterThan(20);
    // the row has the id, and each reference of the documents is among them
    const references = model.tables.flatMap(({ name, columns }) =>
      columns.flatMap((column) => (column.sourceType === 'IDREF' ? [{ name, column: column.name }] : [])),
    );
    const there = new Set(
      (await sql`select tablename from pg_tables where schemaname = ${schema}`).map(
        (row) => row['tablename'],
      ),
    );
    let followed = 0;
    for (const { name, column } of references.filter((one) => there.has(one.name))) {
      const rows = await sql`
        select r.document_key, r.${sql(column)} as href, i.table_name, i.row_key
          from ${sql(schema)}.${sql(name)} r left join ${sql(schema)}._ids i
            on i.document_key = r.document_key and i.id = r.${sql(column)}
         where r.${sql(column)} is not null`;
      for (const row of rows) {
        followed += 1;
        expect(documents[Number(row['document_key']) - 1]!.ids.has(row['href'])).toBe(
          row['row_key'] !== null,
        );
      }
    }
    expect(followed).toBe(documents.flatMap((one) => one.references).length);
  });
});

const net = (id: string): Uint8Array =>
  bytesOf(
    `<net><task id="${id}"><label>pack</label></task><gate id="g"><label>ready</label></gate><flow from="${id}" to="g"/><flow from="g" to="gone"/></net>`,
  );

describe('ids of any schema', () => {
  const source = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:complexType name="Node"><xs:sequence><xs:element name="label" type="xs:string"/></xs:sequence><xs:attribute name="id" type="xs:ID" use="required"/></xs:complexType>
    <xs:element name="net"><xs:complexType><xs:sequence>
      <xs:element name="task" type="Node" maxOccurs="unbounded"/>
      <xs:element name="gate" type="Node" minOccurs="0" maxOccurs="unbounded"/>
      <xs:element name="flow" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
        <xs:attribute name="from" type="xs:IDREF"/><xs:attribute name="to" type="xs:IDREF"/></xs:complexType></xs:element>
    </xs:sequence></xs:complexType></xs:element></xs:schema>`);

  it('are keys within their document, by which flows find both their ends', async () => {
    const { changes } = await load(modelOf(source, 1), 'net', [net('a'), net('a')]);
    expect(changes).toContainEqual(expect.stringContaining('_ids'));
    const flows = await sql`
      select f.document_key, a.table_name as source, b.table_name as target from net.flow f
        left join net._ids a on a.document_key = f.document_key and a.id = f."from"
        left join net._ids b on b.document_key = f.document_key and b.id = f."to" order by f.flow_key`;
    expect(flows.map((row) => ({ ...row }))).toEqual(
      [1, 2].flatMap((document_key) => [
        { document_key, source: 'task', target: 'gate' },
        { document_key, source: 'gate', target: null },
      ]),
    );
    const keys = await sql`
      select pg_get_constraintdef(oid) as said from pg_constraint where conrelid = 'net.task'::regclass and contype = 'u'`;
    expect(keys.map((row) => row['said'])).toEqual(['UNIQUE (document_key, id)']);
  });

  it('stay without a key where documents have one twice, and no row is lost', async () => {
    const twice = bytesOf(
      '<net><task id="a"><label>pack</label></task><task id="a"><label>ship</label></task></net>',
    );
    await loadIntoPostgres({ url: database.url, sqlSchema: 'twice' }, modelOf(source, 1), [net('a')]);
    const sink = createPostgresRowSink({ url: database.url, sqlSchema: 'twice', createSchema: true });
    const { changes } = await loadInto(sink, { model: modelOf(source, 1), idJob: 2 }, [twice]);
    expect(changes).toContainEqual(expect.stringMatching(/task.*unique key/));
    const [row] = await sql`select count(*)::int as tasks from twice.task`;
    expect(row!['tasks']).toBe(3);
  });
});

const flowElement = (name: string, base: string, more = ''): string =>
  `<xs:element name="${name}" type="t_${name}" substitutionGroup="flowElement"/>
   <xs:complexType name="t_${name}"><xs:complexContent><xs:extension base="${base}">${more}</xs:extension></xs:complexContent></xs:complexType>`;

describe('a process as BPMN has it', () => {
  const bpmn = 'http://www.omg.org/spec/BPMN/20100524/MODEL';
  const source =
    compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="${bpmn}" targetNamespace="${bpmn}" elementFormDefault="qualified">
    <xs:complexType name="tFlowElement" abstract="true"><xs:attribute name="id" type="xs:ID"/><xs:attribute name="name" type="xs:string"/></xs:complexType>
    <xs:element name="flowElement" type="tFlowElement" abstract="true"/>
    <xs:complexType name="tFlowNode" abstract="true"><xs:complexContent><xs:extension base="tFlowElement"><xs:sequence>
      <xs:element name="incoming" type="xs:QName" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
    ${['startEvent', 'userTask', 'endEvent'].map((name) => flowElement(name, 'tFlowNode')).join('')}
    ${flowElement('sequenceFlow', 'tFlowElement', '<xs:attribute name="sourceRef" type="xs:IDREF" use="required"/><xs:attribute name="targetRef" type="xs:IDREF" use="required"/>')}
    <xs:element name="definitions"><xs:complexType><xs:sequence><xs:element name="process" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element ref="flowElement" minOccurs="0" maxOccurs="unbounded"/></xs:sequence><xs:attribute name="id" type="xs:ID"/></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
  </xs:schema>`);
  const process = (task: string): Uint8Array =>
    bytesOf(`<definitions xmlns="${bpmn}"><process id="p"><startEvent id="s"/><sequenceFlow id="f1" sourceRef="s" targetRef="t"/>
      <userTask id="t" name="${task}"><incoming>f1</incoming></userTask><sequenceFlow id="f2" sourceRef="t" targetRef="e"/><endEvent id="e" name="done"/></process></definitions>`);

  it.each<MapLevel>([1, 3])(
    'has its flows with source and target in two joins, at level %i',
    async (level) => {
      const schema = `bpmn_${level}`;
      const model = modelOf(source, level);
      await load(model, schema, [process('check'), process('pay')]);
      const table = model.tables.find(({ columns }) =>
        columns.some(({ name }) => name === 'source_ref'),
      )!.name;
      const flows = await sql`
      select f.document_key, f.id, s.id as source, t.id as target, n.name
        from ${sql(schema)}.${sql(table)} f
        join ${sql(schema)}._ids s on s.document_key = f.document_key and s.id = f.source_ref
        join ${sql(schema)}._ids t on t.document_key = f.document_key and t.id = f.target_ref
        left join ${sql(schema)}.${sql(table)} n on t.table_name = ${table} and n.${sql(`${table}_key`)} = t.row_key
       order by 1, 2`;
      expect(flows.map((row) => ({ ...row, document_key: Number(row['document_key']) }))).toEqual(
        ['check', 'pay'].flatMap((task, at) => [
          { document_key: at + 1, id: 'f1', source: 's', target: 't', name: task },
          { document_key: at + 1, id: 'f2', source: 't', target: 'e', name: 'done' },
        ]),
      );
    },
  );
});
