/** /v2/diagram. */
import { describe, expect, it } from 'vitest';
import { z } from '@hono/zod-openapi';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { atOnce } from '../../../../src/engine/in-slices.ts';
import { layOutDiagram } from '../../../../src/service/catalog/diagram-layout.ts';
import { drawDiagram } from '../../../../src/service/catalog/diagram.ts';
import { checkSvg, svgCheck } from '../../../../src/service/catalog/svg-check.ts';
import type { RelationalModel, Table } from '../../../../src/engine/model/relational-model.ts';
import { inferred } from '../../../support/models/shredding.ts';
import { createTestApp } from '../../../support/memory/adapters.ts';

const source = inferred([
  '<items><item id="1"><topping>a</topping><topping>b</topping></item><item id="2"/></items>',
]);
const model = buildRelationalModel(source, { mapLevel: 1 });

async function createWithSchema() {
  const app = await createTestApp();
  const { catalog } = app.adapters;
  const { id_sch: idSch } = await catalog.createOrigin({
    idOrg: 1,
    idParentSch: null,
    idJob: null,
    name: 'donuts & <more>',
    sourceType: 'xml',
    model: source,
    files: [],
  });
  const { idLschma } = await catalog.createLogicalSchema(1, idSch, model, null);
  const save = async (body: unknown) =>
    await app.send('/v2/diagram/svg', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    });
  return { ...app, idSch, idLschma, save };
}

const Boxes = z.array(
  z.looseObject({ name: z.string(), x: z.number(), y: z.number(), width: z.number(), height: z.number() }),
);

describe('GET /v2/diagram/get', () => {
  it('gives tables with their places, and relations', async () => {
    const { send, idSch, idLschma } = await createWithSchema();
    const answer = await send(`/v2/diagram/get/${idSch}`);
    expect(answer.headers.get('Vary')).toBe('Accept, Accept-Encoding');
    const diagram = (await answer.json()) as Record<string, unknown>;
    expect(diagram).toMatchObject({ id_sch: idSch, id_lschma: idLschma, svg: null });
    expect(Boxes.parse(diagram['tables']).map(({ name }) => name)).toEqual([
      'items',
      'item',
      'topping',
      '_documents',
    ]);
    expect(diagram['relations']).toEqual([
      {
        from_table: 'items',
        from_columns: ['document_key'],
        to_table: '_documents',
        to_columns: ['document_key'],
        cardinality: '1:n',
      },
      {
        from_table: 'item',
        from_columns: ['items_key'],
        to_table: 'items',
        to_columns: ['items_key'],
        cardinality: '1:n',
      },
      {
        from_table: 'topping',
        from_columns: ['item_key'],
        to_table: 'item',
        to_columns: ['item_key'],
        cardinality: '1:n',
      },
    ]);
  });

  it('gives the drawing by Accept', async () => {
    const { send, idSch } = await createWithSchema();
    const answer = await send(`/v2/diagram/get/${idSch}`, { headers: { Accept: 'image/svg+xml' } });
    expect(answer.headers.get('Content-Type')).toBe('image/svg+xml; charset=utf-8');
    const svg = await answer.text();
    expect(() => checkSvg(svg)).not.toThrow();
    expect(svg).toContain('<title>donuts &amp; &lt;more&gt;</title>');
    for (const name of ['item_key', 'topping', 'PK', 'FK']) expect(svg).toContain(`>${name}</text>`);
    expect((await send(`/v2/diagram/get/${idSch}`, { headers: { Accept: 'image/png' } })).status).toBe(406);
    expect((await send('/v2/diagram/get/99')).status).toBe(404);
    expect((await send('/v2/diagram/get/x')).status).toBe(400);
  });

  it('keeps a drawing that was saved, for that logical schema and those that follow', async () => {
    const { send, save, idSch, idLschma, adapters, newKey } = await createWithSchema();
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="1" height="1"/></svg>';
    const answer = await save({ id_sch: idSch, svg });
    expect([answer.status, await answer.json()]).toEqual([200, { id_sch: idSch, id_lschma: idLschma }]);
    expect(await (await send(`/v2/diagram/get/${idSch}`)).json()).toMatchObject({ svg });
    const drawn = await send(`/v2/diagram/get/${idSch}`, { headers: { Accept: 'image/svg+xml' } });
    expect(await drawn.text()).toBe(svg);
    await adapters.catalog.createLogicalSchema(1, idSch, { ...model, mapLevel: 0 }, null);
    expect(await (await send(`/v2/diagram/get/${idSch}`)).json()).toMatchObject({ svg });
    const { key } = await newKey(2, ['schemas:write']);
    const foreign = await send('/v2/diagram/svg', {
      method: 'POST',
      key,
      body: JSON.stringify({ id_sch: idSch, svg }),
      headers: { 'Content-Type': 'application/json' },
    });
    expect(foreign.status).toBe(404);
    for (const body of [{}, { id_sch: idSch }, { id_sch: idSch, svg: '' }, { id_sch: idSch, svg: '<svg>' }])
      expect((await save(body)).status).toBe(400);
  });
});

const svg = (content: string, more = '') =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${more}>${content}</svg>`;

describe('a saved drawing', () => {
  it.each([
    ['a script', svg('<script>alert(1)</script>')],
    ['a script of another prefix', svg('<x:script xmlns:x="http://www.w3.org/2000/svg">alert(1)</x:script>')],
    ['an HTML script', svg('<script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>')],
    ['an event handler', svg('<rect/>', 'onload="alert(1)"')],
    ['an event handler in capitals', svg('<rect ONCLICK="alert(1)"/>')],
    ['foreign content', svg('<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject>')],
    ['an image', svg('<image href="http://example.org/a.png"/>')],
    ['a link', svg('<a href="https://example.org"><text>x</text></a>')],
    ['a script address', svg('<use href="javascript:alert(1)"/>')],
    ['data', svg('<use xlink:href="data:image/svg+xml;base64,AAAA"/>')],
    ['a foreign part', svg('<use href="other.svg#a"/>')],
    ['a part behind what is no blank of an address', svg('<use href="\uFEFF#a"/>')],
    ['a fill behind what is no blank of a style', svg('<rect fill="url(\u00A0#a)"/>')],
    ['a foreign fill', svg('<rect fill="url(http://example.org/a#b)"/>')],
    ['a quoted foreign fill', svg(`<rect style="fill:url('//example.org/a')"/>`)],
    ['a fill that does not end', svg('<rect fill="url(http://example.org/a"/>')],
    ['an escaped address', svg('<rect style="fill:u\\72l(http://example.org)"/>')],
    ['a style sheet', svg('<style>@import "http://example.org/a.css"</style>')],
    ['an animation of a link', svg('<set attributeName="href" to="javascript:alert(1)"/>')],
    ['an entity', '<!DOCTYPE svg [<!ENTITY x "y">]><svg xmlns="http://www.w3.org/2000/svg">&x;</svg>'],
    [
      'a style sheet by instruction',
      '<?xml-stylesheet href="a.css"?><svg xmlns="http://www.w3.org/2000/svg"/>',
    ],
    ['another base', svg('<rect/>', 'xml:base="http://example.org/"')],
    ['no SVG', '<html xmlns="http://www.w3.org/1999/xhtml"/>'],
    ['no namespace', '<svg/>'],
    ['no markup', 'hello'],
    ['markup that does not end', '<svg xmlns="http://www.w3.org/2000/svg"><g></svg>'],
  ])('has no %s', (_, text) => {
    expect(() => checkSvg(text)).toThrow(expect.objectContaining({ code: 'invalid_body' }));
  });

  it('may refer to its own parts', () => {
    expect(() =>
      checkSvg(
        `<?xml version="1.0" encoding="UTF-8"?>${svg('<defs><marker id="m"/></defs><path d="M0 0L1 1" marker-end="url(#m)"/><use href="#m"/>')}`,
      ),
    ).not.toThrow();
  });
});

/** A tree of tables: each hangs from the one at half its number. */
function tree(count: number): RelationalModel {
  const column = {
    type: { kind: 'bigint' as const },
    nullable: false,
    xpath: null,
    path: '',
    sourceType: null,
  };
  const tables = Array.from({ length: count }, (_, at): Table => ({
    name: `table_${at}`,
    kind: 'element',
    xpath: `/t${at}`,
    path: `/t${at}`,
    uniqueKeys: [],
    columns: [
      { ...column, name: 'key', role: 'row_key', references: null },
      ...(at === 0
        ? []
        : [
            {
              ...column,
              name: 'up',
              role: 'parent_key' as const,
              references: at >> 1 === at ? 0 : at >> 1,
            },
          ]),
      { ...column, name: 'self', role: 'parent_key', references: at, nullable: true },
    ],
  }));
  return { mapLevel: 1, nameMaxLength: 63, tables, nodes: [], roots: [], mappings: [], namespaces: {} };
}

describe('the layout', () => {
  it.each([1, 5, 50, 500])('of %i tables has no two that overlap, and a shape of a screen', (count) => {
    const layout = atOnce(layOutDiagram(tree(count)));
    expect(layout.boxes).toHaveLength(count);
    for (const [at, box] of layout.boxes.entries()) {
      expect(box.x).toBeGreaterThan(0);
      expect(box.x + box.width).toBeLessThan(layout.width);
      expect(box.y + box.height).toBeLessThan(layout.height);
      for (const other of layout.boxes.slice(at + 1)) {
        const apart =
          box.x + box.width < other.x ||
          other.x + other.width < box.x ||
          box.y + box.height < other.y ||
          other.y + other.height < box.y;
        expect(apart).toBe(true);
      }
    }
    if (count > 5) expect(layout.width / layout.height).toBeGreaterThan(0.5);
    expect(layout.width / layout.height).toBeLessThan(6);
    expect(() => checkSvg([...drawDiagram(layout, 'x')].join(''))).not.toThrow();
  });

  it.each([5, 50, 500])(
    'of %i tables has lines that run beside tables, each net in lanes of its own',
    (count) => {
      // beside the tree: references that lead far forward, far back, and to neighbours
      const model = tree(count);
      const tables = model.tables.map((table, at) => ({
        ...table,
        columns: [
          ...table.columns,
          ...[(at * 7) % count, count - 1 - at, Math.max(0, at - 1)].map((references, nth) => ({
            ...table.columns[0]!,
            name: `far_${nth}`,
            role: 'parent_key' as const,
            references,
            nullable: nth === 1,
          })),
        ],
      }));
      const { boxes, wires, relations, width, height } = atOnce(layOutDiagram({ ...model, tables }));
      expect(wires.flatMap(({ children }) => children)).toHaveLength(relations.length);
      const behind: string[] = [];
      const verticals: {
        readonly net: number;
        readonly x: number;
        readonly top: number;
        readonly bottom: number;
      }[] = [];
      for (const [net, { lines }] of wires.entries()) {
        for (const [x1, y1, x2, y2] of lines) {
          expect(x1 === x2 || y1 === y2).toBe(true);
          const [left, right, top, bottom] = [
            Math.min(x1, x2),
            Math.max(x1, x2),
            Math.min(y1, y2),
            Math.max(y1, y2),
          ];
          expect(left > 0 && right < width && top > 0 && bottom < height).toBe(true);
          for (const box of boxes)
            if (left < box.x + box.width && right > box.x && top < box.y + box.height && bottom > box.y)
              behind.push(`${[x1, y1, x2, y2]} behind ${tables[box.table]!.name}`);
          if (x1 === x2) verticals.push({ net, x: x1, top, bottom });
        }
      }
      expect(behind).toEqual([]);
      const shared = [...Map.groupBy(verticals, ({ x }) => x).values()].flatMap((lane) =>
        lane.flatMap((one, at) =>
          lane
            .slice(at + 1)
            .filter((other) => other.net !== one.net && other.top < one.bottom && one.top < other.bottom),
        ),
      );
      expect(shared).toEqual([]);
    },
  );

  it('is made in many short steps, whatever refers to what, and so are its drawing and the check of one', () => {
    const steps = layOutDiagram(tree(500));
    let count = 0;
    while (steps.next().done !== true) count += 1;
    expect(count).toBeGreaterThan(1500);
    const pieces = [...drawDiagram(atOnce(layOutDiagram(tree(500))), 'x')];
    expect(pieces.length).toBeGreaterThan(500);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(20_000);
    expect([...svgCheck(pieces.join(''))].length).toBeGreaterThan(500);
  });

  it('tells one from none or one at the parent, and one from many at the child', () => {
    const drawn = [...drawDiagram(atOnce(layOutDiagram(tree(3))), 'x')].join('');
    // each table's reference to itself is optional; those of the tree are not
    expect(drawn.match(/<circle /g)).toHaveLength(3);
  });
});

const written = (content: string, head = ''): string =>
  checkSvg(`${head}<svg xmlns="http://www.w3.org/2000/svg">${content}</svg>`);

describe('a drawing that is kept', () => {
  it('is written anew: no comment, no declaration, nothing that HTML reads otherwise', () => {
    expect(written('<!--><script>alert(1)</script>--><rect/>')).toBe(
      '<svg xmlns="http://www.w3.org/2000/svg"><rect/></svg>',
    );
    expect(written('<g/>', '<?xml version="1.0" encoding="UTF-7"?><!-- a -->')).toBe(
      '<svg xmlns="http://www.w3.org/2000/svg"><g/></svg>',
    );
    expect(written('<text><![CDATA[</text><script>alert(1)</script>]]></text>')).toBe(
      '<svg xmlns="http://www.w3.org/2000/svg"><text>&lt;/text&gt;&lt;script&gt;alert(1)&lt;/script&gt;</text></svg>',
    );
    expect(written(`<g id='a"&lt;b'/>`)).toContain('id="a&quot;&lt;b"');
    expect(() => written('<title><g/></title>')).toThrow('only text');
  });

  it('keeps what shows: text, xml:space, references; with any prefix', () => {
    const svg = `<s:svg xmlns:s="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:i="urn:i" i:label="x"><s:g id="a"/><s:use xlink:href="#a"/><s:text xml:space="preserve"> a &amp; b </s:text></s:svg>`;
    expect(checkSvg(svg)).toBe(
      '<svg xmlns="http://www.w3.org/2000/svg"><g id="a"/><use href="#a"/><text xml:space="preserve"> a &amp; b </text></svg>',
    );
    expect(checkSvg(checkSvg(svg))).toBe(checkSvg(svg));
  });

  it('is no more than a page can show', () => {
    const levels = Array.from(
      { length: 8 },
      (_, at) => `<g id="l${at + 1}">${`<use href="#l${at}"/>`.repeat(10)}</g>`,
    );
    expect(() => written(`<defs><rect id="l0"/>${levels.join('')}</defs><use href="#l8"/>`)).toThrow(
      /references expand to more than/,
    );
    const patterns = Array.from(
      { length: 8 },
      (_, at) => `<pattern id="p${at + 1}">${`<rect fill="url(#p${at})"/>`.repeat(10)}</pattern>`,
    );
    expect(() => written(`${patterns.join('')}<rect fill="url(#p8)"/>`)).toThrow(
      /references expand to more than/,
    );
    expect(() => written('<g id="a"><use href="#a"/></g>')).toThrow('refers to itself');
    const blur = '<filter id="f"><feGaussianBlur stdDeviation="4"/></filter>';
    expect(written(`${blur}<rect filter="url(#f)"/>`)).toContain('stdDeviation');
    expect(() => written(`${blur}${'<rect filter="url(#f)"/>'.repeat(40)}`)).toThrow('filters');
    expect(() => written(blur.replace('4', '400'))).toThrow('stdDeviation may be 25 at most');
    expect(() => written('<rect style="filter:blur(400px)"/>')).toThrow('a filter is an element');
  });
});
