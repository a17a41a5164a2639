/** /v2/schema: reading and generating. */
import { describe, expect, it } from 'vitest';
import { dialectNames } from '../../../../src/engine/sql/dialects/every-dialect.ts';
import { Mapping, SchemaShortInfoResponse, XMLSchema } from '../../../../src/http/routes/catalog-shapes.ts';
import { donutRelationalModel, donutSourceModel } from '../../../support/models/donut.ts';
import { createTestApp } from '../../../support/memory/adapters.ts';

async function createWithSchemas() {
  const app = await createTestApp();
  const { catalog } = app.adapters;
  const origin = {
    idOrg: 1,
    idParentSch: null,
    idJob: 7,
    name: 'donuts',
    sourceType: 'xsd' as const,
    model: donutSourceModel,
    files: [],
  };
  const first = await catalog.createOrigin({
    ...origin,
    files: [{ name: 'donut.xsd', bytes: 10, sha256: 'ab' }],
  });
  const second = await catalog.createOrigin({ ...origin, idParentSch: first.id_sch });
  const foreign = await catalog.createOrigin({ ...origin, idOrg: 2 });
  const plain = await catalog.createLogicalSchema(
    1,
    first.id_sch,
    { ...donutRelationalModel, mapLevel: 0, nameMaxLength: 30 },
    7,
  );
  const newest = await catalog.createLogicalSchema(1, first.id_sch, donutRelationalModel, 8);
  await catalog.createLogicalSchema(2, foreign.id_sch, donutRelationalModel, null);
  return {
    ...app,
    first: first.id_sch,
    second: second.id_sch,
    foreign: foreign.id_sch,
    plain: plain.idLschma,
    newest: newest.idLschma,
  };
}

describe('schemas', () => {
  it('are listed for their organisation', async () => {
    const { send, first, second } = await createWithSchemas();
    const all = XMLSchema.array().parse(await (await send('/v2/schema/all')).json());
    expect(all.map(({ id_sch: idSch }) => idSch).toSorted()).toEqual([first, second].toSorted());
  });

  it('are read with their newest logical schema, or the selected one', async () => {
    const { send, first, second, plain, newest } = await createWithSchemas();
    const read = async (query: string) =>
      XMLSchema.parse(await (await send(`/v2/schema/${first}${query}`)).json());
    expect(await read('')).toMatchObject({
      id_sch: first,
      id_org: 1,
      id_parent_sch: null,
      id_lschma: newest,
      id_job: 7,
      name: 'donuts',
      version: 1,
      source_type: 'xsd',
      root_elements: ['items'],
      target_namespace: 'urn:example:donuts',
      namespaces: { d: 'urn:example:donuts' },
      files: [{ name: 'donut.xsd', bytes: 10, sha256: 'ab' }],
      map_level: 3,
      max_length: 63,
      table_count: 2,
    });
    expect(await read(`?id_lschma=${plain}`)).toMatchObject({
      id_lschma: plain,
      map_level: 0,
      max_length: 30,
    });
    expect(XMLSchema.parse(await (await send(`/v2/schema/${second}`)).json())).toMatchObject({
      id_lschma: null,
      id_parent_sch: first,
      version: 2,
      table_count: 0,
    });
  });

  it('come with their family, oldest first, whichever member is asked for', async () => {
    const { send, first, second } = await createWithSchemas();
    for (const idSch of [first, second]) {
      const family = XMLSchema.array().parse(await (await send(`/v2/schema/family/${idSch}`)).json());
      expect(family.map((member) => [member.id_sch, member.version])).toEqual([
        [first, 1],
        [second, 2],
      ]);
    }
  });

  it('tell how long names may be, and the longest', async () => {
    const { send, first, second, plain } = await createWithSchemas();
    const read = async (path: string) =>
      SchemaShortInfoResponse.parse(await (await send(`/v2/schema/get/max/length/${path}`)).json());
    expect(await read(`${first}`)).toEqual({
      id_sch: first,
      name: 'donuts',
      max_length: 63,
      longest_name: 'topping_description',
    });
    expect((await read(`${first}?id_lschma=${plain}`)).max_length).toBe(30);
    expect(await read(`${second}`)).toEqual({
      id_sch: second,
      name: 'donuts',
      max_length: 63,
      longest_name: null,
    });
  });

  it('give their DDL as text, in every dialect', async () => {
    const { send, first, plain } = await createWithSchemas();
    const texts = new Set<string>();
    for (const query of ['', ...dialectNames.map((dialect) => `?dialect=${dialect}`)]) {
      const answer = await send(`/v2/schema/ddl/${first}${query}`);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('Content-Type')).toMatch(/^text\/plain/);
      const text = await answer.text();
      expect(text).toMatch(/create table .*topping/is);
      texts.add(text);
    }
    expect(await (await send(`/v2/schema/ddl/${first}`)).text()).toBe(
      await (await send(`/v2/schema/ddl/${first}?dialect=postgresql`)).text(),
    );
    expect(texts.size).toBeGreaterThan(1);
    expect((await send(`/v2/schema/ddl/${first}?id_lschma=${plain}`)).status).toBe(200);
    const unknown = await send(`/v2/schema/ddl/${first}?dialect=cobol`);
    expect(await unknown.json()).toMatchObject({ status: 400, errors: [{ pointer: '/query/dialect' }] });
  });

  it('are told as views of their business entities in every dialect', async () => {
    const { send, first, foreign, plain } = await createWithSchemas();
    for (const dialect of dialectNames) {
      const answer = await send(`/v2/schema/views/${first}?dialect=${dialect}`);
      expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'text/plain; charset=UTF-8']);
      expect([dialect, await answer.text()]).toEqual([
        dialect,
        expect.stringMatching(/^-- One row for each row of \w+ \(\/.*\nCREATE VIEW .\w+_view. AS\nSELECT\n/),
      ]);
    }
    expect((await send(`/v2/schema/views/${first}?id_lschma=${plain}`)).status).toBe(200);
    expect((await send(`/v2/schema/views/${first}?dialect=cobol`)).status).toBe(400);
    expect((await send(`/v2/schema/views/${foreign}`)).status).toBe(404);
  });

  it('have mappings for every source path, key and position', async () => {
    const { send, first, second, newest } = await createWithSchemas();
    const mappings = Mapping.array().parse(await (await send(`/v2/mapping/get/${first}`)).json());
    expect(
      mappings.map((mapping) => [mapping.xpath, mapping.table_name, mapping.column_name, mapping.key]),
    ).toEqual([
      ['/items/item', 'item', null, null],
      [null, 'item', 'item_key', 'PK'],
      ['/items/item/@id', 'item', 'id', null],
      [null, 'topping', 'topping_key', 'PK'],
      [null, 'topping', 'item_key', 'FK'],
      ['/items/item/topping', 'topping', 'topping_description', null],
    ]);
    expect(mappings.every((mapping) => mapping.id_lschma === newest && mapping.active)).toBe(true);
    expect(await (await send(`/v2/mapping/get/${second}`)).json()).toEqual([]);
  });

  it('are 404 when absent, of another organisation, or with a logical schema of another', async () => {
    const { send, first, second, foreign, newest } = await createWithSchemas();
    for (const path of ['', 'ddl/', 'family/', 'get/max/length/']) {
      for (const idSch of [foreign, 999, 0]) {
        expect([path, idSch, (await send(`/v2/schema/${path}${idSch}`)).status]).toEqual([path, idSch, 404]);
      }
    }
    expect((await send(`/v2/mapping/get/${foreign}`)).status).toBe(404);
    expect((await send(`/v2/schema/ddl/${second}`)).status).toBe(404);
    for (const path of ['/v2/schema/', '/v2/schema/ddl/', '/v2/schema/get/max/length/', '/v2/mapping/get/']) {
      expect([path, (await send(`${path}${second}?id_lschma=${newest}`)).status]).toEqual([path, 404]);
      expect([path, (await send(`${path}${first}?id_lschma=${newest + 1}`)).status]).toEqual([path, 404]);
      expect([path, (await send(`${path}${first}?id_lschma=x`)).status]).toEqual([path, 400]);
    }
  });
});

describe('about', () => {
  it('tells the organisation of the key', async () => {
    const { send, newKey } = await createWithSchemas();
    expect(await (await send('/v2/about/org')).json()).toEqual({
      id_org: 1,
      name: 'default',
      description: null,
      created: 1_790_000_000_000,
      schema_count: 0,
      job_count: 0,
    });
    const { key } = await newKey(2, []);
    expect(await (await send('/v2/about/org', { key })).json()).toMatchObject({ id_org: 2, name: 'other' });
  });

  it('lists the extensions and the settings of the tools', async () => {
    const on = await createTestApp();
    const off = await createTestApp({});
    expect(await (await on.send('/v2/extensions/list')).json()).toEqual({
      extensions: [
        { name: 'cil', title: 'Integration catalogue', path: '/v2/extensions/cil', enabled: true },
      ],
      action_params: {
        commands: true,
        levels: 3,
        levels_type: 0,
        loadConfig: expect.objectContaining({
          savemode: 'a',
          keys: 'sequence',
          unmapped: 'capture',
          'on-error': 'fail',
        }),
      },
    });
    expect(await (await off.send('/v2/extensions/list')).json()).toMatchObject({
      action_params: { commands: false },
    });
  });
});
