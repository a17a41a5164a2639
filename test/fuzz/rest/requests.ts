/** Requests for operations of the OpenAPI document: with records that are there, and with what no client sends. */
import type { ListedOperation, OpenApiDocument } from '../../support/openapi-document.ts';
import type { Random } from '../random.ts';
import type { Records } from './records.ts';
import { runBody } from './runs.ts';
import { changed, texts } from './values.ts';

/** Followers of a log wait for the end of its job: their answers are not read to the end. */
export const eventStream = 'text/event-stream';

/** Whose key is sent. */
export type Asker = 'own' | 'other' | 'none' | 'wrong' | 'odd';

export interface RestRequest {
  readonly method: string;
  /** with its query, and `{name}` where a record is meant */
  readonly path: string;
  /** the operation's path, as the document has it */
  readonly operation: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly asker: Asker;
  /** how often it is sent at the same time */
  readonly times: number;
  /** a record that is there, and where it stands in the path, for asking again as a stranger */
  readonly records: readonly string[];
}

export function makeRequest(
  random: Random,
  operation: ListedOperation,
  document: OpenApiDocument,
  records: Records,
): RestRequest {
  const used: string[] = [];
  const record = (name: string): string | null => {
    const values = records.of(name);
    return values.length === 0 ? null : random.pick(values);
  };
  const idIn = (name: string): string => {
    const kind = name === 'id' ? idKind(operation.path) : name;
    const value = random.chance(0.75) ? record(kind) : null;
    if (value !== null) used.push(value);
    return value ?? (random.chance(0.5) ? String(random.below(6)) : random.pick(texts));
  };
  let path = operation.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
    encode(name === 'page' || name === 'maxLen' ? random.pick(['0', '1', '7', '63', ...texts]) : idIn(name)),
  );
  const query = new URLSearchParams();
  for (const { name, in: place, schema } of operation.parameters ?? []) {
    if (place !== 'query' || !random.chance(0.5)) continue;
    query.append(name, queryValue(random, name, schema, record));
    if (random.chance(0.04)) query.append(name, random.pick(texts));
  }
  if (random.chance(0.05)) query.append(random.pick(texts), random.pick(texts));
  if (query.size > 0) path += `?${query}`;
  if (random.chance(0.03)) path = otherWriting(random, path);
  const headers: Record<string, string> = {};
  const body = bodyFor(random, operation, document, records, headers);
  oddHeaders(random, operation, headers);
  return {
    method: methodFor(random, operation),
    path,
    operation: operation.path,
    headers,
    body,
    asker: random.chance(0.9) ? 'own' : random.pick(['other', 'none', 'wrong', 'odd']),
    times: random.chance(0.06) ? 2 + random.below(5) : 1,
    records: used,
  };
}

function idKind(path: string): string {
  if (path.startsWith('/v2/schema')) return 'id_sch';
  return path.includes('/get/') || path.includes('/log/') ? 'id_job' : 'id_workflow';
}

function queryValue(
  random: Random,
  name: string,
  schema: Readonly<Record<string, unknown>>,
  record: (name: string) => string | null,
): string {
  const there = random.chance(0.7) ? record(name) : null;
  if (there !== null) return there;
  const listed = schema['enum'];
  if (Array.isArray(listed) && random.chance(0.8)) return String(random.pick(listed));
  return random.chance(0.4) ? String(random.below(4)) : random.pick(texts);
}

function methodFor(random: Random, { method }: ListedOperation): string {
  // neither fetch nor the interface has TRACE
  if (method === 'TRACE') return 'GET';
  if (random.chance(0.96)) return method;
  return random.pick(['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'POST', 'GET', 'PROPFIND']);
}

/** A segment that stays one. */
function encode(text: string): string {
  const encoded = encodeURIComponent(text.isWellFormed() ? text : '?');
  return encoded === '' || encoded === '.' || encoded === '..' ? '%2e' : encoded;
}

/** The same path as some proxies and clients write it, and what looks like it. */
function otherWriting(random: Random, path: string): string {
  return random.pick([
    () => `${path}/`,
    () => `/${path}`,
    () => path.replace('/v2/', '/V2/'),
    () => path.replace('/v2/', '//v2/'),
    () =>
      path.replaceAll(/[a-z]/g, (one) => (random.chance(0.3) ? `%${one.charCodeAt(0).toString(16)}` : one)),
    () => path.replace('/v2/', '/v2%2f'),
    () => path.replace('/v2/', '/v2/./x/../'),
    () => `${path};a=b`,
    () => `${path}%00`,
    () => `${path}%ff`,
    () => `${path}#x`,
    () => `${path}?${'a=b&'.repeat(500)}`,
    () => `${path}/${'x'.repeat(3000)}`,
  ])();
}

function oddHeaders(random: Random, operation: ListedOperation, headers: Record<string, string>): void {
  if (random.chance(0.2))
    headers['Accept'] = random.pick([
      '*/*',
      'application/json',
      'text/html',
      'text/plain',
      'image/svg+xml',
      'text/event-stream;q=0.1',
      'x',
      'application/vnd.spring-boot.actuator.v2+json',
      '',
      'application/xml;q=1, */*;q=0',
      `${'a/b,'.repeat(500)}*/*`,
    ]);
  if (random.chance(0.05)) headers['Idempotency-Key'] = random.pick(['a', 'b', 'x'.repeat(300), ' ']);
  if (random.chance(0.05))
    Object.assign(
      headers,
      random.pick<Record<string, string>>([
        { 'If-None-Match': '*' },
        { 'If-Match': '"x"' },
        { 'If-Modified-Since': 'Sat, 21 Nov 2026 00:00:00 GMT' },
        { Range: 'bytes=0-1' },
        { 'X-HTTP-Method-Override': 'DELETE' },
        { 'X-Forwarded-For': "1.2.3.4, ' or 1=1" },
        { 'X-Forwarded-Host': 'evil.test', Forwarded: 'host=evil.test' },
        { Origin: 'https://evil.test' },
        { 'X-Request-Id': random.pick(['x'.repeat(500), '<script>', '..', 'a b']) },
        { traceparent: '00-00000000000000000000000000000000-0000000000000000-00' },
        { 'Content-Encoding': 'gzip' },
        { Cookie: 'a=b' },
        { 'Last-Event-ID': random.pick(texts).replaceAll(/[^ -~]/g, '') },
      ]),
    );
  if (/log\/\{/.test(operation.path))
    headers['Accept'] = random.pick(['application/json', 'text/plain', eventStream]);
}

function bodyFor(
  random: Random,
  operation: ListedOperation,
  document: OpenApiDocument,
  records: Records,
  headers: Record<string, string>,
): string | null {
  const content = operation.requestBody?.content ?? {};
  const type = Object.keys(content)[0];
  if (type === undefined || operation.method === 'GET') return null;
  headers['Content-Type'] = random.chance(0.94)
    ? type
    : random.pick([
        'text/plain',
        'application/xml',
        'application/json; charset=latin1',
        'multipart/form-data; boundary=x',
        'application/x-www-form-urlencoded',
        'x',
      ]);
  if (type !== 'application/json')
    return random.pick([
      '<a/>',
      '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"/>',
      '',
      'PK\u0003\u0004',
      'x'.repeat(5000),
    ]);
  if (operation.path === '/v2/run/cmd' && random.chance(0.6))
    return jsonBody(random, runBody(random, records));
  const example = exampleOf(content[type]!.schema, document);
  return jsonBody(random, random.chance(0.8) ? withRecords(random, example, records, '') : example);
}

function exampleOf(schema: unknown, document: OpenApiDocument): unknown {
  const name = /^#\/components\/schemas\/(.+)$/.exec((schema as { $ref?: string }).$ref ?? '')?.[1];
  return name === undefined ? {} : structuredClone(document.components.schemas[name]?.example ?? {});
}

/** The example with records that are there where it names some. */
function withRecords(random: Random, value: unknown, records: Records, name: string): unknown {
  if (Array.isArray(value)) return value.map((one) => withRecords(random, one, records, name));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, withRecords(random, one, records, key)]),
    );
  const kind = typeof value === 'string' && value.startsWith('uploads/') ? 'path' : name;
  const there = records.of(kind);
  if (there.length === 0) return value;
  return typeof value === 'number' ? Number(random.pick(there)) : random.pick(there);
}

function jsonBody(random: Random, example: unknown): string {
  if (random.chance(0.05))
    return random.pick([
      '',
      '{',
      'null',
      '[]',
      '1',
      '"x"',
      '{"a":',
      '\uFEFF{}',
      '['.repeat(500),
      '{"a":1,"a":2}',
    ]);
  let value = example;
  for (let at = random.chance(0.4) ? 0 : random.below(4); at > 0; at -= 1) value = changed(random, value, 0);
  const text = JSON.stringify(value) ?? 'null';
  return random.chance(0.04) ? text.slice(0, random.below(text.length + 1)) : text;
}
