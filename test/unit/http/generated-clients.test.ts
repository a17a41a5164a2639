/** What generators of clients need of the OpenAPI document: each rule is one that a generator fell over, or made something useless of. */
import { describe, expect, it } from 'vitest';
import { createTestApp } from '../../support/memory/adapters.ts';
import { operationsOf, type OpenApiDocument } from '../../support/openapi-document.ts';

type Json = Readonly<Record<string, unknown>>;

/** names that classes of these languages' standard libraries and of the generators' own have */
const taken = new Set([
  'Schema',
  'ApiClient',
  'Configuration',
  'Object',
  'File',
  'Error',
  'Client',
  'Response',
]);

async function read(path = '/doc') {
  const { app } = await createTestApp();
  const document = (await (await app.request(path)).json()) as OpenApiDocument & Json;
  return { document, operations: operationsOf(document), schemas: document.components.schemas };
}

/** Every schema object below a value, with the members it stands under. */
function* schemasIn(value: unknown, path: readonly string[]): Generator<[path: string, schema: Json]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path.join('/'), value as Json];
  for (const [name, inner] of Object.entries(value))
    if (name !== 'example' && name !== 'examples') yield* schemasIn(inner, [...path, name]);
}

function* refsIn(value: unknown): Generator<string> {
  for (const [, { $ref }] of schemasIn(value, []))
    if (typeof $ref === 'string' && $ref.startsWith('#/components/schemas/'))
      yield $ref.slice('#/components/schemas/'.length);
}

/** The components that a value refers to, through others too. */
function reached(value: unknown, schemas: Json, found = new Set<string>()): ReadonlySet<string> {
  for (const name of refsIn(value)) {
    if (found.has(name)) continue;
    found.add(name);
    reached(schemas[name], schemas, found);
  }
  return found;
}

describe('the OpenAPI document, for generators of clients', () => {
  it('lets optional lists of requests be empty: Java sends an empty list for each that is not given', async () => {
    const { operations, schemas } = await read();
    const bodies = operations.flatMap((one) => [
      ...reached((one as unknown as Json)['requestBody'], schemas),
    ]);
    const lists = [...new Set(bodies)].flatMap((name) => {
      const { properties = {}, required = [] } = schemas[name] as {
        properties?: Readonly<Record<string, Json>>;
        required?: readonly string[];
      };
      return Object.entries(properties)
        .filter(([member, { type }]) => type === 'array' && !required.includes(member))
        .map(([member, { minItems = 0 }]) => [name, member, minItems]);
    });
    expect(lists).toContainEqual(['CreateSchemaRequest', 'xsd', 0]);
    expect(lists.filter(([, , least]) => least !== 0)).toEqual([]);
  });

  it('has no webhooks: they are in a document of their own', async () => {
    const { document, schemas } = await read();
    expect(document).not.toHaveProperty('webhooks');
    expect(schemas).not.toHaveProperty('JobEvent');
    const { document: webhooks } = await read('/doc/webhooks');
    expect(webhooks).toMatchObject({ openapi: '3.1.0', info: { version: '1.0' } });
    const { jobEnded } = webhooks['webhooks'] as Record<string, { post: Json }>;
    expect([...refsIn(jobEnded!.post['requestBody'])]).toEqual(['JobEvent']);
    for (const name of reached(webhooks['webhooks'], webhooks.components.schemas))
      expect(webhooks.components.schemas).toHaveProperty(name);
  });

  it('names an alias where a class of that name would hide another, and uses what it stands for', async () => {
    const { document, operations, schemas } = await read();
    expect(schemas['Schema']).toEqual({ $ref: '#/components/schemas/SchemaDetails' });
    const used = reached(document.paths, schemas);
    expect([...used].filter((name) => taken.has(name))).toEqual([]);
    const create = operations.find(({ operationId }) => operationId === 'createSchema')!;
    expect([...refsIn(create.responses['201'])]).toEqual(['SchemaDetails']);
  });

  it('gives no operation an id that makes a type of a component’s name', async () => {
    const { operations, schemas } = await read();
    const names = new Set(Object.keys(schemas).map((name) => name.toLowerCase()));
    const made = [
      '',
      'Response',

      'Params',
      'Data',
      'Body',
      'Error',
      'Errors',
      'Responses',
      'JSONRequestBody',
    ];
    const clashes = operations.flatMap(({ operationId }) =>
      made.map((end) => operationId + end).filter((name) => names.has(name.toLowerCase())),
    );
    expect(clashes).toEqual([]);
  });

  it('has names that differ in more than case and underscores', async () => {
    const { schemas } = await read();
    const plain = Object.keys(schemas).map((name) => name.replaceAll('_', '').toLowerCase());
    expect(new Set(plain).size).toBe(plain.length);
  });

  it('gives every object a name of its own, and no object alternatives beside its members', async () => {
    const { document, schemas } = await read();
    const inner: string[] = [];
    const mixed: string[] = [];
    const objects = [
      ...schemasIn(document.paths, ['paths']),
      ...Object.entries(schemas).flatMap(([name, schema]) => [...schemasIn(schema, [name])]),
    ];
    for (const [path, schema] of objects) {
      if (schema['type'] !== 'object') continue;
      if (schema['properties'] !== undefined && !Object.hasOwn(schemas, path)) inner.push(path);
      if (['anyOf', 'oneOf', 'allOf'].some((word) => Object.hasOwn(schema, word))) mixed.push(path);
    }
    expect({ inner, mixed }).toEqual({ inner: [], mixed: [] });
  });

  it('leaves answers open to further members and takes no unknown ones in requests', async () => {
    const { operations, schemas } = await read();
    const answered = reached(
      operations.map(({ responses }) => responses),
      schemas,
    );
    const asked = reached(
      operations.map(({ requestBody }) => requestBody),
      schemas,
    );
    expect(asked.size).toBeGreaterThan(10);
    for (const name of answered) {
      const closed = [...schemasIn(schemas[name], [name])].filter(
        ([, one]) => one['additionalProperties'] === false,
      );
      expect(closed.map(([path]) => path)).toEqual([]);
    }
    for (const name of asked) {
      const { type, additionalProperties } = schemas[name] as Json;
      if (type === 'object') expect([name, additionalProperties]).toEqual([name, false]);
    }
  });

  // a part (206) is of the same form as the whole
  it('gives the same content to each status of success that has one', async () => {
    const { operations } = await read();
    for (const { method, path, responses } of operations) {
      const contents = Object.entries(responses).flatMap(([status, { content }]) =>
        status < '300' && content !== undefined ? [content] : [],
      );
      for (const content of contents) expect([method, path, content]).toEqual([method, path, contents[0]]);
    }
  });
  it('has uploads as bytes in both media types, that of bytes first', async () => {
    const { operations } = await read();
    for (const { requestBody } of operations.filter(({ path }) => /upload\/x/.test(path))) {
      expect(Object.entries(requestBody!.content)).toEqual([
        ['application/octet-stream', { schema: { type: 'string', format: 'binary' } }],
        ['application/json', { schema: { type: 'string', contentMediaType: 'application/octet-stream' } }],
      ]);
    }
  });

  it('has the structure of an answer first where there are several media types', async () => {
    const { operations } = await read();
    const byType = operations.flatMap(({ path, responses }) => {
      const types = Object.keys(responses['200']?.content ?? {});
      return types.length > 1 && path.startsWith('/v2') ? [[path, types[0]]] : [];
    });
    expect(byType).toEqual([
      ['/v2/executions/log/{id_job}', 'application/json'],
      ['/v2/schema/export_as/{idSch}', 'application/zip'],
      ['/v2/schema/dictionary/{idSch}', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
      ['/v2/mapping/download/{idSch}', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
      ['/v2/diagram/get/{idSch}', 'application/json'],
    ]);
  });
});

describe('requests of which one member at least is needed', () => {
  it.each([
    ['/v2/mapping/activate', { id_sch: 1 }],
    ['/v2/mapping/deactivate', { id_sch: 1, ids: [], xpaths: [] }],
    ['/v2/schema/create', { name: 'none' }],
    ['/v2/schema/create', { name: 'none', xsd: [], xml: [] }],
  ])('%s refuses %j, and says so in its description', async (path, body) => {
    const { send } = await createTestApp();
    const answer = await send(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      code: 'invalid_body',
      detail: expect.stringContaining('must name'),
    });
    const { document, schemas } = await read();
    const [name] = refsIn(document.paths[path]!['post']!.requestBody);
    expect((schemas[name!] as { description: string }).description).toContain('at least one');
  });
});
