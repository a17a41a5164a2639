/** Bodies of requests: media types, malformed and oversized ones. */
import { describe, expect, it } from 'vitest';
import { createTestApp } from '../../support/memory/adapters.ts';
import type { TestApp } from '../../support/memory/adapters.ts';

const jsonType = { 'Content-Type': 'application/json' };

async function post(
  body: BodyInit | null,
  headers: Record<string, string> = jsonType,
  { send }: Pick<TestApp, 'send'> | { send: null } = { send: null },
  path = '/v2/run/cmd',
) {
  const sendIt = send ?? (await createTestApp()).send;
  const answer = await sendIt(path, {
    method: 'POST',
    body,
    headers,
    ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
  });
  const problem = (await answer.json()) as {
    code: string;
    detail: string;
    errors: { pointer: string; detail: string }[];
  };
  return { status: answer.status, ...problem };
}

const places = (answer: { errors: { pointer: string }[] }) => answer.errors.map(({ pointer }) => pointer);

const padded = (bytes: number): string => `{"a":"${'x'.repeat(bytes - 8)}"}`;

const chunked = (text: string): ReadableStream<Uint8Array> => {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.slice(at, (at += 65_536)));
    },
  });
};

describe('media types', () => {
  it.each([
    'text/plain',
    'application/xml',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'json',
    'text/json',
  ])('%s is 415', async (type) => {
    expect(await post('{}', { 'Content-Type': type })).toMatchObject({
      status: 415,
      code: 'unsupported_media_type',
    });
  });

  it.each(['gzip', 'br', 'deflate, gzip', 'x'])('%s as coding of a body is 415', async (coding) => {
    expect(await post('{}', { ...jsonType, 'Content-Encoding': coding })).toMatchObject({
      status: 415,
      code: 'unsupported_media_type',
    });
    expect((await post('{}', { ...jsonType, 'Content-Encoding': 'identity' })).status).toBe(400);
  });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON;charset="UTF-8"',
    'application/vnd.x+json',
  ])('%s is understood', async (type) => {
    expect(await post('{}', { 'Content-Type': type })).toMatchObject({ status: 400, code: 'invalid_body' });
  });

  it('refuses other encodings, and a body without a type', async () => {
    expect((await post('{}', { 'Content-Type': 'application/json; charset=iso-8859-1' })).status).toBe(415);
    expect((await post(new TextEncoder().encode('{}'), {})).status).toBe(415);
  });
});

describe('malformed bodies', () => {
  it.each([
    ['', 'missing_body'],
    [null, 'missing_body'],
    ['{', 'malformed_json'],
    ['{"executions":[}', 'malformed_json'],
    ['\uFEFF{"executions":[]}', 'malformed_json'],
    ["{'executions':[]}", 'malformed_json'],
    ['{"a":NaN}', 'malformed_json'],
    [' ', 'malformed_json'],
    ['['.repeat(100_000) + ']'.repeat(100_000), 'malformed_json'],
    ['{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000), 'malformed_json'],
    ['{"executions":"' + '['.repeat(1000) + '"}', 'invalid_body'],
    ['{"executions":"\\"[[{' + '['.repeat(1000) + '"}', 'invalid_body'],
    ['{"executions":[],"executions":[]}', 'malformed_json'],
    ['{"executions":[{"app_name":"x","\\u0061pp_name":"y"}]}', 'malformed_json'],
    ['{"executions":[{"a":1},{"a":{"a":["a","a"]}}],"a,":"a"}', 'invalid_body'],
    ['{"executions":"\\ud800"}', 'malformed_json'],
    ['{"\\udfff":1}', 'malformed_json'],
    ['["\\ud83d"]', 'malformed_json'],
    ['{"executions":"\\ud83d\\ude00 \\\\ud800"}', 'invalid_body'],
    ['null', 'invalid_body'],
    ['[]', 'invalid_body'],
    ['"text"', 'invalid_body'],
    ['{}', 'invalid_body'],
  ])('%.30s is 400 %s', async (body, code) => {
    expect(await post(body)).toMatchObject({ status: 400, code });
  });

  it('refuses bytes that are not UTF-8', async () => {
    expect(await post(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]))).toMatchObject({
      status: 400,
      code: 'malformed_json',
    });
  });
});

describe('strict bodies', () => {
  it('names each unknown member by its pointer', async () => {
    const answer = await post(
      JSON.stringify({
        executions: [
          { app_name: 'xml2er', 'odd/name~': 1, source: { file: { command: 'a.xml', extra: 1 } } },
        ],
        more: true,
      }),
    );
    expect(answer).toMatchObject({ status: 400, code: 'invalid_body' });
    expect(places(answer).toSorted()).toEqual([
      '/executions/0/odd~1name~0',
      '/executions/0/source/file/extra',
      '/more',
    ]);
    expect(answer.errors[0]!.detail).toBe('is not a member of this object');
  });

  it('knows no hidden members', async () => {
    expect(
      places(await post('{"executions":[{"app_name":"x"}],"__proto__":{"a":1},"constructor":1}')).toSorted(),
    ).toEqual(['/__proto__', '/constructor']);
  });

  it('names what is missing or of the wrong kind', async () => {
    expect(places(await post('{"executions":[{"source":{"file":{}}},{"app_name":7}]}')).toSorted()).toEqual([
      '/executions/0/app_name',
      '/executions/0/source/file/command',
      '/executions/1/app_name',
    ]);
    expect(places(await post('{"executions":[]}'))).toEqual(['/executions']);
  });

  it.each([1, 'yes', 'TRUE', null, 0, '', []])('refuses enabled: %j', async (enabled) => {
    const answer = await post(
      JSON.stringify({
        executions: [{ app_name: 'xml2er', source: { file: { command: 'a.xml', enabled } } }],
      }),
    );
    expect(answer).toMatchObject({ status: 400, code: 'invalid_body' });
    expect(answer.errors).toEqual([
      { pointer: '/executions/0/source/file/enabled', detail: 'must be true, false, "true" or "false"' },
    ]);
  });

  it('limits the number of complaints', async () => {
    const body = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`m${at}`, at]));
    expect((await post(JSON.stringify(body))).errors).toHaveLength(100);
  });

  it('limits the number of values and members', async () => {
    const members = Array.from({ length: 60_000 }, (_, at) => `"k${at}":1`);
    for (const body of [`{${members.join(',')}}`, `[${'{},'.repeat(100_000)}0]`])
      expect(await post(body)).toMatchObject({
        status: 400,
        code: 'malformed_json',
        detail: 'the body has more than 25000 values and members',
      });
    const texts = JSON.stringify({ id_sch: 1, xpaths: [',[{'.repeat(20_000)] });
    expect(await post(texts, jsonType, undefined, '/v2/mapping/activate')).toMatchObject({ status: 404 });
  });

  it('limits the number of executions', async () => {
    const executions = Array.from({ length: 101 }, () => ({ app_name: 'xml2er' }));
    expect(places(await post(JSON.stringify({ executions })))).toEqual(['/executions']);
  });
});

describe('the limit on JSON bodies', () => {
  it('is told by Content-Length before a byte is read', async () => {
    const app = await createTestApp({ 'cmd.enabled': 'true', 'svc.limits.json_body': '1000' });
    const headers = { ...jsonType, 'Content-Length': '1001' };
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled += 1;
          controller.enqueue(new TextEncoder().encode('x'));
        },
      },
      { highWaterMark: 0 },
    );
    expect(await post(body, headers, app)).toMatchObject({ status: 413, code: 'payload_too_large' });
    expect(pulled).toBe(0);
  });

  it('is 1 MiB by default, counted in a body without a length too', async () => {
    expect((await post(padded(1_048_576))).code).toBe('invalid_body');
    expect((await post(padded(1_048_577))).status).toBe(413);
    expect((await post(chunked(padded(1_048_576)))).code).toBe('invalid_body');
    expect((await post(chunked(padded(1_048_577)))).status).toBe(413);
  });
});

describe('ids in a body', () => {
  it('end at 2^63 - 1, told apart as they are written', async () => {
    const app = await createTestApp();
    const ask = async (id: string) =>
      (await post(`{"id_sch":${id},"ids":[1]}`, { ...jsonType }, app, '/v2/mapping/activate')).status;
    expect(
      await Promise.all(['9223372036854775808', '99999999999999999999', '-9223372036854775809'].map(ask)),
    ).toEqual([400, 400, 400]);
    expect(await Promise.all(['9223372036854775807', '9007199254740993', '12345'].map(ask))).toEqual([
      404, 404, 404,
    ]);
  });
});

const watchWith = (options: string): string =>
  `{"name":"w","location":"inbox","target":"metadb:w","every":"1h","options":${options}}`;

describe('bodies of watches', () => {
  it.each(['{"__proto__":"1"}', '{"--views":{"__proto__":1}}', '{"\\u005f_proto__":"1"}'])(
    'options of the name that objects keep for themselves are refused: %s',
    async (options) => {
      const app = await createTestApp();
      const refused = await post(watchWith(options), jsonType, app, '/v2/watches');
      expect(refused).toMatchObject({ status: 400, code: 'invalid_body' });
      expect(places(refused)[0]).toMatch(/^\/options\/.*__proto__$/);
      expect((await app.adapters.watches.listWatches(1, 0, 20)).content).toEqual([]);
    },
  );

  it('an empty body is none, whatever its media type', async () => {
    const app = await createTestApp();
    expect(await post('', jsonType, app, '/v2/watches/7/run')).toMatchObject({
      status: 404,
      code: 'not_found',
    });
  });
});
