/** Schemas of sets that lie elsewhere: `POST /v2/schema/create` with addresses. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createS3ObjectStore } from '../../../src/storage/object-store/s3.ts';
import { needs } from '../../support/needs.ts';
import { startS3Server } from '../../support/servers/s3-server.ts';
import {
  createServiceClient,
  type Problem,
  type SchemaAnswer,
  type ServiceClient,
} from '../../support/service/client.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';

const token = 'c4nary-of-schemas';
const main = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:include schemaLocation="parts/line.xsd"/>
  <xs:element name="order"><xs:complexType><xs:sequence><xs:element name="line" type="line" maxOccurs="unbounded"/></xs:sequence>
  </xs:complexType></xs:element></xs:schema>`;
const line = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:complexType name="line">
  <xs:attribute name="sku" type="xs:string"/></xs:complexType></xs:schema>`;

const s3 = await startS3Server();
afterAll(() => s3?.end());

describe('a schema of files that lie elsewhere', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let web: Server;
  let origin: string;
  let home: ServiceHome;
  let service: RunningService;
  let client: ServiceClient;
  let other: ServiceClient;
  const asked: string[] = [];

  beforeAll(async () => {
    web = createServer((request, response) => {
      asked.push(request.url!);
      if (request.url === '/away') response.writeHead(302, { Location: 'http://127.0.0.2:1/set.xsd' }).end();
      else if (request.url === '/large.xml') response.end(`<a>${'x'.repeat(2_000_000)}</a>`);
      else if (request.url === '/none.xsd') response.writeHead(404).end();
      else if (request.url === '/open.xml') response.end('<note><to>x</to></note>');
      else if (request.headers.authorization === `Bearer ${token}`)
        response.end(line.replace('name="line"', 'name="own"'));
      else response.writeHead(401).end();
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    home = await trial.home({
      'svc.allow.hosts': new URL(origin).host,
      'svc.limits.upload': '1000000',
      ...(s3 === null
        ? {}
        : {
            'svc.sources.sets.location': `s3://${s3.settings.bucket}/sets`,
            'svc.sources.sets.endpoint': s3.settings.endpoint,
            'svc.sources.sets.access_key': s3.settings.accessKeyId,
            'svc.sources.sets.secret_key': s3.settings.secretAccessKey,
          }),
    });
    service = await trial.service(home);
    client = createServiceClient(service.url, service.key);
    const org = (await client.post<{ id_org: number }>('/v2/admin/orgs', { name: 'second' })).body;
    const { key } = (
      await client.post<{ key: string }>('/v2/admin/keys', {
        name: 'second',
        scopes: ['schemas:write', 'schemas:read'],
        id_org: org.id_org,
      })
    ).body;
    other = createServiceClient(service.url, key);
    await client.post('/v2/admin/credentials', {
      name: 'sets',
      kind: 'https',
      host: new URL(origin).host,
      token,
    });
  });
  afterAll(() => new Promise((resolve) => web.close(resolve)));

  it('is made of a document of the web', async () => {
    const { status, body } = await client.post<SchemaAnswer>('/v2/schema/create', {
      name: 'notes',
      xml: [`${origin}/open.xml`],
    });
    expect([status, body.root_elements]).toEqual([201, ['note']]);
  });

  it('is made of what a credential opens, which no answer repeats', async () => {
    const made = await client.post<SchemaAnswer>('/v2/schema/create', {
      name: 'own',
      xsd: [`${origin}/own.xsd`],
      xml: [`${origin}/open.xml`],
      credential: 'sets',
      root: 'note',
    });
    // the set declares no such element
    expect(made.status).toBe(422);
    const without = await client.post<Problem>('/v2/schema/create', {
      name: 'own',
      xsd: [`${origin}/own.xsd`],
    });
    expect([without.status, without.body.detail]).toEqual([422, expect.stringContaining('status 401')]);
    expect(JSON.stringify([made.body, without.body]) + service.output()).not.toContain(token);
    expect(asked).toContain('/own.xsd');
  });

  it(
    'is made of a prefix of a bucket, and of a file of it, by whom the operator lets',
    needs('s3 server', s3 !== null),
    async () => {
      const store = createS3ObjectStore(s3!.settings);
      await store.write('sets/orders/main.xsd', new TextEncoder().encode(main));
      await store.write('sets/orders/parts/line.xsd', new TextEncoder().encode(line));
      const place = `s3://${s3!.settings.bucket}/sets/orders/`;
      const { status, body } = await client.post<SchemaAnswer>('/v2/schema/create', {
        name: 'orders',
        xsd: [place],
      });
      expect([status, body.root_elements]).toEqual([201, ['order']]);
      expect(body.files.map(({ name }) => name).toSorted()).toEqual(['main.xsd', 'parts/line.xsd']);
      const refused = await other.post<Problem>('/v2/schema/create', { name: 'orders', xsd: [place] });
      expect([refused.status, refused.body.errors[0]!.pointer]).toEqual([400, '/xsd/0']);
    },
  );

  it.each([
    [{ xsd: ['https://elsewhere.example/a.xsd'] }, 403, '/xsd/0', 'jobs may not reach elsewhere.example:443'],
    [{ xml: ['https://2130706433/a.xml'] }, 403, '/xml/0', 'jobs may not reach'],
    [{ xml: ['https://[::ffff:169.254.169.254]/a.xml'] }, 403, '/xml/0', 'jobs may not reach'],
    [{ xsd: ['http://elsewhere.example/a.xsd'] }, 400, '/xsd/0', 'only this machine may be read without TLS'],
    [{ xsd: ['https://ann:secret@elsewhere.example/a.xsd'] }, 400, '/xsd/0', 'a password in an address'],
    [{ xsd: ['s3://no-source/a.xsd'] }, 400, '/xsd/0', 'the operator has set no source for it'],
    [
      { xsd: ['s3://no-source/a.xsd'], credential: 'none' },
      400,
      '/credential',
      'is not the name of a credential',
    ],
  ])('is refused from %j', async (sources, status, pointer, why) => {
    const { status: answered, body } = await client.post<Problem>('/v2/schema/create', {
      name: 'refused',
      ...sources,
    });
    expect([answered, body.errors[0]]).toEqual([status, { pointer, detail: expect.stringContaining(why) }]);
    expect(JSON.stringify(body)).not.toContain('secret');
  });

  it.each([
    ['/away', 403, 'not be reached'],
    ['/none.xsd', 400, 'there is no such file (status 404)'],
    ['/large.xml', 413, 'load such documents with xml2er'],
  ])('is refused once %s has answered', async (name, status, why) => {
    const { status: answered, body } = await client.post<Problem>('/v2/schema/create', {
      name: 'refused',
      xml: [origin + name],
    });
    expect([answered, JSON.stringify(body)]).toEqual([status, expect.stringContaining(why)]);
  });

  it('leaves no file behind', async () => {
    const left = await readdir(join(home.directory, 'tmp')).catch(() => []);
    expect(left.filter((name) => name.startsWith('addresses-'))).toEqual([]);
  });
});
