/** POST /v2/schema/create. */
import { describe, expect, it } from 'vitest';
import { SchemaDetails } from '../../../../src/http/routes/catalog-shapes.ts';
import { createTestApp } from '../../../support/memory/adapters.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="items"><xs:complexType><xs:sequence>
  <xs:element name="item" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="name" type="xs:string"/></xs:sequence>
  <xs:attribute name="id" type="xs:int" use="required"/></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>`;
const xml = '<items><item id="1"><name>Cake</name></item></items>';

const bytes = (text: string) => new TextEncoder().encode(text);

async function createWithUploads() {
  const app = await createTestApp();
  app.adapters.files.put(1, 'uploads/1/donut.xsd', bytes(xsd));
  app.adapters.files.put(1, 'uploads/2/donut.xml', bytes(xml));
  app.adapters.files.put(
    1,
    'uploads/3/bad.xsd',
    bytes('<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element>'),
  );
  app.adapters.files.put(2, 'uploads/4/foreign.xsd', bytes(xsd));
  const create = async (body: unknown, path = '/v2/schema/create') =>
    await app.send(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    });
  return { ...app, create };
}

describe('POST /v2/schema/create', () => {
  it('makes a schema of an XSD, and says where it is', async () => {
    const { create, send } = await createWithUploads();
    const answer = await create({
      name: 'donuts',
      xsd: ['uploads/1/donut.xsd'],
      map_level: 1,
      name_max_len: 30,
    });
    expect(answer.status).toBe(201);
    const made = SchemaDetails.parse(await answer.json());
    const location = new URL(answer.headers.get('Location')!, 'http://host/below/v2/schema/create');
    expect(location.pathname).toBe(`/below/v2/schema/${made.id_sch}`);
    expect(made).toMatchObject({
      name: 'donuts',
      version: 1,
      source_type: 'xsd',
      root_elements: ['items'],
      map_level: 1,
      max_length: 30,
      id_job: null,
      table_count: 2,
    });
    expect(made.files.map(({ name }) => name)).toEqual(['donut.xsd']);
    expect(made.tables.map((table) => [table.name, table.columns.map(({ name }) => name)])).toEqual([
      ['items', ['items_key', 'document_key']],
      ['item', ['item_key', 'document_key', 'items_key', 'position', 'id', 'name']],
    ]);
    const { tables: _, ...record } = made;
    expect(await (await send(`/v2/schema/${made.id_sch}`)).json()).toEqual(record);
  });

  it('makes one of documents, with their statistics', async () => {
    const { create, send } = await createWithUploads();
    const made = SchemaDetails.parse(
      await (await create({ name: 'donuts', xml: ['uploads/2/donut.xml'] })).json(),
    );
    expect(made).toMatchObject({ source_type: 'xml', map_level: 3, max_length: 63 });
    const stats = (await (await send(`/v2/mapping/get_stats/${made.id_sch}`)).json()) as {
      occurrences: number;
    }[];
    expect(stats.some(({ occurrences }) => occurrences === 1)).toBe(true);
    const both = await create({ name: 'both', xsd: ['uploads/1/donut.xsd'], xml: ['uploads/2/donut.xml'] });
    expect(SchemaDetails.parse(await both.json()).source_type).toBe('xsd+xml');
  });

  it('makes the next version of a schema', async () => {
    const { create } = await createWithUploads();
    const first = SchemaDetails.parse(
      await (await create({ name: 'donuts', xsd: ['uploads/1/donut.xsd'], map_level: 0 })).json(),
    );
    const again = await create({ name: 'donuts', xsd: ['uploads/1/donut.xsd'] });
    expect(again.status).toBe(409);
    const next = await create({ name: 'donuts', xsd: ['uploads/1/donut.xsd'], id_parent_sch: first.id_sch });
    expect(SchemaDetails.parse(await next.json())).toMatchObject({
      version: 2,
      id_parent_sch: first.id_sch,
      map_level: 0,
    });
    expect((await create({ name: 'new', xsd: ['uploads/1/donut.xsd'], id_parent_sch: 99 })).status).toBe(404);
  });

  it('tells what is wrong', async () => {
    const { create, adapters, newKey, send } = await createWithUploads();
    const bad = await create({ name: 'bad', xsd: ['uploads/3/bad.xsd'] });
    expect(bad.status).toBe(422);
    const problem = (await bad.json()) as { code: string; errors: { detail: string }[] };
    expect(problem.code).toBe('unprocessable_input');
    expect(problem.errors[0]!.detail).toMatch(/bad\.xsd: line \d+, column \d+/);
    const good = { name: 'x', xsd: ['uploads/1/donut.xsd'] };
    const cases: [unknown, number][] = [
      [{}, 400],
      [{ name: 'x' }, 400],
      [{ name: 'x', xsd: [] }, 400],
      [{ ...good, name: '' }, 400],
      [{ ...good, name: 'a/b' }, 400],
      [{ ...good, name: '.' }, 400],
      [{ ...good, name: '..' }, 400],
      [{ ...good, name: 'group' }, 400],
      [{ ...good, map_level: 4 }, 400],
      [{ ...good, name_max_len: 11 }, 400],
      [{ ...good, more: 1 }, 400],
      [{ name: 'x', xsd: ['uploads/9/none.xsd'] }, 400],
      [{ name: 'x', xsd: ['uploads/4/foreign.xsd'] }, 400],
      [{ name: 'x', xsd: ['../../etc/passwd'] }, 400],
    ];
    for (const [body, status] of cases) expect([body, (await create(body)).status]).toEqual([body, status]);
    expect(await adapters.catalog.listOrigins(1)).toEqual([]);
    const { key } = await newKey(1, ['schemas:read']);
    const refused = await send('/v2/schema/create', {
      method: 'POST',
      key,
      body: JSON.stringify(good),
      headers: { 'Content-Type': 'application/json' },
    });
    expect(refused.status).toBe(403);
  });

  it('says which of several paths is wrong', async () => {
    const { create } = await createWithUploads();
    for (const [wrong, code] of [
      ['uploads/9/none.xsd', 'input_not_found'],
      ['../../etc/passwd', 'path_not_allowed'],
    ] as const) {
      const answer = await create({ name: 'donuts', xsd: ['uploads/1/donut.xsd', wrong] });
      expect(await answer.json()).toMatchObject({ code, errors: [{ pointer: '/xsd/1' }] });
    }
  });

  it('says which map levels there are', async () => {
    const { create } = await createWithUploads();
    const answer = await create({ name: 'donuts', xsd: ['uploads/1/donut.xsd'], map_level: 4 });
    expect(await answer.json()).toMatchObject({ detail: '/map_level must be 0, 1, 2 or 3' });
  });
});
