/** /v2/extensions/cil: feeds. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import {
  CILJobDetailsDto,
  CILJobsDto,
  CILLineage,
  CILMapping,
  CILSequence,
  KeysResponse,
} from '../../../../src/http/routes/cil.ts';
import { createTestApp } from '../../../support/memory/adapters.ts';
import { newDonutJob } from '../../../support/memory/job-records.ts';
import { inferred } from '../../../support/models/shredding.ts';

const source = inferred([
  '<items><item id="1"><topping>a</topping><topping>b</topping></item><item id="2"/></items>',
]);
const model = buildRelationalModel(source, { mapLevel: 1 });
const worker = { workerId: 'w', host: 'h/1', osUser: 'svc', basePath: '/' };
const cil = '/v2/extensions/cil';

async function createWithRuns() {
  const app = await createTestApp();
  const { catalog, jobs } = app.adapters;
  const create = async (name: string, idOrg = 1, idParentSch: number | null = null) => {
    const { id_sch } = await catalog.createOrigin({
      idOrg,
      idParentSch,
      idJob: null,
      name,
      sourceType: 'xml',
      model: source,
      files: [],
    });
    await catalog.createLogicalSchema(idOrg, id_sch, model, null);
    return id_sch;
  };
  const run = async (
    idSch: number,
    summary: object,
    status: 'completed' | 'failed' = 'completed',
    idOrg = 1,
  ) => {
    await jobs.submit({ idOrg, workflowName: null, jobs: [newDonutJob], idempotency: null });
    const claim = (await jobs.claimJob(worker, 60_000))!;
    const { idLschma } = (await catalog.loadLogicalSchema(idOrg, { idSch }))!;
    await jobs.report(claim, { idSch, idLschma, summary });
    await jobs.finish(claim, status, status === 'failed' ? 'bad' : null);
    return claim.idJob;
  };
  const first = await create('donuts');
  const second = await create('donuts', 1, first);
  const cakes = await create('cakes/é'.replace('/', ' '));
  await create('foreign', 2);
  const one = await run(first, {
    documents: 1,
    rows: 5,
    rejected: 0,
    tables: { items: 1, item: 2, topping: 2 },
  });
  const two = await run(second, {
    documents: 2,
    rows: 6,
    rejected: 1,
    tables: { items: 2, item: 4 },
    details: {
      unmapped: [
        { xpath: '/items/item/price', count: 3 },
        { xpath: '/items/x', count: 1 },
      ],
      ignored: 2,
      rejects: [
        { document: 'bad.xml', line: 3, column: 7, code: 'not_well_formed', message: 'not well-formed' },
      ],
    },
  });
  const failed = await run(cakes, {}, 'failed');
  const read = async (path: string, init: { key?: string } = {}) =>
    await (await app.send(`${cil}/${path}`, init)).json();
  const status = async (path: string, key?: string) =>
    (await app.send(`${cil}/${path}`, key === undefined ? {} : { key })).status;
  const update = async (body: unknown) =>
    await app.send(`${cil}/keys/update`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    });
  const { key: stranger } = await app.newKey(2, ['jobs:read', 'schemas:write']);
  return { ...app, first, second, one, two, failed, read, status, update, stranger };
}

describe('runs of feeds', () => {
  it('are listed newest first, with their sums', async () => {
    const { read, one, two, failed, stranger } = await createWithRuns();
    const page = CILJobsDto.parse(await read('jobs'));
    expect(page.content.map(({ pid, cfxml }) => [pid, cfxml])).toEqual([
      [failed, 'cakes é'],
      [two, 'donuts'],
      [one, 'donuts'],
    ]);
    expect(page.content[0]).toMatchObject({ status: 'F', documents: 0, rows: 0 });
    expect(page.content[1]).toMatchObject({
      status: 'C',
      job_type: 'Parse',
      documents: 2,
      rows: 6,
      rejected: 1,
      unmapped: 4,
    });
    expect(CILJobsDto.parse(await read('jobs/1?size=2'))).toMatchObject({
      page: 1,
      size: 2,
      total_elements: 3,
      total_pages: 2,
    });
    expect(CILJobsDto.parse(await read('jobs/9')).content).toEqual([]);
    expect(CILJobsDto.parse(await read('jobs', { key: stranger })).content).toEqual([]);
  });

  it('are read one by one, or the latest', async () => {
    const { read, status, one, two, failed, first, second, stranger } = await createWithRuns();
    const latest = CILJobDetailsDto.parse(await read('job/donuts'));
    expect(latest).toMatchObject({
      pid: two,
      unmapped: 4,
      ignored: 2,
      tables: [
        { table_name: 'items', rows: 2 },
        { table_name: 'item', rows: 4 },
      ],
      unmapped_xpaths: [
        { xpath: '/items/item/price', count: 3 },
        { xpath: '/items/x', count: 1 },
      ],
      rejects: [
        { document: 'bad.xml', line: 3, column: 7, code: 'not_well_formed', message: 'not well-formed' },
      ],
      versions: [
        { id_sch: first, version: 1 },
        { id_sch: second, version: 2 },
      ],
    });
    expect(CILJobDetailsDto.parse(await read(`job/donuts/${one}`))).toMatchObject({
      pid: one,
      rows: 5,
      ignored: 0,
    });
    expect(CILJobDetailsDto.parse(await read(`job/${encodeURIComponent('cakes é')}`)).pid).toBe(failed);
    for (const path of [
      'job/none',
      'job/donuts/99',
      `job/donuts/${'9'.repeat(60)}`,
      `job/donuts/${failed}`,
      'job/foreign',
    ])
      expect([path, await status(path)]).toEqual([path, 404]);
    expect(await status(`job/donuts/${one}`, stranger)).toBe(404);
    expect(await status('job/foreign', stranger)).toBe(404);
    for (const pid of ['x', '-1', '1.5']) expect(await status(`job/donuts/${pid}`)).toBe(400);
  });
});

describe('mappings, lineage and sequences', () => {
  it('name the tables of each feed, with their rows over all versions', async () => {
    const { read, status } = await createWithRuns();
    const mappings = CILMapping.array().parse(await read('mapping/donuts'));
    expect(mappings.map(({ mapping, source_xpath, rows }) => [mapping, source_xpath, rows])).toEqual([
      ['items', '/items', 3],
      ['item', '/items/item', 6],
      ['topping', '/items/item/topping', 2],
    ]);
    expect(mappings[1]).toMatchObject({
      cfxml: 'donuts',
      group: 'donuts',
      target_table: 'item',
      column_count: 5,
    });
    const all = CILMapping.array().parse(await read('mappings'));
    expect(all.map(({ cfxml }) => cfxml)).toEqual([...Array(3).fill('donuts'), ...Array(3).fill('cakes é')]);
    expect(await read('mapping/group')).toEqual({ donuts: 3, 'cakes é': 3 });
    expect(await status('mapping/none')).toBe(404);
  });

  it('trace each column to its source', async () => {
    const { read, status, two } = await createWithRuns();
    const lineage = CILLineage.array().parse(await read('lineage/donuts/item'));
    expect(lineage.map((line) => [line.target_column, line.source_xpath, line.transformation])).toEqual([
      ['item_key', null, 'row key'],
      ['document_key', null, 'key of the document'],
      ['items_key', null, 'key of the row above, or of one below'],
      ['position', null, 'position among the children'],
      ['id', '/items/item/@id', 'converted to integer'],
    ]);
    expect(lineage[4]).toMatchObject({ source_type: 'xs:int', target_type: 'integer', pid: two });
    // loaded by the first version alone, of whose lines these are none
    expect(CILLineage.array().parse(await read('lineage/donuts/topping'))[0]!.pid).toBeNull();
    expect(await status('lineage/donuts/none')).toBe(404);
    expect(await status('lineage/none/item')).toBe(404);
  });

  it('number the keys in load order', async () => {
    const { read, status } = await createWithRuns();
    const sequences = CILSequence.array().parse(await read('sequence/donuts'));
    expect(
      sequences.map((one) => [
        one.sequence,
        one.target_column,
        one.load_order,
        one.last_value,
        one.increment,
      ]),
    ).toEqual([
      ['items_items_key_seq', 'items_key', 1, 3, 1],
      ['item_item_key_seq', 'item_key', 2, 6, 1],
      ['topping_topping_key_seq', 'topping_key', 3, 2, 1],
    ]);
    expect(CILSequence.array().parse(await read('sequences'))).toHaveLength(6);
    expect(await status('sequence/none')).toBe(404);
  });
});

describe('keys', () => {
  it('are listed by feed and over all, page by page', async () => {
    const { read, status } = await createWithRuns();
    const keys = KeysResponse.parse(await read('keys/donuts/0'));
    expect(
      keys.content.map((key) => [key.table_name, key.column_name, key.key_type, key.references]),
    ).toEqual([
      ['items', 'items_key', 'PK', null],
      ['items', 'document_key', 'FK', '_documents.document_key'],
      ['item', 'item_key', 'PK', null],
      ['item', 'items_key', 'FK', 'items.items_key'],
      ['topping', 'topping_key', 'PK', null],
      ['topping', 'item_key', 'FK', 'item.item_key'],
    ]);
    expect(KeysResponse.parse(await read('keys/0')).total_elements).toBe(12);
    expect(KeysResponse.parse(await read('keys/1?size=10')).content).toHaveLength(2);
    expect(await status('keys/none/0')).toBe(404);
    expect(await status('keys/x')).toBe(400);
  });

  it('declared ones reach the DDL as unique constraints, until they are dropped', async () => {
    const { read, update, send, second } = await createWithRuns();
    const ddl = async (dialect = 'postgresql') =>
      await (await send(`/v2/schema/ddl/${second}?dialect=${dialect}`)).text();
    const before = await ddl();
    const answer = await update({
      cfxml: 'donuts',
      keys: [{ table_name: 'item', column_name: 'id', key_type: 'NK' }],
    });
    expect([answer.status, await answer.json()]).toEqual([200, { cfxml: 'donuts', changed: 1 }]);
    const natural = KeysResponse.parse(await read('keys/donuts/0')).content.filter(
      (key) => key.key_type === 'NK',
    );
    expect(natural.map((key) => [key.column_name, key.position])).toEqual([['id', 1]]);
    expect(await ddl()).toMatch(/"item_natural_key" UNIQUE \("id"\)/);
    expect(await ddl('sqlite')).toMatch(/UNIQUE/);
    await update({ cfxml: 'donuts', keys: [{ table_name: 'item', column_name: 'id', key_type: null }] });
    expect(await ddl()).toBe(before);
  });

  it('are changed all or none', async () => {
    const { read, update, send, stranger } = await createWithRuns();
    const good = { table_name: 'item', column_name: 'id', key_type: 'NK' };
    const cases: [unknown, number][] = [
      [{ cfxml: 'donuts', keys: [good, { ...good, table_name: 'none' }] }, 404],
      [{ cfxml: 'donuts', keys: [good, { ...good, column_name: 'none' }] }, 404],
      [{ cfxml: 'none', keys: [good] }, 404],
      [{}, 400],
      [{ cfxml: 'donuts', keys: [] }, 400],
      [{ cfxml: 'donuts', keys: [{ ...good, key_type: 'PK' }] }, 400],
      [{ cfxml: 'donuts', keys: [{ ...good, position: 0 }] }, 400],
      ...['item_key', 'items_key', 'position'].map((column_name): [unknown, number] => [
        { cfxml: 'donuts', keys: [good, { ...good, column_name }] },
        400,
      ]),
    ];
    for (const [body, status] of cases) expect([body, (await update(body)).status]).toEqual([body, status]);
    const foreign = await send(`${cil}/keys/update`, {
      method: 'POST',
      key: stranger,
      body: JSON.stringify({ cfxml: 'donuts', keys: [good] }),
      headers: { 'Content-Type': 'application/json' },
    });
    expect(foreign.status).toBe(404);
    expect(
      KeysResponse.parse(await read('keys/donuts/0')).content.some(({ key_type }) => key_type === 'NK'),
    ).toBe(false);
    const get = await send(`${cil}/keys/update`);
    expect([get.status, get.headers.get('Allow')]).toEqual([405, 'POST']);
  });
});
