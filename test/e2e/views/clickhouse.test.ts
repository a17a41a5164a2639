/** Tables and views of the ClickHouse dialect, executed by ClickHouse over rows of real documents: they tell what those of DuckDB tell. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFolderRowSink } from '../../../src/targets/files/folder/sink.ts';
import { renderDdl } from '../../../src/engine/sql/ddl.ts';
import { dialectOf } from '../../../src/engine/sql/dialects/every-dialect.ts';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { entityViews } from '../../../src/engine/views/statements.ts';
import { createDuckDbRowSink } from '../../../src/targets/sql/duckdb/driver.ts';
import { readCorpus } from '../../support/corpus.ts';
import { bytesOf, compiled, modelOf } from '../../support/models/shredding.ts';
import { needs, skipFor } from '../../support/needs.ts';
import { corpusGroups, groupModel, groupSource } from '../../support/round-trip/corpus.ts';
import { loadInto } from '../../support/round-trip/postgres.ts';
import { firstLine, pythonProgram } from '../../support/tool-cache.ts';

const chdb = 'chdb==4.4.0';
const script = fileURLToPath(new URL('run-clickhouse.py', import.meta.url));
const dialect = dialectOf('clickhouse');
const corpora = ['iso20022', 'eforms', 'cdisc-odm', 'musicxml', 'junit', 'siri'];

let python: string | null = null;
let lack = '';
let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'clickhouse-'));
  python = await pythonProgram(chdb, 'python').catch((error: unknown) => {
    lack = firstLine(error);
    return null;
  });
}, 300_000);
afterAll(() => rm(directory, { recursive: true, force: true }));

type Rows = readonly Readonly<Record<string, string | null>>[];

async function runClickhouse(statements: readonly string[], queries: readonly string[]): Promise<Rows[]> {
  const run = promisify(execFile)(python!, [script], { maxBuffer: 256 * 1024 * 1024 });
  run.child.stdin!.end(JSON.stringify({ script: statements, queries }));
  return JSON.parse((await run).stdout) as Rows[];
}

/** Statements that insert the rows of a folder of JSON Lines. */
async function inserts(folder: string): Promise<string[]> {
  const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as {
    readonly tables: readonly {
      readonly name: string;
      readonly files: readonly { readonly name: string }[];
    }[];
  };
  return manifest.tables.flatMap(({ name, files }) =>
    files.map(
      (file) =>
        `INSERT INTO ${dialect.quote(name)} SELECT * FROM file(${dialect.literal(join(folder, file.name))}, JSONEachRow, 'auto')`,
    ),
  );
}

/** One value in one form: numbers without zeros at the end, times in ISO 8601 without a zone. */
function plain(value: string | null): string | null {
  // ClickHouse writes NULL so where all values are texts
  if (value === null || value === 'ᴺᵁᴸᴸ') return null;
  if (/^-?\d+\.\d+$/.test(value)) return value.replace(/\.?0+$/, '');
  const time = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?(?:Z|\+00)?$/.exec(value);
  return time === null ? value : `${time[1]}T${time[2]}${(time[3] ?? '').replace(/\.?0+$/, '')}`;
}

const sorted = (rows: Rows): string[] =>
  rows
    .map((row) => JSON.stringify(Object.entries(row).map(([name, value]) => [name, plain(value)])))
    .toSorted();

/** Rows of every view, in both databases. */
async function viewRows(
  model: RelationalModel,
  documents: readonly Uint8Array[],
): Promise<Readonly<Record<string, readonly [clickhouse: string[], duckdb: string[]]>>> {
  const folder = await mkdtemp(join(directory, 'rows-'));
  await loadInto(createFolderRowSink({ directory: folder, format: 'jsonl' }), { model, idJob: 1 }, documents);
  const file = join(folder, 'rows.duckdb');
  await loadInto(createDuckDbRowSink({ file }), { model, idJob: 1, allTables: true }, documents);
  const views = await entityViews(model, { dialect });
  const inDuckDb = await entityViews(model, { dialect: dialectOf('duckdb') });
  const ddl = renderDdl(model, { dialect: 'clickhouse' })
    .split(/;\n+/)
    .filter((statement) => statement.replaceAll(/^--.*$/gm, '').trim() !== '');
  const rows = await runClickhouse(
    [
      "SET date_time_input_format = 'best_effort'",
      ...ddl,
      ...views.flatMap(({ statements }) => statements),
      ...(await inserts(folder)),
    ],
    views.map(({ name }) => `SELECT * FROM ${dialect.quote(name)}`),
  );
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  try {
    const found: Record<string, [string[], string[]]> = {};
    for (const [at, { name, statements }] of inDuckDb.entries()) {
      await connection.run(statements[0]!);
      const described = await connection.runAndReadAll(`DESCRIBE SELECT * FROM "${name}"`);
      const columns = described
        .getRowObjectsJS()
        .map(({ column_name: column }) => `"${String(column)}"::VARCHAR AS "${String(column)}"`);
      const read = await connection.runAndReadAll(`SELECT ${columns.join(', ')} FROM "${name}"`);
      found[name] = [sorted(rows[at]!), sorted(read.getRowObjectsJS() as Rows)];
    }
    return found;
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

const order = (no: number, content: string): string =>
  `<order no="${no}"><placed>2026-01-0${no}T10:00:00+02:00</placed>${content}<line><amount>1.5</amount></line></order>`;

describe('views of ClickHouse', needs('whole run'), () => {
  test('tell of rows without partners, joined texts, local times and signed amounts', async (context) => {
    if (python === null) return skipFor(context, 'chdb', lack);
    const source = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
      <xs:element name="orders"><xs:complexType><xs:sequence><xs:element name="order" maxOccurs="unbounded"><xs:complexType><xs:sequence>
        <xs:element name="placed" type="xs:dateTime"/>
        <xs:element name="buyer" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="name" type="xs:string"/><xs:element name="vat" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
        <xs:element name="note" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>
        <xs:element name="line" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="amount" type="xs:decimal"/><xs:element name="text" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
      </xs:sequence><xs:attribute name="no" type="xs:int"/></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>`);
    const rows = await viewRows(modelOf(source, 1), [
      bytesOf(
        `<orders>${order(1, '<buyer><name>it\'s \\ a "name"</name></buyer><note>b</note><note>a</note>')}${order(2, '<note>c\nd</note>')}${order(3, '')}</orders>`,
      ),
    ]);
    expect(Object.keys(rows).length).toBeGreaterThan(1);
    for (const [name, [clickhouse, duckdb]] of Object.entries(rows))
      expect([name, clickhouse]).toEqual([name, duckdb]);
  });

  const groups = corpusGroups().filter(({ corpus, xsd }) => xsd !== null && corpora.includes(corpus));
  test.each(groups)('of $xsd tell what those of DuckDB tell', needs('corpus'), async (group) => {
    if (python === null) return;
    const documents = group.documents.slice(0, 3).map((name) => readCorpus(name));
    const { source } = groupSource(group);
    const rows = await viewRows(groupModel(source, 3, documents), documents);
    for (const [name, [clickhouse, duckdb]] of Object.entries(rows))
      expect([name, clickhouse]).toEqual([name, duckdb]);
  });
});
