/** /v2/mapping: statistics, activation, comparison, downloads. */
import { describe, expect, it } from 'vitest';
import {
  MappingComparison,
  Mapping,
  StatsMapping,
  XMLSchema,
} from '../../../../src/http/routes/catalog-shapes.ts';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { inferSourceModel } from '../../../../src/engine/infer/source-model.ts';
import { mergeStatistics } from '../../../../src/engine/infer/merge-statistics.ts';
import { readZip } from '../../../support/read-zip.ts';
import { compiled, statisticsOf } from '../../../support/models/shredding.ts';
import { createTestApp } from '../../../support/memory/adapters.ts';

const monday = `<items><item id="1001"><name>=cake, "big"</name><topping>None</topping><topping>Glazed</topping></item>
  <item id="1002"><name>Raised</name></item></items>`;
const tuesday =
  '<items><item id="1003"><name>Old</name><topping>Sugar</topping><price>1.50</price></item></items>';

/** An origin made from Monday's document, and statistics of two jobs. */
async function createWithDonuts() {
  const app = await createTestApp();
  const { catalog } = app.adapters;
  const [first, second] = [statisticsOf([monday]), statisticsOf([tuesday])];
  const model = inferSourceModel(first);
  const { id_sch: idSch } = await catalog.createOrigin({
    idOrg: 1,
    idParentSch: null,
    idJob: 7,
    name: 'donuts é',
    sourceType: 'xml',
    model,
    files: [],
  });
  const relational = buildRelationalModel(model, { mapLevel: 1 });
  const { idLschma } = await catalog.createLogicalSchema(1, idSch, relational, 7);
  await catalog.saveStatistics(1, idSch, 7, first, () => first);
  await catalog.saveStatistics(1, idSch, 8, second, () => mergeStatistics(first, second));
  const mappings = async (query = '') =>
    Mapping.array().parse(await (await app.send(`/v2/mapping/get/${idSch}${query}`)).json());
  const post = async (verb: string, body: object) =>
    await app.send(`/v2/mapping/${verb}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    });
  const { key: foreign } = await app.newKey(2, ['schemas:read', 'schemas:write']);
  return { ...app, catalog, idSch, idLschma, mappings, post, foreign, relational };
}

const shop = (uri: string, article: string): string =>
  `<s:cart xmlns:s="${uri}"><s:article s:code="7" code="8">${article}</s:article></s:cart>`;

describe('GET /v2/mapping/get_stats', () => {
  it('counts what stands on paths of the schema: equal local names of another namespace are others', async () => {
    const { send, adapters } = await createTestApp();
    const { catalog } = adapters;
    const own = ['urn:shop', 'urn:shop'].map((uri, at) => statisticsOf([shop(uri, `own ${at}`)]));
    const source = inferSourceModel(own[0]!);
    const { id_sch: idSch } = await catalog.createOrigin({
      idOrg: 1,
      idParentSch: null,
      idJob: null,
      name: 'shop',
      sourceType: 'xsd',
      model: source,
      files: [],
    });
    await catalog.createLogicalSchema(1, idSch, buildRelationalModel(source, { mapLevel: 3 }), null);
    const within = `<s:cart xmlns:s="urn:shop" xmlns="urn:else"><article code="z">within</article></s:cart>`;
    const jobs = [own[0]!, statisticsOf([shop('urn:other', 'zzz')]), own[1]!, statisticsOf([within])];
    jobs.push(statisticsOf(['<cart><article code="zz">bare</article></cart>']));
    for (const [at, statistics] of jobs.entries())
      await catalog.saveStatistics(1, idSch, 20 + at, statistics, (earlier) =>
        [...(earlier as (typeof statistics)[]), statistics].reduce(mergeStatistics),
      );
    const stats = StatsMapping.array().parse(await (await send(`/v2/mapping/get_stats/${idSch}`)).json());
    const at = (path: string) => stats.find(({ xpath }) => xpath === path);
    expect(at('/cart/article')).toMatchObject({ documents: 2, min_value: 'own 0', max_value: 'own 1' });
    expect(at('/cart/article/@code')).toMatchObject({ documents: 2, min_value: '8', max_value: '8' });
  });

  it('joins the statistics of all runs with the map', async () => {
    const { send, idSch } = await createWithDonuts();
    const stats = StatsMapping.array().parse(await (await send(`/v2/mapping/get_stats/${idSch}`)).json());
    const at = (path: string) => stats.find(({ xpath }) => xpath === path);
    expect(at('/items/item')).toMatchObject({
      table_name: 'item',
      column_name: null,
      documents: 2,
      occurrences: 3,
      min_occurs: 1,
      max_occurs: 2,
      inferred_type: 'elements',
      min_value: null,
      distinct_estimate: 0,
    });
    expect(at('/items/item/@id')).toMatchObject({
      column_name: 'id',
      documents: 2,
      occurrences: 3,
      min_occurs: 1,
      max_occurs: 1,
      min_length: 4,
      max_length: 4,
      inferred_type: 'integer',
      min_value: '1001',
      max_value: '1003',
      distinct_estimate: 3,
    });
    expect(stats.filter(({ xpath }) => xpath === '/items/item/topping')).toContainEqual(
      expect.objectContaining({
        column_name: 'value',
        documents: 2,
        occurrences: 3,
        min_occurs: 0,
        max_occurs: 2,
        max_value: 'Sugar',
      }),
    );
    expect(stats.every(({ xpath }) => xpath !== '/items/item/price')).toBe(true);
  });

  it('gives the figures of one job alone', async () => {
    const { send, idSch } = await createWithDonuts();
    const stats = StatsMapping.array().parse(await (await send(`/v2/mapping/get_stats/${idSch}/8`)).json());
    expect(stats.find(({ xpath }) => xpath === '/items/item/@id')).toMatchObject({
      documents: 1,
      occurrences: 1,
      min_value: '1003',
    });
  });

  it('shows zeros where no document was read, and 404 for strangers', async () => {
    const { send, catalog, relational, idSch, foreign } = await createWithDonuts();
    const { id_sch: unread } = await catalog.createOrigin({
      idOrg: 1,
      idParentSch: null,
      idJob: null,
      name: 'unread',
      sourceType: 'xsd',
      model: inferSourceModel(statisticsOf([monday])),
      files: [],
    });
    expect(await (await send(`/v2/mapping/get_stats/${unread}`)).json()).toEqual([]);
    await catalog.createLogicalSchema(1, unread, relational, null);
    const stats = StatsMapping.array().parse(await (await send(`/v2/mapping/get_stats/${unread}`)).json());
    expect(stats.length).toBeGreaterThan(3);
    expect(stats.every((line) => line.documents === 0 && line.inferred_type === 'none')).toBe(true);
    for (const path of [`${idSch}/9`, `${unread}/7`, '99', '99/7'])
      expect([path, (await send(`/v2/mapping/get_stats/${path}`)).status]).toEqual([path, 404]);
    expect((await send(`/v2/mapping/get_stats/${idSch}`, { key: foreign })).status).toBe(404);
    expect((await send(`/v2/mapping/get_stats/x`)).status).toBe(400);
  });
});

describe('GET /v2/mapping/compare', () => {
  it('tells what differs between two maps, path by path', async () => {
    const { send, catalog, idSch, idLschma } = await createWithDonuts();
    expect(await (await send(`/v2/mapping/compare/${idSch}/${idSch}`)).json()).toEqual([]);
    const model = inferSourceModel(statisticsOf([monday.replaceAll('1001', 'A-1'), tuesday]));
    const { id_sch: next } = await catalog.createOrigin({
      idOrg: 1,
      idParentSch: idSch,
      idJob: null,
      name: 'donuts é',
      sourceType: 'xml',
      model,
      files: [],
    });
    await catalog.createLogicalSchema(1, next, buildRelationalModel(model, { mapLevel: 1 }), null);
    const read = async (path: string) =>
      MappingComparison.array().parse(await (await send(`/v2/mapping/compare/${path}`)).json());
    const changes = await read(`${idSch}/${next}`);
    expect(changes.map(({ xpath, change }) => [xpath, change])).toEqual([
      ['/items/item', 'changed'],
      ['/items/item/@id', 'changed'],
      ['/items/item/price', 'added'],
    ]);
    expect(changes[1]!.differences).toEqual(
      expect.arrayContaining([{ field: 'source_type', from: 'xs:int', to: 'xs:string' }]),
    );
    expect(changes[1]!.from!.id_sch).toBe(idSch);
    expect(changes[2]).toMatchObject({ from: null, to: { column_name: 'price' } });
    expect((await read(`${next}/${idSch}`)).map(({ change }) => change)).toEqual([
      'changed',
      'changed',
      'removed',
    ]);
    const all = await read(`${idSch}/${next}?all=true`);
    expect(all.filter(({ change }) => change === 'same').length).toBeGreaterThan(2);
    expect(await read(`${idSch}/${idSch}?from_lschma=${idLschma}`)).toEqual([]);
    for (const path of ['99/1', `${idSch}/99`])
      expect((await send(`/v2/mapping/compare/${path}`)).status).toBe(404);
    expect((await send(`/v2/mapping/compare/${idSch}/x`)).status).toBe(400);
    expect((await send(`/v2/mapping/compare/${idSch}/${next}?all=maybe`)).status).toBe(400);
  });
});

describe('GET /v2/mapping/download', () => {
  it('is of the format that Accept prefers, restricted by ?format', async () => {
    const { send, idSch } = await createWithDonuts();
    const workbook = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
    for (const [query, accept, type, start] of [
      ['', '*/*', workbook, 'PK'],
      ['', 'text/html, */*;q=0.8', workbook, 'PK'],
      ['', 'application/octet-stream', 'application/octet-stream', 'PK'],
      ['', 'text/csv', 'text/csv; charset=utf-8', 'xpath,'],
      ['', 'application/json, text/csv;q=0.5', 'application/json', '['],
      ['?format=csv', '*/*', 'text/csv; charset=utf-8', 'xpath,'],
      ['?format=csv', 'application/json;q=0.9, text/*;q=0.1', 'text/csv; charset=utf-8', 'xpath,'],
      ['?format=json', 'application/octet-stream', 'application/octet-stream', '['],
    ] as const) {
      const answer = await send(`/v2/mapping/download/${idSch}${query}`, { headers: { Accept: accept } });
      const [sent, text] = [answer.headers.get('Content-Type'), await answer.text()];
      expect([query, accept, sent, text.startsWith(start)]).toEqual([query, accept, type, true]);
      expect(answer.headers.get('Vary')).toBe('Accept, Accept-Encoding');
    }
    for (const [query, accept] of [
      ['', 'text/html'],
      ['', 'application/pdf, text/csv;q=0'],
      ['?format=csv', 'application/json'],
    ] as const) {
      const answer = await send(`/v2/mapping/download/${idSch}${query}`, { headers: { Accept: accept } });
      expect(answer.headers.get('Content-Type')).toBe('application/problem+json');
      expect(await answer.json()).toMatchObject({ status: 406, code: 'not_acceptable' });
    }
  });

  it('is a workbook by default, with formulas made harmless', async () => {
    const { send, idSch, mappings, catalog } = await createWithDonuts();
    const answer = await send(`/v2/mapping/download/${idSch}`);
    expect(answer.headers.get('Content-Type')).toBe(
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    );
    expect(answer.headers.get('Content-Disposition')).toBe(
      'attachment; filename="donuts _-mapping.xlsx"; filename*=UTF-8\'\'donuts%20%C3%A9-mapping.xlsx',
    );
    const parts = await readZip(new Uint8Array(await answer.arrayBuffer()));
    expect([...parts.keys()]).toEqual([
      '[Content_Types].xml',
      '_rels/.rels',
      'xl/workbook.xml',
      'xl/_rels/workbook.xml.rels',
      'xl/styles.xml',
      'xl/worksheets/sheet1.xml',
      'xl/worksheets/sheet2.xml',
      'xl/worksheets/sheet3.xml',
    ]);
    const sheet = parts.get('xl/worksheets/sheet1.xml')!;
    expect(sheet.match(/<row /g)).toHaveLength((await mappings()).length + 1);
    expect(sheet).toContain('<c r="A1" s="1" t="inlineStr"><is><t xml:space="preserve">xpath</t></is></c>');
    expect(sheet).toContain('/items/item/@id');

    const evil = buildRelationalModel({ ...inferSourceModel(statisticsOf([monday])) }, { mapLevel: 1 });
    const { id_sch: other } = await catalog.createOrigin({
      idOrg: 1,
      idParentSch: null,
      idJob: null,
      name: 'evil',
      sourceType: 'xml',
      model: inferSourceModel(statisticsOf([monday])),
      files: [],
    });
    const mappingsWithFormula = evil.mappings.map((line) => ({
      ...line,
      documentation: '=HYPERLINK("x") & \u0001<b>',
    }));
    await catalog.createLogicalSchema(1, other, { ...evil, mappings: mappingsWithFormula }, null);
    const csv = await (await send(`/v2/mapping/download/${other}?format=csv`)).text();
    expect(csv).toContain(`"'=HYPERLINK(""x"") & `);
    const workbook = await readZip(
      new Uint8Array(await (await send(`/v2/mapping/download/${other}`)).arrayBuffer()),
    );
    expect(workbook.get('xl/worksheets/sheet1.xml')).toContain(
      "'=HYPERLINK(&quot;x&quot;) &amp; \u{FFFD}&lt;b&gt;",
    );
  });

  it('is CSV or JSON on request', async () => {
    const { send, idSch, mappings } = await createWithDonuts();
    const csv = await send(`/v2/mapping/download/${idSch}?format=csv`);
    expect(csv.headers.get('Content-Type')).toBe('text/csv; charset=utf-8');
    const lines = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await csv.arrayBuffer()).split('\r\n');
    expect(lines[0]).toMatch(/^\u{FEFF}xpath,node_type,source_type,/u);
    expect(lines).toHaveLength((await mappings()).length + 2);
    const json = await send(`/v2/mapping/download/${idSch}?format=json`);
    expect(json.headers.get('Content-Disposition')).toContain('donuts%20%C3%A9-mapping.json');
    expect(await json.json()).toEqual(await mappings());
    expect((await send(`/v2/mapping/download/${idSch}?format=pdf`)).status).toBe(400);
    expect((await send('/v2/mapping/download/99')).status).toBe(404);
  });
});

describe('activation and generate', () => {
  it('switches lines, with what lies below; all or nothing', async () => {
    const { post, idSch, mappings } = await createWithDonuts();
    const total = (await mappings()).length;
    const id = (await mappings()).find(({ xpath }) => xpath === '/items/item/@id')!.id_map;
    const off = await post('deactivate', { id_sch: idSch, ids: [id], xpaths: ['/items/item/topping'] });
    const { changed } = (await off.json()) as { changed: number };
    expect(changed).toBeGreaterThan(1);
    const inactive = (await mappings()).filter(({ active }) => !active);
    expect(inactive).toHaveLength(changed);
    expect(new Set(inactive.map(({ xpath }) => xpath))).toEqual(
      new Set(['/items/item/@id', '/items/item/topping']),
    );
    expect(await (await post('deactivate', { id_sch: idSch, ids: [id] })).json()).toEqual({
      id_sch: idSch,
      changed: 0,
      active_count: total - changed,
      inactive_count: changed,
    });
    const unknown = await post('activate', { id_sch: idSch, ids: [id, 999_999] });
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ errors: [{ pointer: '/ids/1' }] });
    expect((await mappings()).filter(({ active }) => !active)).toHaveLength(changed);
    expect(await (await post('activate', { id_sch: idSch, ids: [id] })).json()).toMatchObject({ changed: 1 });
  });

  it('refuses keys, the root, and what is not there', async () => {
    const { post, idSch, mappings, foreign, send } = await createWithDonuts();
    const key = (await mappings()).find((line) => line.key === 'PK')!.id_map;
    const root = (await mappings()).find(({ xpath }) => xpath === '/items')!.id_map;
    const cases: [object, number][] = [
      [{ id_sch: idSch, ids: [key] }, 409],
      [{ id_sch: idSch, ids: [root] }, 409],
      [{ id_sch: idSch, xpaths: ['/items'] }, 409],
      [{ id_sch: idSch, xpaths: ['/nothing'] }, 404],
      [{ id_sch: 99, xpaths: ['/items'] }, 404],
      [{ id_sch: idSch }, 400],
      [{}, 400],
      [{ id_sch: idSch, ids: [1.5] }, 400],
      [{ id_sch: idSch, ids: [1], more: 1 }, 400],
    ];
    for (const [body, status] of cases) {
      expect([body, (await post('deactivate', body)).status]).toEqual([body, status]);
    }
    const other = await send('/v2/mapping/deactivate', {
      method: 'POST',
      key: foreign,
      body: JSON.stringify({ id_sch: idSch, ids: [root] }),
      headers: { 'Content-Type': 'application/json' },
    });
    expect(other.status).toBe(404);
    expect((await mappings()).every(({ active }) => active)).toBe(true);
  });

  it('generate leaves inactive content out, learns from statistics, and repeats itself', async () => {
    const { send, post, idSch, idLschma, mappings, adapters } = await createWithDonuts();
    const generate = async (path = '') =>
      XMLSchema.parse(await (await send(`/v2/schema/generate/${idSch}${path}`)).json());
    const learnt = await generate();
    expect(learnt.id_lschma).not.toBe(idLschma);
    expect((await mappings()).map(({ xpath }) => xpath)).toContain('/items/item/price');
    expect((await generate()).id_lschma).toBe(learnt.id_lschma);

    await post('deactivate', { id_sch: idSch, xpaths: ['/items/item/topping', '/items/item/name'] });
    const pruned = await generate();
    expect(pruned.id_lschma).not.toBe(learnt.id_lschma);
    expect(pruned.table_count).toBe(learnt.table_count - 1);
    const ddl = await (await send(`/v2/schema/ddl/${idSch}`)).text();
    expect(ddl).not.toMatch(/topping|items\/item\/name/);
    const lines = await mappings();
    expect(
      lines
        .filter(({ active }) => !active)
        .map(({ xpath, table_name, column_name }) => [xpath, table_name, column_name]),
    ).toEqual(
      expect.arrayContaining([
        ['/items/item/name', 'item', null],
        ['/items/item/topping', 'item', null],
      ]),
    );
    expect((await generate()).id_lschma).toBe(pruned.id_lschma);

    await post('activate', { id_sch: idSch, xpaths: ['/items/item/topping', '/items/item/name'] });
    const restored = await generate();
    const { catalog } = adapters;
    expect((await catalog.loadLogicalSchema(1, { idLschma: restored.id_lschma! }))!.model).toEqual(
      (await catalog.loadLogicalSchema(1, { idLschma: learnt.id_lschma! }))!.model,
    );
    expect((await generate('/20')).max_length).toBe(20);
    expect((await generate()).max_length).toBe(20);
  });

  it('generate is no matter for HEAD, nor for strangers', async () => {
    const { send, idSch, foreign, catalog } = await createWithDonuts();
    const before = (await catalog.loadLogicalSchema(1, { idSch }))!.idLschma;
    for (const path of [`${idSch}`, `${idSch}/30`]) {
      const head = await send(`/v2/schema/generate/${path}`, { method: 'HEAD' });
      expect([head.status, head.headers.get('Allow')]).toEqual([405, 'GET']);
      expect((await send(`/v2/schema/generate/${path}`, { key: foreign })).status).toBe(404);
    }
    for (const length of ['11', '129', 'x'])
      expect((await send(`/v2/schema/generate/${idSch}/${length}`)).status).toBe(400);
    expect((await catalog.loadLogicalSchema(1, { idSch }))!.idLschma).toBe(before);
    expect((await send('/v2/schema/generate/99')).status).toBe(404);
  });
});

describe('columns that describe an element', () => {
  const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r"><xs:complexType><xs:sequence>
    <xs:element ref="part" maxOccurs="9"/><xs:element name="spare"><xs:complexType><xs:sequence><xs:element ref="part" maxOccurs="9"/></xs:sequence></xs:complexType></xs:element>
    <xs:element name="note" type="xs:string" minOccurs="0" nillable="true"/><xs:element name="box" type="Part" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
    <xs:element name="part" type="Part"/><xs:element name="bolt" type="Bolt" substitutionGroup="part"/>
    <xs:complexType name="Part"><xs:attribute name="v"/></xs:complexType>
    <xs:complexType name="Bolt"><xs:complexContent><xs:extension base="Part"><xs:attribute name="length"/></xs:extension></xs:complexContent></xs:complexType></xs:schema>`;

  it('have a mapping each, which cannot be switched and is not counted', async () => {
    const { send, adapters } = await createTestApp();
    const { catalog } = adapters;
    const model = compiled(xsd);
    const { id_sch: idSch } = await catalog.createOrigin({
      idOrg: 1,
      idParentSch: null,
      idJob: null,
      name: 'parts',
      sourceType: 'xsd',
      model,
      files: [],
    });
    const relational = buildRelationalModel(model, { mapLevel: 3 });
    await catalog.createLogicalSchema(1, idSch, relational, null);
    const lines = Mapping.array().parse(await (await send(`/v2/mapping/get/${idSch}`)).json());
    const ofColumns = new Set(lines.map((line) => `${line.table_name}.${line.column_name}`));
    const columns = relational.tables.flatMap((table) =>
      table.columns.map((column) => `${table.name}.${column.name}`),
    );
    expect(columns.filter((column) => !ofColumns.has(column))).toEqual([]);
    const describing = lines.filter((line) => line.xpath !== null && line.node_type === null);
    expect(
      describing.map((line) => [line.table_name, line.column_name, line.xpath, line.source_type]),
    ).toEqual([
      ['r', 'note_nil', '/r/note', 'xsi:nil'],
      ['r', 'box_type', '/r/box', 'xsi:type'],
      ['part', 'element', '/r/part', 'element name'],
      ['part', 'type', '/r/part', 'xsi:type'],
    ]);
    const deactivate = async (body: object): Promise<Response> =>
      await send('/v2/mapping/deactivate', {
        method: 'POST',
        body: JSON.stringify({ id_sch: idSch, ...body }),
        headers: { 'Content-Type': 'application/json' },
      });
    for (const { id_map: id } of describing) expect((await deactivate({ ids: [id] })).status).toBe(409);
    const counted = StatsMapping.array().parse(await (await send(`/v2/mapping/get_stats/${idSch}`)).json());
    const ids = new Set(describing.map(({ id_map: id }) => id));
    expect(counted.filter(({ id_map: id }) => ids.has(id))).toEqual([]);
    expect((await deactivate({ xpaths: ['/r/note'] })).status).toBe(200);
    const after = Mapping.array().parse(await (await send(`/v2/mapping/get/${idSch}`)).json());
    expect(after.flatMap((line) => (line.active ? [] : [line.column_name]))).toEqual(['note']);
  });
});
