/** /v2/file: upload tokens and uploads. */
import { describe, expect, it } from 'vitest';
import { UploadToken } from '../../../../src/http/routes/files.ts';
import { createTestApp } from '../../../support/memory/adapters.ts';
import type { TestApp } from '../../../support/memory/adapters.ts';

async function token({ send }: TestApp, body: unknown = { kind: 'xml' }) {
  const answer = await send('/v2/file/upload/token', {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json' },
  });
  expect(answer.status).toBe(201);
  return UploadToken.parse(await answer.json());
}

async function upload(
  { app }: TestApp,
  query: string,
  body: BodyInit | null,
  headers: Record<string, string> = {},
  kind = 'xml',
) {
  const answer = await app.request(`/v2/file/upload/${kind}?${query}`, {
    method: 'POST',
    body,
    headers,
    ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
  });
  return { status: answer.status, body: (await answer.json()) as unknown };
}

/** `count` chunks of 100 bytes */
const stream = (count: number) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < count; at += 1) controller.enqueue(new Uint8Array(100).fill(0x20));
      controller.close();
    },
  });

describe('POST /v2/file/upload/token', () => {
  it('gives 256 bits for five minutes, of which only the hash is kept', async () => {
    const app = await createTestApp();
    const given = await token(app, { kind: 'xml', max_bytes: 1000 });
    expect(given).toMatchObject({ expires_at: app.adapters.time.nowMs + 300_000, max_bytes: 1000 });
    expect(given.token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect((await token(app)).max_bytes).toBe(10 * 1024 ** 3);
    expect(await app.adapters.access.spendUploadToken(given.token, 'xml')).toBeNull();
  });

  it.each([
    {},
    { kind: 'zip' },
    { kind: 'xml', max_bytes: 0 },
    { kind: 'xml', max_bytes: 1.5 },
    { kind: 'xml', max_bytes: 11e9 },
    { kind: 'xml', a: 1 },
  ])('refuses %j', async (body) => {
    const { send } = await createTestApp();
    const answer = await send('/v2/file/upload/token', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    });
    expect(await answer.json()).toMatchObject({ status: 400, code: 'invalid_body' });
  });
});

describe('POST /v2/file/upload/xml and xsd', () => {
  it('stores the bytes as they are, whatever the content type, and answers the path', async () => {
    const app = await createTestApp();
    const bytes = new Uint8Array([0x1f, 0x8b, 0x00, 0xff, 0x0d, 0x0a]);
    for (const type of [
      'application/octet-stream',
      'application/json',
      'text/plain',
      'multipart/form-data; boundary=x',
      '',
    ]) {
      const given = await token(app);
      const answer = await upload(
        app,
        `token=${given.token}&name=donut.xml.gz`,
        bytes,
        type === '' ? {} : { 'Content-Type': type },
      );
      expect(answer.status).toBe(200);
      expect(answer.body).toMatch(/^uploads\/[^/]+\/donut\.xml\.gz$/);
      expect(app.adapters.files.stored.get(`1/${answer.body as string}`)).toEqual(bytes);
    }
    const given = await token(app, { kind: 'xsd' });
    expect((await upload(app, `token=${given.token}&name=a.xsd`, '<a/>', {}, 'xsd')).status).toBe(200);
  });

  it('belongs to the organisation of the token', async () => {
    const app = await createTestApp();
    const { key } = await app.newKey(2, ['files:upload']);
    const given = await token({ ...app, send: (path, init) => app.send(path, { ...init, key }) });
    await upload(app, `token=${given.token}`, '<a/>');
    expect([...app.adapters.files.stored.keys()]).toEqual(['2/uploads/1/upload.xml']);
  });

  it('refuses a missing, wrong, spent or expired token, and one of the other kind, before any other complaint', async () => {
    const app = await createTestApp();
    const [spent, expired, other] = [await token(app), await token(app), await token(app, { kind: 'xsd' })];
    expect((await upload(app, `token=${spent.token}`, '<a/>')).status).toBe(200);
    const refused = async (query: string) => {
      for (const headers of [{}, { 'Content-Length': '99999999999999' }] as Record<string, string>[]) {
        expect([query, await upload(app, query, null, headers)]).toMatchObject([
          query,
          { status: 401, body: { code: 'invalid_upload_token' } },
        ]);
      }
    };
    for (const query of [
      '',
      'token=',
      'token=x',
      `token=${'x'.repeat(1000)}`,
      `token=${spent.token}`,
      `token=${other.token}`,
    ]) {
      await refused(query);
    }
    app.adapters.time.nowMs += 300_000;
    await refused(`token=${expired.token}`);
    expect(app.adapters.files.stored.size).toBe(1);
  });

  it('is over when the token says so: by Content-Length and by what comes', async () => {
    const app = await createTestApp();
    const give = async () => (await token(app, { kind: 'xml', max_bytes: 1000 })).token;
    expect((await upload(app, `token=${await give()}`, stream(10))).status).toBe(200);
    const stored = app.adapters.files.stored.size;
    expect(await upload(app, `token=${await give()}`, stream(11))).toMatchObject({
      status: 413,
      body: { code: 'payload_too_large' },
    });
    expect((await upload(app, `token=${await give()}`, stream(1), { 'Content-Length': '1001' })).status).toBe(
      413,
    );
    expect(app.adapters.files.stored.size).toBe(stored);
  });

  it('is over when all files of the organisation are: those of others count for nothing', async () => {
    const app = await createTestApp({ 'cmd.enabled': 'true', 'svc.limits.disk': '2500' });
    const give = async () => (await token(app)).token;
    app.adapters.files.put(1, 'results/rows.csv', new Uint8Array(1000));
    app.adapters.files.put(2, 'uploads/1/a.xml', new Uint8Array(5000));
    expect((await upload(app, `token=${await give()}`, stream(10))).status).toBe(200);
    expect(await upload(app, `token=${await give()}`, stream(6))).toMatchObject({
      status: 413,
      body: { code: 'payload_too_large', detail: expect.stringContaining('svc.limits.disk') },
    });
    expect((await upload(app, `token=${await give()}`, stream(5))).status).toBe(200);
    expect((await upload(app, `token=${await give()}`, stream(1))).status).toBe(413);
    // room is looked for before it is refused
    await app.adapters.files.removeFile(1, 'results/rows.csv');
    expect((await upload(app, `token=${await give()}`, stream(1))).status).toBe(200);
  });

  it('counts what arrives at the same time', async () => {
    const app = await createTestApp({ 'cmd.enabled': 'true', 'svc.limits.disk': '1000' });
    const tokens = await Promise.all(Array.from({ length: 5 }, () => token(app)));
    const answers = await Promise.all(tokens.map((one) => upload(app, `token=${one.token}`, stream(4))));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(2);
    const sizes = [...app.adapters.files.stored.values()].map(({ length }) => length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(1000);
    expect((await upload(app, `token=${(await token(app)).token}`, stream(2))).status).toBe(200);
  });

  it('needs a body', async () => {
    const app = await createTestApp();
    for (const body of [
      null,
      '',
      new ReadableStream<Uint8Array>({ start: (controller) => controller.close() }),
    ]) {
      const given = await token(app);
      expect(await upload(app, `token=${given.token}`, body)).toMatchObject({
        status: 400,
        body: { code: 'missing_body' },
      });
    }
  });

  it.each([
    ['donut.xml', '<a/>', 'donut.xml'],
    ['../../etc/passwd', '<a/>', 'passwd.xml'],
    ['C:\\data\\Größe 1.xml', '<a/>', 'Größe 1.xml'],
    ['a;$(rm -rf)`b`\n.xml', '<a/>', 'a___rm -rf__b__.xml'],
    ['...hidden.zip', 'PK', 'hidden.zip'],
    ['..', '<a/>', 'upload.xml'],
    ['', '<a/>', 'upload.xml'],
    ['', '\x1f', 'upload.xml'],
    ['', 'PK\x03\x04', 'upload.zip'],
    ['', `${'a'.repeat(257)}ustar\x0000`, 'upload.tar'],
    ['data.kml', '<a/>', 'data.kml.xml'],
    [`${'ä'.repeat(300)}.xml.gz`, '<a/>', `${'ä'.repeat(96)}.xml.gz`],
  ])('calls %.30j %.10j %.30j', async (name, body, stored) => {
    const app = await createTestApp();
    const given = await token(app);
    const answer = await upload(app, `token=${given.token}&name=${encodeURIComponent(name)}`, body);
    expect(answer).toEqual({ status: 200, body: `uploads/1/${stored}` });
  });
});
