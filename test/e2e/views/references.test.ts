/** What references mean, in the views of three databases: the row that has the id, against the documents themselves. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDuckDbRowSink } from '../../../src/targets/sql/duckdb/driver.ts';
import { createFolderRowSink } from '../../../src/targets/files/folder/sink.ts';
import { connectPostgres } from '../../../src/postgres/connect.ts';
import { createPostgresRowSink } from '../../../src/targets/sql/postgres/sink.ts';
import { createSqliteRowSink } from '../../../src/targets/sql/sqlite/driver.ts';
import { allIds, type RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { idsViewName } from '../../../src/engine/views/statements.ts';
import type { RowSink } from '../../../src/ports/row-sink.ts';
import { readCorpus } from '../../support/corpus.ts';
import { bytesOf, compiled, modelOf } from '../../support/models/shredding.ts';
import { needs, some } from '../../support/needs.ts';
import { corpusGroups, groupModel, groupSource } from '../../support/round-trip/corpus.ts';
import { loadInto } from '../../support/round-trip/postgres.ts';
import { mariadbParts, startMariadb } from '../../support/servers/mariadb.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { useTrial } from '../../support/service/trial.ts';
import { readXml } from '../../support/service/xml-reader.ts';

const trial = useTrial();
let database: TestDatabase;
let directory = '';
let count = 0;
beforeAll(async () => {
  database = await trial.emptyDatabase();
  directory = await mkdtemp(join(tmpdir(), 'references-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

type Rows = readonly Readonly<Record<string, unknown>>[];

interface Target {
  readonly sink: RowSink;
  /** in the SQL schema of the target, if it has any */
  query<T>(work: (ask: (text: string) => Promise<Rows>) => Promise<T>): Promise<T>;
}

const targets: Readonly<Record<'PostgreSQL' | 'SQLite' | 'DuckDB', () => Target>> = {
  PostgreSQL() {
    const sqlSchema = `t${(count += 1)}`;
    return {
      sink: createPostgresRowSink({ url: database.url, sqlSchema, createSchema: true }),
      async query(work) {
        const sql = connectPostgres(database.url, { applicationName: 'test', max: 1 });
        try {
          await sql.unsafe(`set search_path = ${sqlSchema}`);
          return await work(async (text) => sql.unsafe(text));
        } finally {
          await sql.end({ timeout: 1 });
        }
      },
    };
  },
  SQLite() {
    const file = join(directory, `${(count += 1)}.sqlite`);
    return {
      sink: createSqliteRowSink({ file }),
      async query(work) {
        const opened = new DatabaseSync(file);
        try {
          return await work((text) => Promise.resolve(opened.prepare(text).all() as Rows));
        } finally {
          opened.close();
        }
      },
    };
  },
  DuckDB() {
    const file = join(directory, `${(count += 1)}.duckdb`);
    return {
      sink: createDuckDbRowSink({ file }),
      async query(work) {
        const instance = await DuckDBInstance.create(file);
        const connection = await instance.connect();
        try {
          return await work(async (text) => (await connection.runAndReadAll(text)).getRowObjectsJson());
        } finally {
          connection.closeSync();
          instance.closeSync();
        }
      },
    };
  },
};
const names = Object.keys(targets) as (keyof typeof targets)[];

async function load(target: Target, model: RelationalModel, documents: readonly Uint8Array[]) {
  return await loadInto(target.sink, { model, idJob: 1, views: true }, documents);
}

const node = (name: string): string => `<xs:element name="${name}" type="Node" maxOccurs="unbounded"/>`;
const net = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:complexType name="Node"><xs:sequence><xs:element name="label" type="xs:string"/><xs:element name="note" type="xs:string" minOccurs="0" maxOccurs="unbounded"/></xs:sequence><xs:attribute name="id" type="xs:ID" use="required"/></xs:complexType>
  <xs:element name="net"><xs:complexType><xs:choice maxOccurs="unbounded">
    ${node('task')}${node('gate')}
    <xs:element name="flow" maxOccurs="unbounded"><xs:complexType><xs:attribute name="from" type="xs:IDREF"/><xs:attribute name="to" type="xs:IDREF"/></xs:complexType></xs:element>
  </xs:choice></xs:complexType></xs:element></xs:schema>`);
const model = modelOf(net, 1);
const named = (name: string, id: string, label: string): string =>
  `<${name} id="${id}"><label>${label}</label></${name}>`;
const flow = (from: string, to: string): string => `<flow from="${from}" to="${to}"/>`;
const netOf = (...parts: string[]): Uint8Array => bytesOf(`<net>${parts.join('')}</net>`);

function valuesOf(rows: Rows): (string | null)[][] {
  return rows.map((row) => Object.values(row).map((value) => (value === null ? null : String(value))));
}

const twice = netOf(
  named('gate', 'a', 'open'),
  named('task', 'a', 'pack'),
  named('task', 'a', 'ship'),
  flow('a', 'b'),
  flow('b', 'a'),
);
const meantOnce = [
  ['gate', '1', null, null],
  [null, null, 'gate', '1'],
];
const selectMeant = 'select from_table, from_key, to_table, to_key from flow_view order by flow_key';

describe.each(names)('references in %s', (name) => {
  it('have the table and the key of the row behind them, of the same document alone', async () => {
    const target = targets[name]();
    const first = netOf(named('task', 'a', 'pack'), named('gate', 'g', 'ready'), flow('a', 'g'));
    const second = netOf(named('gate', 'a', 'open'), flow('a', 'g'), '<flow to="a"/>');
    await load(target, model, [first, second]);
    const found = await target.query((ask) =>
      ask(`select f.document_key, "from", from_table, t.label as task, g.label as gate, "to", to_table, to_key from flow_view f
        left join task t on from_table = 'task' and t.task_key = from_key
        left join gate g on from_table = 'gate' and g.gate_key = from_key order by flow_key`),
    );
    expect(valuesOf(found)).toEqual([
      ['1', 'a', 'task', 'pack', null, 'g', 'gate', '1'],
      ['2', 'a', 'gate', null, 'open', 'g', null, null],
      ['2', null, null, null, null, 'a', 'gate', '2'],
    ]);
  });

  it('mean the first row, where a document has an id twice: the view has no row more', async () => {
    const target = targets[name]();
    await load(target, model, [twice]);
    expect(valuesOf(await target.query((ask) => ask(selectMeant)))).toEqual(meantOnce);
  });
});

const claims =
  compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="claims"><xs:complexType><xs:sequence>
  <xs:element name="claim" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="amount" type="xs:decimal"/><xs:element name="reported" type="xs:date"/>
    <xs:element name="paper" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:attribute name="id" type="xs:ID" use="required"/></xs:complexType></xs:element>
  </xs:sequence><xs:attribute name="follows" type="xs:IDREFS"/></xs:complexType></xs:element>
</xs:sequence></xs:complexType></xs:element></xs:schema>`);

const claim = (follows: string, id: string): string =>
  `<claim follows="${follows}"><amount>1.5</amount><reported>2026-01-01</reported><paper id="${id}"/></claim>`;

describe.each(names)('lists of references in %s', (name) => {
  it('are in views as they are in tables, without what each means', async () => {
    const target = targets[name]();
    const document = bytesOf(`<claims>${claim('a b', 'a')}${claim('b', 'b')}</claims>`);
    const { changes } = await load(target, modelOf(claims, 1), [document]);
    expect(changes.join()).toContain('views made: claim_view');
    const rows = await target.query((ask) => ask('select * from claim_view order by claim_key'));
    // SQLite has lists in tables of their own
    const texts = name === 'SQLite' ? [undefined, undefined] : [/a.*b/, /b/];
    expect(rows.map((row) => row['follows'])).toEqual(
      texts.map((text) => (text === undefined ? undefined : expect.toSatisfy((v) => text.test(String(v))))),
    );
    expect(Object.keys(rows[0]!).filter((column) => /^follows_(?:key|table)$/.test(column))).toEqual([]);
  });
});

describe('references in the script of a folder', needs(mariadbParts), () => {
  it('are followed in MariaDB', async () => {
    const folder = join(directory, 'tsv');
    const sink = createFolderRowSink({ directory: folder, format: 'tsv' });
    await loadInto(sink, { model, idJob: 1, views: true }, [twice]);
    const server = await startMariadb();
    try {
      await server.run('CREATE DATABASE loaded;');
      for (const name of ['load.mysql.sql', 'views.mysql.sql'])
        await server.run(await readFile(join(folder, name), 'utf8'), folder, 'loaded');
      const rows = (await server.run(`${selectMeant};`, folder, 'loaded')).trim().split('\n').slice(1);
      expect(rows.map((row) => row.split('\t').map((value) => (value === 'NULL' ? null : value)))).toEqual(
        meantOnce,
      );
    } finally {
      await server.stop();
    }
  });
});

describe('looking them up in PostgreSQL', () => {
  it('takes the indexes of ids, and nothing where nobody asks for it', async () => {
    const target = targets.PostgreSQL();
    const tasks = Array.from({ length: 2000 }, (_, at) => named('task', `t${at}`, 'pack'));
    const flows = Array.from({ length: 2000 }, (_, at) => flow(`t${at}`, `t${(at * 7) % 2000}`));
    await load(target, model, [netOf(...tasks, ...flows)]);
    await target.query(async (ask) => {
      await ask('analyze');
      const plan = async (text: string): Promise<string> =>
        (await ask(`explain ${text}`)).map((row) => String(row['QUERY PLAN'])).join('\n');
      const one = await plan('select * from flow_view where flow_key = 7');
      expect(one).toMatch(/Index Scan using \S+ on task/);
      expect(one).not.toMatch(/Seq Scan on (?:task|flow)\b/);
      expect(await plan('select count(*) from flow_view')).not.toMatch(/\bon (?:task|gate)\b/);
    });
  });
});

/** By number of the document, values of what is called an id in its standard. */
function idsOf(bytes: Uint8Array): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [readXml(new TextDecoder().decode(bytes))];
  for (const { attributes, children } of open) {
    for (const { localName, value } of attributes)
      if (/^(?:id|identifier)$/i.test(localName)) found.add(value);
    open.push(...children.filter((child) => typeof child !== 'string'));
  }
  return found;
}

const maxDocuments = 4;

/** Sets with references where several tables have ids. */
function setsWithReferences(): ReturnType<typeof corpusGroups> {
  return corpusGroups().filter(({ xsd, documents }) => {
    if (xsd === null || documents.length === 0) return false;
    return /fpml-main|BPMN20|reqif\.xsd|BuildingSync|HPXML|mzML/.test(xsd);
  });
}

describe('references of real documents', needs('corpus'), () => {
  it.each(some(setsWithReferences(), 1))('are right in every view: $xsd', async (group) => {
    const { source } = groupSource(group);
    const documents = group.documents.slice(0, maxDocuments).map((one) => readCorpus(one));
    const ids = documents.map(idsOf);
    const drawn = groupModel(source, 3, documents);
    const idColumns = Map.groupBy(allIds(drawn), ({ table }) => drawn.tables[table]!.name);
    for (const name of names) {
      const target = targets[name]();
      const { changes } = await load(target, drawn, documents);
      const views = changes
        .flatMap((change) => /^views made: (.*)/.exec(change)?.[1]!.split(', ') ?? [])
        .filter((view) => view !== idsViewName);
      const followed = await target.query(async (ask) => {
        let seen = 0;
        for (const view of views) {
          const [row] = await ask(`select * from "${view}" limit 1`);
          const there = new Set(Object.keys(row ?? {}));
          for (const column of there) {
            if (!there.has(`${column}_table`) || !there.has(`${column}_key`)) continue;
            const rows = await ask(
              `select document_key, "${column}" as told, "${column}_table" as meant, "${column}_key" as row_key from "${view}" where "${column}" is not null`,
            );
            for (const { document_key: document, told, meant, row_key: key } of rows) {
              seen += 1;
              expect([view, column, told, key !== null]).toEqual([
                view,
                column,
                told,
                ids[Number(document) - 1]!.has(String(told)),
              ]);
              if (key === null) continue;
              const columns = idColumns
                .get(String(meant))!
                .map((one) => drawn.tables[one.table]!.columns[one.column]!.name);
              const [found] = await ask(
                `select * from "${String(meant)}" where "${String(meant)}_key" = ${String(key)}`,
              );
              expect(columns.map((one) => found![one])).toContain(told);
              expect(String(found!['document_key'])).toBe(String(document));
            }
          }
        }
        return seen;
      });
      expect(followed).toBeGreaterThan(0);
    }
  });
});
