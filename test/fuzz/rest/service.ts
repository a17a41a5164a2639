/**
 * The REST surface of a running service, by sequences of requests: every answer is declared, of its declared shape, and says nothing of
 * the host; to a stranger, a record that is there looks like one that is not; and the service stays well.
 */
import { readFileSync } from 'node:fs';
import {
  createDocumentChecker,
  operationsOf,
  type Answered,
  type ListedOperation,
  type OpenApiDocument,
} from '../../support/openapi-document.ts';
import { createServiceClient, type ServiceClient } from '../../support/service/client.ts';
import { convertFreight } from '../../support/service/conversion.ts';
import { createServiceHome, startService } from '../../support/service/start.ts';
import { Finding, type FuzzTarget } from '../fuzzer.ts';
import type { Random } from '../random.ts';
import { makeRawRequest, sendRaw } from './raw-requests.ts';
import { createRecords, type Records } from './records.ts';
import { eventStream, makeRequest, type Asker, type RestRequest } from './requests.ts';

const leaks =
  /node_modules|\.ts:\d+:\d+|\bat \w+ \(|postgres\.js|PostgresError|select .* from svc\.|\/home\/|root:x:/i;
const longestMs = 30_000;
const maxServiceBytes = 1.5 * 1024 * 1024 * 1024;
const absentId = '987654321';
const limits = {
  'svc.limits.requests_per_second': '1000000',
  'svc.limits.request_burst': '1000000',
  'svc.limits.queued_jobs': '500',
};
/** What a sequence is likely to go on with: records come about. */
const making = [
  '/v2/run/cmd',
  '/v2/schema/create',
  '/v2/file/upload/token',
  '/v2/schema/export',
  '/v2/admin/keys',
];

export async function createRestTarget(): Promise<FuzzTarget> {
  const home = await createServiceHome({ 'cmd.enabled': 'true', ...limits });
  const service = await startService(home);
  const { client } = service;
  const document = await client.get<OpenApiDocument>('/doc');
  const checker = createDocumentChecker(document);
  const operations = operationsOf(document);
  const clients = await createAskers(service.url, service.key, client);
  const close = async (): Promise<void> => {
    await service.end('SIGTERM');
    await home.remove();
  };
  let made = 0;
  let records = await makeRecords().catch(async (error: unknown) => {
    await close();
    throw error;
  });
  let steps = 0;

  async function makeRecords(): Promise<Records> {
    made += 1;
    const fresh = createRecords();
    const conversion = await convertFreight(client, `freight${made}`);
    fresh.learn(conversion.loaded);
    fresh.learn({ cfxml: conversion.name, path: conversion.xsdPath, mapping: 'shipment' });
    fresh.learn({ path: conversion.xmlPath });
    fresh.learn(await client.get(`/v2/mapping/get/${conversion.idSch}`));
    return fresh;
  }

  async function checkHealth(): Promise<void> {
    const ready = await client.fetch('/actuator/health/readiness');
    if (ready.status !== 200) throw new Finding('the service is not ready any more', await ready.text());
    const pages = Number(readFileSync(`/proc/${service.pid}/statm`, 'utf8').split(' ')[1]);
    if (pages * 4096 > maxServiceBytes)
      throw new Finding(`the service takes ${Math.round((pages * 4096) / 1e6)} MB`, '');
    // a sequence may have removed what all others ask for
    const [idSch] = records.of('id_sch');
    if ((await client.fetch(`/v2/schema/${idSch}`)).status !== 200) records = await makeRecords();
  }

  async function step(random: Random): Promise<void> {
    steps += 1;
    if (steps % 50 === 0) await checkHealth();
    if (random.chance(0.03)) {
      const bytes = makeRawRequest(random);
      const line = await sendRaw(service.url, bytes);
      if (/^HTTP\/1\.\d 5/.test(line) && !/ 50[15] /.test(line))
        throw new Finding(`raw bytes are answered by ${line}`, bytes);
      return;
    }
    const own = createRecords(records);
    const sent: string[] = [];
    for (let left = 1 + random.below(6); left > 0; left -= 1) {
      const upload = own.of('token').length > 0 && random.chance(0.5);
      const wanted = upload ? '/v2/file/upload/xml' : random.chance(0.05) ? random.pick(making) : null;
      const operation = operations.find(({ path, method }) => path === wanted && method === 'POST');
      await tryOne(random, operation ?? random.pick(operations), own, sent);
    }
  }

  async function tryOne(
    random: Random,
    operation: ListedOperation,
    own: Records,
    sent: string[],
  ): Promise<void> {
    const request = makeRequest(random, operation, document, own);
    sent.push(shown(request));
    const answers = await Promise.all(
      Array.from({ length: request.times }, () => send(clients[request.asker], request, sent)),
    );
    for (const answer of answers) {
      checkAnswer(request, answer, sent);
      if (request.asker === 'own' && answer.status < 300) own.learn(parsed(answer.text));
    }
    if (request.asker === 'own' && request.records.length > 0 && random.chance(0.2))
      await askAsStranger(request, sent);
  }

  function checkAnswer(request: RestRequest, answer: Answered, sent: readonly string[]): void {
    const { status, headers, text } = answer;
    const found = (what: string): never => {
      throw new Finding(`${request.method} ${request.operation} ${what}`, told(sent, answer));
    };
    if (status >= 500 && status !== 501) found(`answers ${status}`);
    if (leaks.test(text)) found('tells of the host');
    if (headers.get('X-Request-Id') === null) found('has no request id');
    if (headers.get('X-Content-Type-Options') !== 'nosniff') found('has no security headers');
    if (headers.has('Set-Cookie') || headers.has('Access-Control-Allow-Origin'))
      found('sets what must not be set');
    if (status === 401 && headers.get('WWW-Authenticate') === null) found('401 without WWW-Authenticate');
    if (status === 405 && headers.get('Allow') === null) found('405 without Allow');
    const asked = operations.find(
      (one) => one.method === request.method && isAsked(one, new URL(request.path, service.url).pathname),
    );
    const [complaint] = asked === undefined ? [] : checker.complaints(asked, answer);
    if (complaint !== undefined) found(complaint);
  }

  /** The answer to somebody of another organisation must not depend on whether the record is there. */
  async function askAsStranger(request: RestRequest, sent: string[]): Promise<void> {
    const numbers = request.records.filter((record) => /^\d+$/.test(record));
    if (numbers.length !== request.records.length) return;
    const headers = { ...request.headers, 'X-Request-Id': 'same' };
    const real = { ...request, headers };
    const at = `${request.path}?`.indexOf('?');
    const segments = request.path
      .slice(0, at)
      .split('/')
      .map((one) => (numbers.includes(one) ? absentId : one));
    const absent = { ...real, path: segments.join('/') + request.path.slice(at) };
    const hidden = (answer: Answered): string =>
      `${answer.status} ${[...numbers, absentId]
        .reduce((text, id) => text.replaceAll(new RegExp(`(?<![0-9])${id}(?![0-9])`, 'g'), 'ID'), answer.text)
        .replaceAll(/"timestamp":"[^"]*"/g, '')}`;
    const [one, two] = [await send(clients.other, real, sent), await send(clients.other, absent, sent)];
    if (hidden(one) !== hidden(two))
      throw new Finding(
        `${request.method} ${request.operation} tells a stranger what is there`,
        `${told(sent, one)}\n\n${shown(absent)}\n${two.status} ${two.text}`,
      );
  }

  return { name: 'rest', step, close };
}

/** Clients with a key of the first organisation, of another, and without one that counts. */
async function createAskers(
  url: string,
  key: string,
  client: ServiceClient,
): Promise<Readonly<Record<Asker, ServiceClient>>> {
  const { body: org } = await client.post<{ id_org: number }>('/v2/admin/orgs', { name: 'other' });
  const { body: made } = await client.post<{ key: string }>('/v2/admin/keys', {
    name: 'stranger',
    id_org: org.id_org,
    scopes: ['jobs:read', 'jobs:run', 'schemas:read', 'schemas:write', 'files:upload', 'rows:read', 'admin'],
  });
  return {
    // the key in use lives on: sequences may remove any other
    own: createServiceClient(url, key),
    other: createServiceClient(url, made.key),
    none: createServiceClient(url, ''),
    wrong: createServiceClient(url, `${key.slice(0, -1)}x`),
    odd: createServiceClient(url, `${key}, Bearer ${key} \t${'x'.repeat(200)}`),
  };
}

async function send(client: ServiceClient, request: RestRequest, sent: readonly string[]): Promise<Answered> {
  const { method, path, headers, body } = request;
  const signal = AbortSignal.timeout(longestMs);
  const withBody = body !== null && method !== 'GET' && method !== 'HEAD';
  try {
    const response = await client.fetch(path, { method, headers, signal, ...(withBody ? { body } : {}) });
    const isFollowed =
      headers['Accept'] === eventStream && response.headers.get('Content-Type') === eventStream;
    const text = isFollowed ? await firstOf(response) : await response.text();
    return { status: response.status, headers: response.headers, text };
  } catch (error) {
    // what fetch itself refuses to send
    if (error instanceof TypeError && !(error.cause instanceof Error)) throw error;
    throw new Finding(
      `${method} ${request.operation} has no answer: ${String(error)}`,
      sent.join('\n\n'),
      error,
    );
  }
}

/** The beginning of an answer that goes on; whoever hangs up must leave nothing behind. */
async function firstOf(response: Response): Promise<string> {
  const reader = response.body!.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}

/** Whether the path is one of the operation, and no other's: parameters may have become anything. */
function isAsked({ path }: ListedOperation, asked: string): boolean {
  const pattern = new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, '[0-9]+')}$`);
  return pattern.test(asked) && path !== '/error';
}

function shown({ method, path, headers, body, asker, times }: RestRequest): string {
  return `${asker}${times > 1 ? ` ${times} times` : ''}: ${method} ${path}\n${JSON.stringify(headers)}\n${body ?? ''}`;
}

function told(sent: readonly string[], { status, text }: Answered): string {
  return `${sent.join('\n\n')}\n\n${status} ${text}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
