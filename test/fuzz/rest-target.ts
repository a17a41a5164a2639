/** The REST surface of a running service: every answer is declared, of its declared shape, and says nothing of the host. */
import { createServiceHome, startService } from '../support/service.ts';
import {
  createDocumentChecker,
  operationsOf,
  type ListedOperation,
  type OpenApiDocument,
} from '../support/openapi-document.ts';
import { freightXsdFolder, filesBelow } from '../support/service-fixtures.ts';
import { execution } from '../support/service-client.ts';
import { zipped } from '../support/service-archives.ts';
import { Finding, type FuzzTarget } from './fuzzer.ts';
import type { Random } from './random.ts';

const texts = [
  '',
  ' ',
  '0',
  '1',
  '2',
  '-1',
  '+1',
  '01',
  '1.5',
  '1e3',
  '9223372036854775807',
  '9223372036854775808',
  '2147483647',
  '2147483648',
  'NaN',
  'null',
  'true',
  'a',
  'é',
  '😀',
  '\uD800',
  '%',
  '%00',
  '%2e%2e%2f',
  '../../etc/passwd',
  '/etc/passwd',
  "' or 1=1 --",
  '"; drop schema svc; --',
  '$(id)',
  '${x}',
  '<script>',
  '{{7*7}}',
  '\u0000',
  '\n',
  '\r\nX: y',
  'a'.repeat(300),
  'x/y',
  '__proto__',
  'constructor',
  'metadb:svc',
  'metadb:x',
  'postgresql://127.0.0.1/x',
  'uploads/x',
  'xml2er',
  '-o',
  '$0',
  '*',
  '[',
  '(',
  '\\',
  'https://h/c/?sig=x',
  'all',
  'group',
];
const leaks =
  /node_modules|\.ts:\d+:\d+|\bat \w+ \(|postgres\.js|PostgresError|select .* from svc\.|\/home\/|root:x:/i;

export async function createRestTarget(): Promise<FuzzTarget> {
  const limits = {
    'svc.limits.requests_per_second': '1000000',
    'svc.limits.request_burst': '1000000',
    'svc.limits.queued_jobs': '500',
  };
  const home = await createServiceHome({ 'cmd.enabled': 'true', ...limits });
  const service = await startService(home);
  const { client } = service;
  const document = await client.get<OpenApiDocument>('/doc');
  const checker = createDocumentChecker(document);
  // the key in use must live on, and what is open below /error answers everything
  const operations = operationsOf(document).filter(
    ({ path }) => path !== '/v2/file/upload/xml' && path !== '/v2/file/upload/xsd',
  );
  const xsd = await client.upload('xsd', 'freight.zip', zipped(filesBelow(freightXsdFolder)));
  const { jobs } = await client.run([execution('xsd2er', xsd)]);
  await client.ended(jobs[0]!);
  let steps = 0;

  async function step(random: Random): Promise<void> {
    const operation = random.pick(operations);
    const { url, init, shown } = request(random, operation, document);
    const response = await client.fetch(url, init).catch((error: unknown) => {
      throw new Finding(`no answer: ${String(error)}`, shown, error);
    });
    const answer = { status: response.status, headers: response.headers, text: await response.text() };
    const told = `${shown}\n\n${answer.status} ${answer.text}`;
    if (answer.status >= 500 && answer.status !== 501)
      throw new Finding(`${operation.method} ${operation.path} answers ${answer.status}`, told);
    if (leaks.test(answer.text))
      throw new Finding(`${operation.method} ${operation.path} tells of the host`, told);
    if (answer.headers.get('X-Request-Id') === null)
      throw new Finding(`${operation.method} ${operation.path} has no request id`, told);
    const [complaint] = isAsked(operation, new URL(url, service.url).pathname)
      ? checker.complaints(operation, answer)
      : [];
    if (complaint !== undefined)
      throw new Finding(`${operation.method} ${operation.path}: ${complaint}`, told);
    steps += 1;
    if (steps % 200 === 0 && (await client.fetch('/actuator/health/readiness')).status !== 200)
      throw new Finding('the service is not ready any more', told);
  }

  return {
    name: 'rest',
    step,
    async close() {
      await service.end('SIGTERM');
      await home.remove();
    },
  };
}

/** Whether the path is one of the operation, and no other's: parameters may have become anything. */
function isAsked({ path, method }: ListedOperation, asked: string): boolean {
  const pattern = new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, '[0-9]+')}$`);
  return pattern.test(asked) && path !== '/error' && method !== 'TRACE';
}

function request(random: Random, operation: ListedOperation, document: OpenApiDocument) {
  const value = (): string => (random.chance(0.4) ? String(random.below(4)) : random.pick(texts));
  let path = operation.path.replaceAll(/\{[^}]+\}/g, () =>
    encode(random.chance(0.6) ? String(random.below(4)) : random.pick(texts)),
  );
  const query = new URLSearchParams();
  for (const { name, in: place } of operation.parameters ?? [])
    if (place === 'query' && random.chance(0.4)) query.append(name, value());
  if (random.chance(0.05)) query.append(random.pick(texts), value());
  if (query.size > 0) path += `?${query}`;
  const headers: Record<string, string> = {};
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
    ]);
  if (random.chance(0.05)) headers['Idempotency-Key'] = random.pick(['a', 'b', 'x'.repeat(300), ' ']);
  // followers of logs would wait for ever
  if (/log\/\{/.test(operation.path)) headers['Accept'] = 'application/json';
  const init: RequestInit = { method: operation.method === 'TRACE' ? 'GET' : operation.method, headers };
  const content = operation.requestBody?.content['application/json'];
  if (content !== undefined && operation.method !== 'GET') {
    headers['Content-Type'] = random.chance(0.95)
      ? 'application/json'
      : random.pick(['text/plain', 'application/xml', 'application/json; charset=latin1']);
    init.body = bodyOf(random, exampleOf(content.schema, document));
  }
  return {
    url: path,
    init,
    shown: `${init.method} ${path}\n${JSON.stringify(headers)}\n${String(init.body ?? '')}`,
  };
}

/** A segment that stays one. */
function encode(text: string): string {
  const encoded = encodeURIComponent(text.isWellFormed() ? text : '?');
  return encoded === '' || encoded === '.' || encoded === '..' ? '%2e' : encoded;
}

function exampleOf(schema: unknown, document: OpenApiDocument): unknown {
  const name = /^#\/components\/schemas\/(.+)$/.exec((schema as { $ref?: string }).$ref ?? '')?.[1];
  return name === undefined ? {} : structuredClone(document.components.schemas[name]?.example ?? {});
}

function bodyOf(random: Random, example: unknown): string {
  if (random.chance(0.05))
    return random.pick(['', '{', 'null', '[]', '1', '"x"', '{"a":', '\uFEFF{}', '['.repeat(500)]);
  let value = example;
  for (let at = random.below(4); at > 0; at -= 1) value = changed(random, value, 0);
  const text = JSON.stringify(value) ?? 'null';
  return random.chance(0.05) ? text.slice(0, random.below(text.length + 1)) : text;
}

/** One place of a JSON value, changed. */
function changed(random: Random, value: unknown, depth: number): unknown {
  if (Array.isArray(value) && value.length > 0 && random.chance(0.8)) {
    const copy = [...value] as unknown[];
    const at = random.below(copy.length);
    const how = random.below(6);
    if (how === 0) copy.splice(at, 1);
    else if (how === 1) copy.push(copy[at]);
    else copy[at] = changed(random, copy[at], depth + 1);
    return copy;
  }
  if (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length > 0 &&
    random.chance(depth === 0 ? 0.97 : 0.85)
  ) {
    const copy: Record<string, unknown> = { ...value };
    const name = random.pick(Object.keys(copy));
    if (random.chance(0.12)) delete copy[name];
    else if (random.chance(0.08))
      copy[random.pick(['x', '', '__proto__', 'a/b~c', 'enabled', 'value'])] = scalar(random);
    else copy[name] = changed(random, copy[name], depth + 1);
    return copy;
  }
  return scalar(random);
}

function scalar(random: Random): unknown {
  if (random.chance(0.5)) return random.pick(texts);
  return random.pick([
    null,
    true,
    false,
    0,
    1,
    -1,
    1.5,
    1e308,
    9_007_199_254_740_992,
    [],
    {},
    [[]],
    [null],
    { a: {} },
    ['x'],
  ] as const);
}
