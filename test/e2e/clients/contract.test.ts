/**
 * Every operation of the OpenAPI document against a running service with real conversions behind it: own, foreign, unknown and
 * malformed ids, bodies of every wrong kind. Every answer must have a declared status, and a body that its declared schema allows.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import {
  addressOf,
  createQuietWatch,
  goodBodies,
  integers,
  json,
  malformedIntegers,
  plain,
  takesJson,
  valuesOf,
  type Values,
} from '../../support/contract-values.ts';
import {
  createDocumentChecker,
  operationsOf,
  type Answered,
  type DocumentChecker,
  type ListedOperation,
  type OpenApiDocument,
} from '../../support/openapi-document.ts';
import { convertFreight, type Conversion } from '../../support/service/conversion.ts';
import { createServiceClient } from '../../support/service/client.ts';
import { freightDocuments } from '../../support/service/fixtures.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';

/** For each media type of exported metadata, a format that is sent as that. */
const formatsOfExports: Readonly<Record<string, string>> = {
  'application/zip': 'dbt',
  'application/yaml': 'odcs',
  'application/json': 'frictionless',
  'application/schema+json': 'jsonschema',
  'application/vnd.apache.avro+json': 'avro',
};

describe('the contract of every operation', { timeout: 240_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let document: OpenApiDocument;
  let operations: readonly ListedOperation[];
  let checker: DocumentChecker;
  let own: Conversion;
  let foreign: Conversion;
  let ownWatch: number;
  let foreignWatch: number;
  let foreignKey: { readonly id_key: string; readonly key: string };
  const broken: string[] = [];

  beforeAll(async () => {
    home = await trial.home();
    service = await trial.service(home, {
      SVC_LIMITS_REQUESTS_PER_SECOND: '100000',
      SVC_LIMITS_REQUEST_BURST: '100000',
      SVC_LIMITS_JSON_BODY: '100 KiB',
      SVC_LIMITS_SVG: '1 MiB',
    });
    const { client } = service;
    document = await client.get<OpenApiDocument>('/doc');
    operations = operationsOf(document).filter(({ method }) => method !== 'TRACE');
    checker = createDocumentChecker(document);
    const { body: org } = await client.post<{ id_org: number }>('/v2/admin/orgs', { name: 'other' });
    foreignKey = (
      await client.post<{ id_key: string; key: string }>('/v2/admin/keys', {
        name: 'other',
        id_org: org.id_org,
        scopes: ['jobs:read', 'jobs:run', 'schemas:read', 'schemas:write', 'files:upload', 'admin'],
      })
    ).body;
    own = await convertFreight(client, 'freight');
    const foreignClient = createServiceClient(service.url, foreignKey.key);
    foreign = await convertFreight(foreignClient, 'consignments', freightDocuments.slice(0, 1));
    ownWatch = await createQuietWatch(client, own);
    foreignWatch = await createQuietWatch(foreignClient, foreign);
  });

  const ofOwn = (): Values => valuesOf(own, foreignKey.id_key, ownWatch);

  async function send(
    operation: ListedOperation,
    address: string,
    init: RequestInit = {},
    key: string | null = service.key,
  ): Promise<Answered> {
    const headers = new Headers(init.headers);
    if (key !== null) headers.set('Authorization', `Bearer ${key}`);
    const response = await fetch(service.url + address, { ...init, method: operation.method, headers });
    const answered = { status: response.status, headers: response.headers, text: await response.text() };
    for (const complaint of checker.complaints(operation, answered))
      broken.push(`${operation.method} ${address}: ${complaint}`);
    return answered;
  }

  it('keeps examples that its own structures allow', () => {
    const complaints = Object.keys(document.components.schemas).flatMap((name) =>
      checker.exampleComplaints(name).map((complaint) => `${name}: ${complaint}`),
    );
    expect(complaints).toEqual([]);
  });

  it('answers what is there, in every media type that is declared', async () => {
    const failed: string[] = [];
    const reads = operations.filter(
      (operation) => operation.method !== 'DELETE' && operation.requestBody === undefined,
    );
    for (const operation of reads) {
      const types = Object.keys(operation.responses['200']?.content ?? { '*/*': {} });
      for (const type of types) {
        const address = addressOf(operation, ofOwn());
        // a required format has media types of its own
        const format = formatsOfExports[type];
        const { status, headers } = await send(
          operation,
          operation.operationId === 'exportSchemaAs' && format !== undefined
            ? address.replace(/format=\w+/, `format=${format}`)
            : address,
          { headers: { Accept: type } },
        );
        const conflict = operation.operationId === 'rerunExecution' && status === 409;
        if (status >= 300 && !conflict)
          failed.push(`${operation.method} ${operation.path} ${type}: ${status}`);
        if (!headers.get('X-Request-Id')) failed.push(`${operation.path}: no request id`);
      }
    }
    expect(failed).toEqual([]);
    expect(broken).toEqual([]);
  });

  it('gives the same answer for what is not there and for what is another organisation’s', async () => {
    const ids = /{(?:id|id_job|idSch|idJob|from|to|cfxml|pid)}/;
    let checked = 0;
    for (const operation of operations.filter(({ path }) => ids.test(path))) {
      const otherAddress = addressOf(operation, valuesOf(foreign, foreignKey.id_key, foreignWatch));
      const absentAddress = addressOf(operation, (one, name) =>
        integers.test(name) && name !== 'page' && name !== 'maxLen'
          ? '9223372036854775807'
          : name === 'cfxml'
            ? 'no-such-feed'
            : ofOwn()(one, name),
      );
      const body = goodBodies(own)[operation.operationId];
      const init = takesJson(operation) ? json(body) : {};
      const other = await send(operation, otherAddress, init);
      const absent = await send(operation, encodeURI(absentAddress), init);
      expect([operation.path, other.status, absent.status]).toEqual([operation.path, 404, 404]);
      expect(plain(other, otherAddress)).toBe(plain(absent, encodeURI(absentAddress)));
      checked += 1;
    }
    expect(checked).toBeGreaterThanOrEqual(28);
    expect(broken).toEqual([]);
  });

  it('refuses integers that are none, in paths and queries', async () => {
    for (const operation of operations) {
      for (const { name, in: place, schema } of operation.parameters ?? []) {
        const isInteger = schema['type'] === 'integer';
        if (place === 'header' || (!isInteger && schema['enum'] === undefined)) continue;
        const tooLarge = schema['format'] === 'int32' ? ['2147483648'] : [];
        for (const wrong of isInteger ? [...malformedIntegers, ...tooLarge] : ['no such']) {
          if (name === 'pid' && /^9+\d+$/.test(wrong)) continue;
          const path = addressOf(operation, (one, other) =>
            place === 'path' && other === name ? wrong : ofOwn()(one, other),
          );
          const and = path.includes('?') ? '&' : '?';
          const { status } = await send(
            operation,
            place === 'query' ? `${path}${and}${name}=${wrong}` : path,
          );
          expect([operation.method, operation.path, name, wrong, status]).toEqual([
            operation.method,
            operation.path,
            name,
            wrong,
            400,
          ]);
        }
      }
    }
    expect(broken).toEqual([]);
  });

  it('finds nothing by names that no record can have', async () => {
    for (const operation of operations) {
      for (const { name, in: place, schema } of operation.parameters ?? []) {
        if (place !== 'path' || schema['type'] !== 'string') continue;
        for (const wrong of ['%00', 'a%00b', '%F0%9F%8D%A9', '%22%27%3B--', '..%2f..', 'x'.repeat(3000)]) {
          const path = addressOf(operation, (one, other) => (other === name ? wrong : ofOwn()(one, other)));
          const body = goodBodies(own)[operation.operationId];
          const { status } = await send(operation, path, body === undefined ? {} : json(body));
          expect([operation.method, path, status]).toEqual([operation.method, path, 404]);
        }
      }
    }
    expect(broken).toEqual([]);
  });

  it('gives an empty page past the end', async () => {
    for (const operation of operations.filter(({ path }) => path.endsWith('/{page}'))) {
      const address = addressOf(operation, (one, name) =>
        name === 'page' ? '2147483647' : ofOwn()(one, name),
      );
      const { status, text } = await send(operation, `${address}?size=500`);
      expect([operation.path, status]).toEqual([operation.path, 200]);
      expect(JSON.parse(text)).toMatchObject({ content: [], page: 2147483647, size: 500 });
    }
    expect(broken).toEqual([]);
  });

  it('refuses bodies that are none', async () => {
    const good = goodBodies(own);
    const deep = '['.repeat(100_000);
    // a level that is not given is that of the start, as Spring has it; a change of nothing changes nothing; a run needs no body
    const ofNothing: Readonly<Record<string, number>> = {
      setLoggerLevel: 204,
      changeWatch: 200,
      runWatch: 202,
    };
    for (const operation of operations.filter(takesJson)) {
      const address = addressOf(operation, ofOwn());
      const example = good[operation.operationId] as Record<string, unknown>;
      expect([operation.operationId, typeof example]).toEqual([operation.operationId, 'object']);
      const cases: (readonly [what: string, init: RequestInit, status: number])[] = [
        [
          'no body',
          { headers: { 'Content-Type': 'application/json' } },
          operation.operationId === 'runWatch' ? 202 : 400,
        ],
        ['malformed', json('{"a":'), 400],
        ['nested', json(deep.slice(0, 90_000)), 400],
        ['byte order mark', json(`\uFEFF${JSON.stringify(example)}`), 400],
        ['array', json([]), 400],
        ['text', json('"x"'), 400],
        ['null', json('null'), 400],
        ['empty object', json({}), ofNothing[operation.operationId] ?? 400],
        ['unknown member', json({ ...example, surprise: 1 }), 400],
        ['wrong types', json(Object.fromEntries(Object.keys(example).map((name) => [name, { x: 1 }]))), 400],
        ['too large', json({ ...example, padding: 'x'.repeat(2_200_000) }), 413],
        ['media type', { headers: { 'Content-Type': 'text/plain' }, body: JSON.stringify(example) }, 415],
        ['form', { body: new URLSearchParams({ a: '1' }) }, 415],
        ['charset', { headers: { 'Content-Type': 'application/json; charset=utf-16' }, body: '{}' }, 415],
      ];
      for (const [what, init, expected] of cases) {
        const { status } = await send(operation, address, init);
        expect([operation.operationId, what, status]).toEqual([operation.operationId, what, expected]);
      }
    }
    expect(broken).toEqual([]);
  });

  it('refuses control characters in names', async () => {
    for (const operationId of ['createOrganisation', 'createApiKey', 'createSchema', 'runCommands']) {
      const operation = operations.find((one) => one.operationId === operationId)!;
      const example = goodBodies(own)[operationId] as object;
      for (const name of ['a\0b', 'a\nb', '\u007f']) {
        const { status } = await send(operation, operation.path, json({ ...example, name }));
        expect([operationId, name, status]).toEqual([operationId, name, 400]);
      }
    }
    expect(broken).toEqual([]);
  });

  it('knows nothing of another organisation in bodies either', async () => {
    const foreignBodies = goodBodies(foreign);
    const expected: Readonly<Record<string, number>> = {
      runCommands: 400,
      createSchema: 400,
      activateMappings: 404,
      deactivateMappings: 404,
      saveDiagram: 404,
      updateCilKeys: 404,
      exportSchema: 404,
      queryTarget: 404,
    };
    for (const [operationId, status] of Object.entries(expected)) {
      const operation = operations.find((one) => one.operationId === operationId)!;
      const answer = await send(operation, operation.path, json(foreignBodies[operationId]));
      expect([operationId, answer.status]).toEqual([operationId, status]);
    }
    for (const idSch of [0, 4_000_000, Number.MAX_SAFE_INTEGER, 9.3e18 / 1.1]) {
      const operation = operations.find(({ operationId }) => operationId === 'saveDiagram')!;
      const body = { ...(goodBodies(own)['saveDiagram'] as object), id_sch: Math.trunc(idSch) };
      expect((await send(operation, operation.path, json(body))).status).toBe(404);
    }
    expect(broken).toEqual([]);
  });

  it('lets nobody in without a key, with a wrong one, or without the scope', async () => {
    const { body: weak } = await service.client.post<{ key: string }>('/v2/admin/keys', {
      name: 'weak',
      scopes: ['migrate'],
    });
    for (const operation of operations.filter(({ path }) => path.startsWith('/v2'))) {
      const address = addressOf(operation, ofOwn());
      const init: RequestInit = takesJson(operation) ? json({}) : {};
      const upload = operation.path.startsWith('/v2/file/upload/x');
      for (const key of [null, 'svk_x', 'svk_0000000000_aaaa', `${service.key}x`]) {
        const { status, headers } = await send(operation, address, init, key);
        expect([operation.path, key, status]).toEqual([operation.path, key, 401]);
        if (!upload) expect(headers.get('WWW-Authenticate')).toMatch(/^Bearer /);
      }
      const anyKey = ['getOrganisation', 'listExtensions'].includes(operation.operationId);
      const migration = /^\/v2\/schema\/(?:export|import)$/.test(operation.path);
      if (upload || anyKey || migration) continue;
      const { status } = await send(operation, address, init, weak.key);
      expect([operation.path, status]).toEqual([operation.path, 403]);
    }
    expect(broken).toEqual([]);
  });

  it('answers 405 with Allow for every method that a path does not have', async () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      const has = new Set(Object.keys(methods).map((method) => method.toUpperCase()));
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((one) => !has.has(one))) {
        const operation = operations.find((one) => one.path === path)!;
        const response = await fetch(service.url + addressOf(operation, ofOwn()), {
          method,
          headers: { Authorization: `Bearer ${service.key}` },
        });
        expect([method, path, response.status]).toEqual([method, path, 405]);
        expect(response.headers.get('Content-Type')).toBe('application/problem+json');
        expect(new Set(response.headers.get('Allow')!.split(', '))).toEqual(
          new Set([...has, ...(response.headers.get('Allow')!.includes('HEAD') ? ['HEAD'] : [])]),
        );
      }
    }
  });

  it('carries out the operations that change something', async () => {
    const { client } = service;
    for (const [operationId, body] of Object.entries(goodBodies(own))) {
      const operation = operations.find((one) => one.operationId === operationId)!;
      const answer = await send(operation, addressOf(operation, ofOwn()), json(body));
      expect([operationId, answer.status, answer.status < 300 ? '' : answer.text]).toEqual([
        operationId,
        expect.any(Number),
        '',
      ]);
    }
    const upload = operations.find(({ operationId }) => operationId === 'uploadXml')!;
    const token = async (): Promise<string> =>
      (await client.post<{ token: string }>('/v2/file/upload/token', { kind: 'xml', max_bytes: 10 })).body
        .token;
    const good = await send(
      upload,
      `${upload.path}?token=${await token()}&name=a.xml`,
      { body: '<a/>' },
      null,
    );
    expect(good.status).toBe(200);
    const large = await send(upload, `${upload.path}?token=${await token()}&name=a.xml`, {
      body: 'x'.repeat(11),
    });
    expect(large.status).toBe(413);
    const none = await send(upload, `${upload.path}?token=${await token()}&name=a.xml`);
    expect(none.status).toBe(400);

    const path = encodeURIComponent(JSON.parse(good.text) as string);
    const removeFile = operations.find(({ operationId }) => operationId === 'removeFile')!;
    expect((await send(removeFile, `/v2/file?path=${path}`)).status).toBe(204);
    expect((await send(removeFile, `/v2/file?path=${path}`)).status).toBe(404);
    expect((await send(removeFile, '/v2/file?path=../../conf/backend.properties')).status).toBe(400);
    expect(broken).toEqual([]);
  });

  it('removes what has ended, and then it is not there', async () => {
    const spare = await convertFreight(service.client, 'spare', freightDocuments.slice(0, 1));
    for (const [operationId, address] of [
      ['removeExecution', `/v2/executions/${spare.loaded.id_job}`],
      ['removeSchema', `/v2/schema/${spare.idSch}`],
      ['revokeApiKey', `/v2/admin/keys/${foreignKey.id_key}`],
    ] as const) {
      const operation = operations.find((one) => one.operationId === operationId)!;
      expect([operationId, (await send(operation, address)).status]).toEqual([operationId, 204]);
      if (operationId !== 'revokeApiKey') expect((await send(operation, address)).status).toBe(404);
    }
    const get = operations.find(({ operationId }) => operationId === 'getSchema')!;
    expect((await send(get, `/v2/schema/${own.idSch}`, {}, foreignKey.key)).status).toBe(401);
    expect(broken).toEqual([]);
  });
});
