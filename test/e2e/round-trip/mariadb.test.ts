/** Real documents through MariaDB and back; later versions of a schema, and dates with times of both kinds, in one database. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMysqlRowSink } from '../../../src/targets/sql/mysql/sink.ts';
import { createMysqlRowSource } from '../../../src/targets/sql/mysql/source.ts';
import { buildRelationalModel } from '../../../src/engine/map/build-model.ts';
import { mariadbAddress } from '../../contracts/row-sinks/targets.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { readCorpus } from '../../support/corpus.ts';
import { bytesOf, compiled, inferred, modelOf } from '../../support/models/shredding.ts';
import { listDocuments, listsXsd } from '../../support/documents/lists.ts';
import { corpusDirectory, isHere, needs } from '../../support/needs.ts';
import { corpusGroups, groupModel, groupSource } from '../../support/round-trip/corpus.ts';
import { loadInto, readFrom } from '../../support/round-trip/postgres.ts';
import { mariadbParts, startMariadb, type TestMariadb } from '../../support/servers/mariadb.ts';
import { uuidOfJob } from '../../support/models/job-names.ts';

const maxBytes = 250_000;
const slowSets = ['netex', 'scap-oval', 'siri'];
const groups = corpusGroups()
  .filter(({ corpus, xsd }) => xsd !== null && !slowSets.includes(corpus))
  .map((group) => ({
    ...group,
    documents: group.documents
      .filter((name) => statSync(join(corpusDirectory, name)).size <= maxBytes)
      .slice(0, 3),
  }))
  .filter(({ documents }) => documents.length > 0)
  .slice(0, isHere('whole run') ? undefined : 4)
  .map((group, index) => ({ ...group, index }));

/** A schema of log entries. */
const version = (
  more: string,
  count: string,
): string => `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="log"><xs:complexType><xs:sequence>
    <xs:element name="entry" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="count" type="${count}"/>${more}
    </xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>`;

const visitOf = (start: string, end: string): Uint8Array =>
  bytesOf(`<visit><start>${start}</start><end>${end}</end></visit>`);

const columns = () => ['local', 'instant', 'neither'].map((name) => ({ name, zoned: true }));

describe('MariaDB', { timeout: 300_000, ...needs(mariadbParts) }, () => {
  let server: TestMariadb;
  beforeAll(async () => {
    server = await startMariadb();
  });
  afterAll(() => server?.stop());

  async function place(name: string) {
    await server.run(`CREATE DATABASE ${name};`);
    return mariadbAddress(server, name);
  }

  it.each(groups)('gives documents back: $xsd', needs('corpus'), async (group) => {
    const { source, inferred } = groupSource(group);
    const documents = group.documents.map((name) => readCorpus(name));
    const address = await place(`corpus_${group.index}`);
    const model = groupModel(source, 3, documents);
    // in two jobs: the second adds to tables that are there
    await loadInto(createMysqlRowSink(address), { model, idJob: 1 }, documents.slice(0, 1));
    await loadInto(createMysqlRowSink(address), { model, idJob: 2 }, documents.slice(1));
    const written = await readFrom(createMysqlRowSource(address), model);
    expect(written).toHaveLength(documents.length);
    for (const [at, document] of documents.entries())
      expect(compareXml(document, written[at]!, { source, asText: inferred })).toEqual([]);
  });

  it('gives decimals back as they were written, where their type is a guess', async () => {
    const address = await place('guessed');
    const document = bytesOf('<r><v>1.50</v><v>1.5</v><v>2</v><v>20.0</v></r>');
    const model = modelOf(inferred([document]), 3);
    await loadInto(createMysqlRowSink(address), { model, idJob: 1 }, [document]);
    const [written] = await readFrom(createMysqlRowSource(address), model);
    expect(compareXml(document, written!, { asText: true })).toEqual([]);
  });

  it('gives times back at the offsets they were written with, which make local times of instants', async () => {
    const address = await place('offsets');
    const times = ['2024-12-31T23:30:00.5-05:30', '2024-03-01T00:15:00+14:00', '2024-02-29T12:00:00Z'];
    const document = bytesOf(`<r>${times.map((time) => `<v>${time}</v>`).join('')}</r>`);
    const model = modelOf(inferred([document]), 3);
    await loadInto(createMysqlRowSink(address), { model, idJob: 1 }, [document]);
    const [written] = await readFrom(createMysqlRowSource(address), model);
    expect(compareXml(document, written!, { asText: true })).toEqual([]);
    const local = await server.run(
      'SELECT value + INTERVAL coalesce(value_offset, 0) MINUTE FROM v ORDER BY v_key; SELECT count(*) FROM _lexical;',
      undefined,
      'offsets',
    );
    const lines = local.split('\n').filter((line) => /^\d/.test(line));
    expect(lines).toEqual([
      '2024-12-31 23:30:00.500000',
      '2024-03-01 00:15:00.000000',
      '2024-02-29 12:00:00.000000',
      '0',
    ]);
  });

  it.each(['0001-01-01T00:00:00+14:00', '9999-12-31T23:59:59-14:00', '9999-12-31T24:00:00Z'])(
    'keeps %s, which is in no year that a column holds, as text',
    async (moment) => {
      const database = `years_${moment.replaceAll(/\D/g, '')}`;
      const address = await place(database);
      const usual = visitOf('2024-07-01T10:00:00+02:00', '2024-07-01T11:00:00Z');
      const odd = visitOf(moment, '0001-01-01T00:00:00-14:00');
      const model = modelOf(inferred([usual]), 3);
      await loadInto(createMysqlRowSink(address), { model, idJob: 1 }, [usual]);
      await loadInto(createMysqlRowSink(address), { model, idJob: 2 }, [odd]);
      const written = await readFrom(createMysqlRowSource(address), model);
      for (const [at, given] of [usual, odd].entries())
        expect(compareXml(given, written[at]!, { asText: true })).toEqual([]);
      const types = await server.run(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = database() AND table_name = 'visit' AND column_name IN ('start', 'end');",
        undefined,
        database,
      );
      expect(types).toMatch(/start\s+longtext/);
      expect(types).toMatch(/end\s+datetime/);
    },
  );

  it('takes later versions: further columns and tables, wider types', async () => {
    const address = await place('evolving');
    const first = compiled(version('', 'xs:short'));
    const later = compiled(
      version(
        '<xs:element name="who" type="xs:string" minOccurs="0"/><xs:element name="tag" type="xs:token" minOccurs="0" maxOccurs="unbounded"/>',
        'xs:decimal',
      ),
    );
    const before = modelOf(first, 3);
    const after = buildRelationalModel(later, { mapLevel: 3, previous: before });
    const old = bytesOf('<log><entry><count>7</count></entry></log>');
    const young = bytesOf(
      '<log><entry><count>12.5</count><who>Ann</who><tag>a</tag><tag>b</tag></entry></log>',
    );
    await loadInto(createMysqlRowSink(address), { model: before, idJob: 1 }, [old]);
    await loadInto(createMysqlRowSink(address), { model: after, idJob: 2 }, [young, old]);
    await loadInto(createMysqlRowSink(address), { model: before, idJob: 3 }, [old]);
    const written = await readFrom(createMysqlRowSource(address), after);
    expect(written).toHaveLength(4);
    for (const [at, document] of [old, young, old, old].entries())
      expect(compareXml(document, written[at]!, { source: later })).toEqual([]);
  });

  it('replaces documents of the same name, and knows what is there', async () => {
    const address = await place('merged');
    const source = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
      <xs:element name="order"><xs:complexType><xs:sequence>
        <xs:element name="customer" type="xs:string"/><xs:element name="tags" minOccurs="0"><xs:simpleType><xs:list itemType="xs:token"/></xs:simpleType></xs:element>
        <xs:element name="line" type="xs:int" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element></xs:schema>`);
    const model = modelOf(source, 3);
    const [first, second, corrected] = [
      '<order><customer>A</customer><tags>x y</tags><line>1</line><line>2</line></order>',
      '<order><customer>B</customer><tags>z</tags><line>3</line><odd/></order>',
      '<order><customer>A, corrected</customer><tags>w</tags><line>9</line></order>',
    ].map((text) => bytesOf(text));
    const merge = (idJob: number, documents: readonly Uint8Array[]) => {
      const named = documents.map((_, at) => {
        const name = `document-${at + 1}.xml`;
        return { key: name, name, written: 'x', sha256: 'x' };
      });
      const order = { documents: named, missing: [], keepsHistory: false };
      return loadInto(
        createMysqlRowSink(address),
        { model, idJob, saveMode: 'merge', merge: order },
        documents,
      );
    };
    expect((await merge(1, [first!, second!])).merged).toEqual({ replaced: 0, deleted: 0 });
    expect((await merge(2, [corrected!])).merged).toEqual({ replaced: 1, deleted: 0 });
    const [before, after] = await readFrom(createMysqlRowSource(address), model);
    expect(compareXml(second!, before!, { source })).toEqual([]);
    expect(compareXml(corrected!, after!, { source })).toEqual([]);
    const counts = await server.run(
      'SELECT (SELECT count(*) FROM line), (SELECT count(*) FROM order_tags), (SELECT sum(documents) FROM _loads), (SELECT sum(`rows`) FROM _loads);',
      undefined,
      'merged',
    );
    expect(counts.trim().split('\n').at(-1)!.split('\t')).toEqual(['2', '2', '2', '4']);
    const sink = createMysqlRowSink(address);
    try {
      const plan = { model, idJob: 3, saveMode: 'merge', allTables: false, keys: 'sequence' } as const;
      expect(
        await sink.open({ ...plan, jobUuid: uuidOfJob(3), idSch: null, idLschma: null, modelHash: null }),
      ).toBe('load');
      const there = await Array.fromAsync(sink.currentDocuments!(null));
      expect(there.map(({ key, sha256 }) => [key, sha256]).toSorted()).toEqual([
        ['document-1.xml', 'x'],
        ['document-2.xml', 'x'],
      ]);
      expect([...(await sink.loadedDocuments(['x', 'y']))]).toEqual(['x']);
    } finally {
      await sink.abort();
      await sink.close();
    }
  });

  it('keeps lists whose items are no values of their type, whatever they look like', async () => {
    const address = await place('lists');
    const source = compiled(listsXsd);
    const model = modelOf(source, 3);
    const [plain, odd] = listDocuments.map((text) => bytesOf(text));
    await loadInto(createMysqlRowSink(address), { model, idJob: 1 }, [plain!]);
    await loadInto(createMysqlRowSink(address), { model, idJob: 2 }, [odd!, plain!]);
    const written = await readFrom(createMysqlRowSource(address), model);
    for (const [at, document] of [plain, odd, plain].entries())
      expect(compareXml(document!, written[at]!, { source })).toEqual([]);
  });

  it('knows which columns hold instants, and which hold what was written', async () => {
    const address = await place('zones');
    const source = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
      <xs:element name="visit"><xs:complexType><xs:sequence>
        <xs:element name="local" type="xs:dateTime"/><xs:element name="instant" type="xs:dateTime"/></xs:sequence></xs:complexType></xs:element></xs:schema>`);
    const drawn = modelOf(source, 3);
    const model = {
      ...drawn,
      tables: drawn.tables.map((table) => ({
        ...table,
        columns: table.columns.map((column) =>
          column.name === 'instant' ? { ...column, type: { kind: 'timestamptz' as const } } : column,
        ),
      })),
    };
    const document = bytesOf(
      '<visit><local>2026-03-01T10:00:00</local><instant>2026-03-01T10:00:00+02:00</instant></visit>',
    );
    await loadInto(createMysqlRowSink(address), { model, idJob: 1 }, [document]);
    const shown = await server.run('SELECT local, instant FROM visit;', undefined, 'zones');
    expect(shown).toContain('2026-03-01 10:00:00');
    expect(shown).toContain('2026-03-01 08:00:00');
    const sink = createMysqlRowSink(address);
    try {
      const zones = await sink.existingZones([
        { name: 'visit', columns },
        { name: 'nowhere', columns },
      ]);
      expect([...zones].map(([name, there]) => [name, Object.fromEntries(there)])).toEqual([
        ['visit', { local: false, instant: true }],
      ]);
    } finally {
      await sink.close();
    }
    // the logical schema does not know which columns of this target hold instants
    for (const reader of [model, drawn]) {
      const [written] = await readFrom(createMysqlRowSource(address), reader);
      expect(compareXml(document, written!, { source })).toEqual([]);
    }
  });
});
