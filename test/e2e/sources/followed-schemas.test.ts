/** One schema document by its address: by hand, what it refers to comes with it, as from a disk; the service reads what was given to it. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createS3ObjectStore } from '../../../src/storage/object-store/s3.ts';
import { needs } from '../../support/needs.ts';
import { startS3Server } from '../../support/servers/s3-server.ts';
import { createServiceClient, execution } from '../../support/service/client.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const s3 = await startS3Server();
afterAll(() => s3?.end());

const main = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:include schemaLocation="../common/line.xsd"/>
  <xs:element name="order"><xs:complexType><xs:sequence><xs:element name="line" type="line" maxOccurs="unbounded"/></xs:sequence>
  </xs:complexType></xs:element></xs:schema>`;
const line = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:complexType name="line">
  <xs:attribute name="sku" type="xs:string"/></xs:complexType></xs:schema>`;
const files = { 'sets/orders/main.xsd': main, 'sets/common/line.xsd': line } as const;

describe('a schema document by its address', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let web: Server;
  let origin: string;

  beforeAll(async () => {
    web = createServer((request, response) => {
      const text = (files as Readonly<Record<string, string>>)[request.url!.slice(1)];
      if (text === undefined) response.writeHead(404).end();
      else response.end(text);
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    home = await trial.home({ 'cmd.enabled': 'true', 'svc.allow.hosts': new URL(origin).host });
  });
  afterAll(() => new Promise((resolve) => web.close(resolve)));

  async function expectWhole(address: string): Promise<void> {
    const made = await convert(home, 'xsd2er', address);
    const sql = await trial.metadb(home);
    const names = await sql<{ name: string }[]>`
      select name from svc.origin_file where id_sch = ${String(made.origin)} order by name`;
    expect(names.map(({ name }) => name)).toEqual(['common/line.xsd', 'orders/main.xsd']);
  }

  it('of the web brings what it refers to by hand, and does not in a job', async () => {
    await expectWhole(`${origin}/sets/orders/main.xsd`);
    const service = await trial.service(home);
    const client = createServiceClient(service.url, service.key);
    const { jobs } = await client.run([execution('xsd2er', `${origin}/sets/orders/main.xsd`, [])]);
    expect(await client.ended(jobs[0]!)).toMatchObject({ status: 'F' });
    expect(await client.log(jobs[0]!)).toContain('give the folder that holds both');
  });

  it('of a bucket brings what it refers to', needs('s3 server', s3 !== null), async () => {
    const { bucket, endpoint, accessKeyId, secretAccessKey } = s3!.settings;
    const store = createS3ObjectStore(s3!.settings);
    for (const [key, text] of Object.entries(files)) await store.write(key, new TextEncoder().encode(text));
    await home.configure({
      'svc.sources.sets.location': `s3://${bucket}/sets`,
      'svc.sources.sets.endpoint': endpoint,
      'svc.sources.sets.access_key': accessKeyId,
      'svc.sources.sets.secret_key': secretAccessKey,
    });
    await expectWhole(`s3://${bucket}/sets/orders/main.xsd`);
  });
});
