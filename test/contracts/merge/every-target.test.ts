/**
 * `-S m` on every target that knows it: a thousand replacements, compared with a model in memory, by what is written back; and with `--history` at
 * ten moments.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDuckDb } from '../../../src/adapters/duckdb/database.ts';
import { createDuckDbRowSink } from '../../../src/adapters/duckdb/target/sink.ts';
import { createDuckDbRowSource } from '../../../src/adapters/duckdb/target/source.ts';
import { createMysqlRowSink } from '../../../src/adapters/mysql/sink.ts';
import { createMysqlRowSource } from '../../../src/adapters/mysql/source.ts';
import { createPostgresRowSource } from '../../../src/adapters/postgres/target/read/source.ts';
import { createPostgresRowSink } from '../../../src/adapters/postgres/target/sink.ts';
import { createSqliteRowSink } from '../../../src/adapters/sqlite/target/sink.ts';
import { createSqliteRowSource } from '../../../src/adapters/sqlite/target/source.ts';
import { defaultEngineLimits } from '../../../src/engine/limits.ts';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import type { DocumentVersions } from '../../../src/engine/sql/document-versions.ts';
import { createTokenizerKernels } from '../../../src/engine/xml/tokenizer/fast.ts';
import { requestDefaults } from '../../../src/jobs/request/tool-request.ts';
import type { Published, RowSink } from '../../../src/ports/rows/sink.ts';
import type { RowSource } from '../../../src/ports/rows/source.ts';
import { documentNames } from '../../../src/tools/inputs/document-names.ts';
import { openInputs } from '../../../src/tools/inputs/list-files.ts';
import { createRejects } from '../../../src/tools/load/rejects.ts';
import { Loader, type LoaderSession } from '../../../src/tools/load/row-loader.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { compiled, modelOf } from '../../support/models/shredding.ts';
import { isHere, needs } from '../../support/needs.ts';
import { writeDocuments } from '../../support/round-trip/in-memory.ts';
import { mariadbParts, startMariadb, type TestMariadb } from '../../support/servers/mariadb.ts';
import { createEmptyDatabase, type TestDatabase } from '../../support/servers/postgres.ts';
import { mariadbAddress } from '../row-sinks/targets.ts';

const source = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="order"><xs:complexType><xs:sequence>
    <xs:element name="customer" type="xs:string"/>
    <xs:element name="tags" minOccurs="0"><xs:simpleType><xs:list itemType="xs:token"/></xs:simpleType></xs:element>
    <xs:element name="line" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="quantity" type="xs:decimal"/><xs:element name="part" type="Part" minOccurs="0" maxOccurs="unbounded"/>
    </xs:sequence></xs:complexType></xs:element>
  </xs:sequence><xs:attribute name="id" type="xs:string"/></xs:complexType></xs:element>
  <xs:complexType name="Part"><xs:sequence><xs:element name="part" type="Part" minOccurs="0" maxOccurs="unbounded"/></xs:sequence><xs:attribute name="no" type="xs:int"/></xs:complexType>
</xs:schema>`);

/** Numbers that look random and are the same in every run (Park and Miller). */
function createDice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => (state = (state * 48_271) % 2_147_483_647) % sides;
}

function orderOf(id: string, dice: (sides: number) => number): string {
  const lines = Array.from({ length: dice(4) }, () => {
    const number = dice(100);
    return `<line><quantity>${number}.${dice(10)}</quantity><part no="${number}"><part no="${-number}"/></part></line>`;
  });
  const tags = dice(2) === 0 ? '' : `<tags>a${dice(9)} b${dice(9)}</tags>`;
  const odd = dice(3) === 0 ? '<remark>odd</remark>' : '';
  return `<order id="${id}"><customer>customer ${dice(10_000)}</customer>${tags}${lines.join('')}${odd}</order>`;
}

interface MergeTarget {
  /** absent: as a load makes them */
  readonly indexes?: 'none';
  createSink(): RowSink;
  createSource(): RowSource;
  /** rows of a view */
  count(view: string): Promise<number>;
}

/** One job, as the tool does it. */
async function mergeFolder(
  { createSink, indexes }: MergeTarget,
  model: RelationalModel,
  folder: string,
  idJob: number,
  more: { readonly history?: true; readonly deleteMissing?: true },
): Promise<Published & { readonly loaded: number; readonly unchanged: number }> {
  const sink = createSink();
  const session: LoaderSession = {
    request: { ...requestDefaults, tool: 'xml2er', saveMode: 'merge', key: '/order/@id', ...more },
    limits: defaultEngineLimits,
    kernels: createTokenizerKernels(),
    idJob,
    byHand: true,
    log: () => undefined,
    progress: () => undefined,
  };
  try {
    const plan = { model, saveMode: 'merge', idJob, idSch: 1, idLschma: 1, allTables: false } as const;
    await sink.open({ ...plan, keys: 'sequence', ...(indexes === undefined ? {} : { indexes }) });
    const inputs = await openInputs([folder], documentNames(false));
    const rejects = createRejects(() => undefined);
    const logical = { idSch: 1, idLschma: 1, model } as ConstructorParameters<typeof Loader>[1];
    const options = { withStatistics: false, rowTag: null, rejects };
    const loader = new Loader(session, logical, sink, options, await sink.keyOffsets(), 0);
    await loader.leaveOutLoaded(inputs);
    for await (const member of inputs.members()) await loader.load(member);
    await loader.flush();
    const published = await sink.publish(async () => true, loader.lastKeys(), loader.known.merge);
    return { ...published, loaded: loader.findings().documents, unchanged: loader.skipped };
  } catch (error) {
    await sink.abort();
    throw error;
  } finally {
    await sink.close();
  }
}

/** By id, all documents of a version. */
async function written(
  reader: RowSource,
  model: RelationalModel,
  versions?: DocumentVersions,
): Promise<ReadonlyMap<string, readonly Uint8Array[]>> {
  const found = new Map<string, Uint8Array[]>();
  try {
    await reader.open(model);
    const keys = (await Array.fromAsync(reader.documents(undefined, versions))).map(({ key }) => key);
    expect(await reader.documentCount(undefined, versions)).toBe(keys.length);
    for (const key of keys) {
      const [document] = await writeDocuments(model, await reader.rowsOf(key), [key]);
      const id = /\bid="([^"]*)"/.exec(Buffer.from(document!).toString('utf8'))![1]!;
      found.set(id, [...(found.get(id) ?? []), document!]);
    }
  } finally {
    await reader.close();
  }
  return found;
}

function expectSame(
  there: ReadonlyMap<string, readonly Uint8Array[]>,
  model: ReadonlyMap<string, string>,
): void {
  expect([...there].map(([id, { length }]) => [id, length]).toSorted()).toEqual(
    [...model.keys()].map((id) => [id, 1]).toSorted(),
  );
  for (const [id, text] of model)
    expect([id, compareXml(Buffer.from(text), there.get(id)![0]!, { source })]).toEqual([id, []]);
}

/** 1,000 documents in all, or a few of them */
const [rounds, documentsPerRound] = isHere('whole run') ? [25, 40] : [4, 12];

describe('merges', { timeout: 600_000 }, () => {
  let database: TestDatabase;
  let mariadb: TestMariadb;
  let folders: string;
  const model = modelOf(source, 3);

  beforeAll(async () => {
    folders = await mkdtemp(join(tmpdir(), 'merges-'));
    database = await createEmptyDatabase();
    if (mariadbParts.every((part) => isHere(part))) {
      mariadb = await startMariadb();
      for (const name of ['replaced', 'kept']) await mariadb.run(`CREATE DATABASE ${name};`);
    }
  });
  afterAll(async () => {
    await mariadb?.stop();
    await database?.drop();
    await rm(folders, { recursive: true, force: true });
  });

  const targets: Readonly<Record<string, (name: string) => MergeTarget>> = {
    PostgreSQL: (name) => {
      const place = { url: database.url, sqlSchema: name };
      return {
        createSink: () => createPostgresRowSink({ ...place, createSchema: true }),
        createSource: () => createPostgresRowSource(place),
        count: async (view) => {
          const [row] = await database.sql.unsafe<{ n: number }[]>(
            `select count(*)::int as n from ${name}.${view}`,
          );
          return row!.n;
        },
      };
    },
    'PostgreSQL without indexes': (name) => ({ ...targets['PostgreSQL']!(`${name}_bare`), indexes: 'none' }),
    SQLite: (name) => {
      const file = join(folders, `${name}.sqlite`);
      return {
        createSink: () => createSqliteRowSink({ file }),
        createSource: () => createSqliteRowSource({ file }),
        count: async (view) => {
          const opened = new DatabaseSync(file, { readOnly: true });
          try {
            return Number(opened.prepare(`select count(*) as n from ${view}`).get()!['n']);
          } finally {
            opened.close();
          }
        },
      };
    },
    DuckDB: (name) => {
      const file = join(folders, `${name}.duckdb`);
      return {
        createSink: () => createDuckDbRowSink({ file }),
        createSource: () => createDuckDbRowSource({ file }),
        count: async (view) => {
          const opened = await openDuckDb(file, { directory: folders, memoryBytes: 256 * 2 ** 20 });
          try {
            const [row] = await opened.read<{ n: number }>(`SELECT count(*)::INTEGER AS n FROM ${view}`);
            return row!.n;
          } finally {
            opened.close();
          }
        },
      };
    },
    MariaDB: (name) => ({
      createSink: () => createMysqlRowSink(mariadbAddress(mariadb, name)),
      createSource: () => createMysqlRowSource(mariadbAddress(mariadb, name)),
      count: async (view) => {
        const told = await mariadb.run(`SELECT count(*) FROM ${view};`, undefined, name);
        return Number(told.trim().split('\n').at(-1));
      },
    }),
  };

  for (const [kind, targetOf] of Object.entries(targets))
    it.each([['replaced'], ['kept']] as const)(
      `of ${kind} are as a model in memory says: %s`,
      kind === 'MariaDB' ? needs(mariadbParts) : {},
      async (what) => {
        const target = targetOf(what);
        const more = what === 'kept' ? { history: true as const } : {};
        const dice = createDice(17);
        const current = new Map<string, string>();
        const moments: { readonly at: string; readonly documents: ReadonlyMap<string, string> }[] = [];
        let versions = 0;
        for (let round = 0; round < rounds; round += 1) {
          const folder = await mkdtemp(join(folders, 'inbox-'));
          const isWhole = round % 4 === 3;
          const documents = new Map<string, string>(isWhole ? current : []);
          for (let count = 0; count < documentsPerRound; count += 1) {
            const id = `order ${dice(documentsPerRound * 1.5)}`;
            const old = current.get(id);
            documents.set(id, old !== undefined && dice(4) === 0 ? old : orderOf(id, dice));
          }
          if (isWhole) for (const id of [...documents.keys()].slice(0, 5)) documents.delete(id);
          // another name each time, as the key is what counts
          let number = 0;
          for (const text of documents.values())
            await writeFile(join(folder, `${round}-${(number += 1)}.xml`), text);
          const expected = {
            inserted: [...documents.keys()].filter((id) => !current.has(id)).length,
            unchanged: [...documents].filter(([id, text]) => current.get(id) === text).length,
            deleted: isWhole ? [...current.keys()].filter((id) => !documents.has(id)).length : 0,
          };
          const replaced = documents.size - expected.inserted - expected.unchanged;
          const missing = isWhole ? { deleteMissing: true as const } : {};
          const merged = await mergeFolder(target, model, folder, round + 1, {
            ...more,
            ...missing,
          });
          expect({
            ...merged.merged,
            inserted: merged.loaded - replaced,
            unchanged: merged.unchanged,
          }).toEqual({
            ...expected,
            replaced,
          });
          if (isWhole) for (const id of current.keys()) if (!documents.has(id)) current.delete(id);
          for (const [id, text] of documents) current.set(id, text);
          versions += expected.inserted + replaced;
          await sleep(5);
          moments.push({ at: new Date().toISOString(), documents: new Map(current) });
          await sleep(5);
          await rm(folder, { recursive: true });
        }
        expectSame(await written(target.createSource(), model), current);
        if (what === 'replaced') return;
        const lines = [...current.values()].join('').split('<line>').length - 1;
        expect([await target.count('order_current'), await target.count('line_current')]).toEqual([
          current.size,
          lines,
        ]);
        for (const { at, documents } of moments.slice(-10))
          expectSame(await written(target.createSource(), model, { at }), documents);
        const all = await written(target.createSource(), model, 'all');
        expect([...all.values()].flat()).toHaveLength(versions);
        expect(await written(target.createSource(), model, { at: '2001-01-01T00:00:00.000Z' })).toEqual(
          new Map(),
        );
      },
    );
});
