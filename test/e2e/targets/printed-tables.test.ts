/** `-S p` prints tables, whatever they are made of, and leaves nothing in the catalogue. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres, type Sql } from '../../../src/postgres/connect.ts';
import {
  createServiceHome,
  startService,
  type RunningService,
  type ServiceHome,
} from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="quay"><xs:complexType><xs:sequence>
  <xs:element name="berth" maxOccurs="unbounded"><xs:complexType><xs:sequence>
    <xs:element name="draught" type="xs:decimal"/><xs:element name="note" type="xs:string" minOccurs="0"/>
  </xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>`;
const document = '<quay><berth><draught>7.5</draught></berth><berth><draught>11.2</draught></berth></quay>';

let home: ServiceHome;
let service: RunningService;
let sql: Sql;
let origin: string;

beforeAll(async () => {
  home = await createServiceHome();
  await writeFile(at('quay.xsd'), xsd);
  await writeFile(at('quay.xml'), document);
  service = await startService(home);
  sql = connectPostgres(await home.databaseUrl(), { applicationName: 'test', max: 1 });
  const made = await convert(home, 'xsd2er', at('quay.xsd'), '--name', 'kept');
  origin = String(made.origin);
}, 120_000);

afterAll(async () => {
  await sql?.end({ timeout: 1 });
  await service?.end('SIGTERM');
  await home?.remove();
});

const at = (name: string): string => join(home.directory, name);

async function stored(): Promise<unknown> {
  return sql`select (select count(*)::int from svc.origin) as origins, (select count(*)::int from svc.logical_schema) as schemas,
    (select count(*)::int from svc.job_statistics) as statistics, (select count(*)::int from svc.compiled_set) as sets`;
}

describe('-S p', { timeout: 120_000 }, () => {
  it.each([
    ['documents alone', () => []],
    ['documents alone and a target', () => ['-o', 'metadb:quays']],
    ['a set that is not stored', () => ['--xsd', at('quay.xsd'), '--prune', '--name', 'other']],
    ['an origin, pruned', () => ['-x', origin, '-o', 'metadb:quays', '--prune']],
    ['an origin without a target, at another level', () => ['-x', origin, '-g', '0']],
    ['an origin and an extra column', () => ['-x', origin, '-o', 'metadb:quays', '-R', 'source=1']],
  ])('prints the tables of %s, and stores nothing', async (_, options) => {
    const before = await stored();
    const argv = [at('quay.xml'), ...options(), '-S', 'p', '--json'];
    const { code, stdout, stderr, summary } = await runTool(home, 'xml2er', argv);
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toContain('CREATE TABLE "berth"');
    expect(summary).toMatchObject({ status: 'C', logical: null, rows: 0 });
    expect(await stored()).toEqual(before);
  });
});
