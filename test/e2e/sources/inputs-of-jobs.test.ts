/** Inputs of jobs: what is read, what is passed over, and what files bring with them. */
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { execution, type JobAnswer, type Options } from '../../support/service/client.ts';
import { zipped } from '../../support/service/archives.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';

const utf8 = new TextEncoder();
const xs = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"';
const files: Readonly<Record<string, string>> = {
  'names/a.xml': '<rec><v>1</v></rec>',
  'names/c.gml': '<rec><v>2</v></rec>',
  'names/noext': '<?xml version="1.0"?><rec><v>3</v></rec>',
  'names/readme.txt': 'plain',
  'names/schema.other': `<xs:schema ${xs}/>`,
  'dtd/a.xml': '<!DOCTYPE d SYSTEM "letters.dtd"><d><p>anar&hcirc;i</p></d>',
  'dtd/letters.dtd': '<!ENTITY hcirc "&#x0125;"><!ATTLIST p lang CDATA "eo">',
  'out/a.xml': '<!DOCTYPE d SYSTEM "../secret.dtd"><d><p>&s;</p></d>',
  'secret.dtd': '<!ENTITY s "secret">',
  'set/main.xsd': `<xs:schema ${xs}><xs:include schemaLocation="parts/part.xsd"/><xs:include schemaLocation="linked.xsd"/><xs:element name="order" type="Order"/></xs:schema>`,
  'set/parts/part.xsd':
    `<xs:schema ${xs}><xs:complexType name="Order"><xs:sequence><xs:element name="n" type="N"/></xs:sequence></xs:complexType><xs:include schemaLocation="n.xsd"/></xs:schema>`.replace(
      /(<xs:complexType.*<\/xs:complexType>)(<xs:include[^>]*>)/,
      '$2$1',
    ),
  'set/parts/n.xsd': `<xs:schema ${xs}><xs:simpleType name="N"><xs:restriction base="xs:decimal"><xs:totalDigits value="7"/><xs:fractionDigits value="2"/></xs:restriction></xs:simpleType></xs:schema>`,
  'set/s.wsdl': `<w:definitions xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:n="urn:n" ${xs}><w:types><xs:schema targetNamespace="urn:n"><xs:element name="c" type="n:C"/><xs:simpleType name="C"><xs:restriction base="xs:string"><xs:maxLength value="5"/></xs:restriction></xs:simpleType></xs:schema></w:types></w:definitions>`,
  'order.xml': '<order><n>12.50</n></order>',
  'c.xml': '<c xmlns="urn:n">abc</c>',
};

/** An execution without inputs. */
const target = (tool: string, options: Options): unknown => ({
  app_name: tool,
  target: { generation: options.map(([command, value]) => ({ command, enabled: 'true', value })) },
});

describe('inputs of jobs', { timeout: 180_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let sql: Sql;
  let root: string;
  let outside: string;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'inputs-root-'));
    outside = await mkdtemp(join(tmpdir(), 'inputs-outside-'));
    for (const [name, text] of Object.entries(files)) {
      await mkdir(join(root, name, '..'), { recursive: true });
      await writeFile(join(root, name), text);
    }
    await writeFile(join(outside, 'linked.xsd'), `<xs:schema ${xs}><xs:element name="secret"/></xs:schema>`);
    await symlink(join(outside, 'linked.xsd'), join(root, 'set/linked.xsd'));
    const bytes = Buffer.from(
      zipped([1, 2, 3].map((n) => ({ name: `${n}.xml`, bytes: utf8.encode(`<rec><v>${n}</v></rec>`) }))),
    );
    // the second member of the directory says that it is encrypted
    const second = bytes.indexOf('PK\u0001\u0002', bytes.indexOf('PK\u0001\u0002') + 4, 'latin1');
    bytes[second + 8]! |= 1;
    await writeFile(join(root, 'bad.zip'), bytes);
    home = await trial.home({ 'cmd.enabled': 'true', 'svc.files.roots': root });
    service = await trial.service(home);
    sql = await trial.metadb(home);
  });
  afterAll(async () => {
    for (const folder of [root, outside]) await rm(folder, { recursive: true, force: true });
  });

  const load = async (name: string, options: Options): Promise<JobAnswer & { readonly log: string }> => {
    const { jobs } = await service.client.run([execution('xml2er', join(root, name), options)]);
    const done = await service.client.ended(jobs[0]!);
    return { ...done, log: await service.client.log(jobs[0]!) };
  };

  it('are all files that begin as XML does; the record counts what was passed over, the log names it', async () => {
    const done = await load('names', [['-o', 'metadb:names']]);
    expect([done.status, done.failure]).toEqual(['C', null]);
    const rows = await sql<{ v: string }[]>`SELECT v::text AS v FROM names.rec ORDER BY v`;
    expect(rows.map(({ v }) => v)).toEqual(['1', '2', '3']);
    const [record] = await sql<{ summary: string }[]>`
      SELECT summary FROM svc.job WHERE id_job = ${done.id_job}`;
    expect(JSON.parse(record!.summary)).toMatchObject({ inputs: { read: 3, skipped: 2 } });
    expect(done.log).toContain('readme.txt: does not begin as XML does');
    expect(done.log).toContain('schema.other: is an XML Schema');
  });

  it('have the DTD that lies beside them, and none from elsewhere', async () => {
    const done = await load('dtd', [['-o', 'metadb:dtd']]);
    expect([done.status, done.failure]).toEqual(['C', null]);
    const rows = await sql<{ p: string; p_lang: string }[]>`SELECT p, p_lang FROM dtd.d`;
    expect([...rows]).toEqual([{ p: 'anarĥi', p_lang: 'eo' }]);
    const refused = await load('out/a.xml', [['-o', 'metadb:never']]);
    expect(refused).toMatchObject({
      status: 'F',
      failure: expect.stringContaining('points outside the folder') as string,
    });
    expect(refused.log).not.toContain('secret"');
  });

  it('have XSD sets whose main file is named, within the roots', async () => {
    await rm(join(root, 'set/linked.xsd'));
    await writeFile(join(root, 'set/linked.xsd'), `<xs:schema ${xs}/>`);
    const done = await load('order.xml', [
      ['--xsd', join(root, 'set/main.xsd')],
      ['-o', 'metadb:main'],
    ]);
    expect([done.status, done.failure]).toEqual(['C', null]);
    const [column] = await sql<{ numeric_precision: number; numeric_scale: number }[]>`
      SELECT numeric_precision, numeric_scale FROM information_schema.columns
      WHERE table_schema = 'main' AND table_name = 'order' AND column_name = 'n'`;
    expect(column).toEqual({ numeric_precision: 7, numeric_scale: 2 });
    const created = await service.client.post<{ readonly files: readonly { readonly name: string }[] }>(
      '/v2/schema/create',
      { name: 'created', xsd: [join(root, 'set/main.xsd')] },
    );
    expect(created.status).toBe(201);
    expect(created.body.files.map(({ name }) => name).toSorted()).toEqual([
      'linked.xsd',
      'main.xsd',
      'parts/n.xsd',
      'parts/part.xsd',
    ]);
  });

  it('never have a file of an XSD set that a link leads out to', async () => {
    await rm(join(root, 'set/linked.xsd'));
    await symlink(join(outside, 'linked.xsd'), join(root, 'set/linked.xsd'));
    const done = await load('order.xml', [
      ['--xsd', join(root, 'set/main.xsd')],
      ['-o', 'metadb:linked'],
    ]);
    expect(done.log).toContain('The document "linked.xsd" is not in the set');
    const created = await service.client.post<{ readonly files?: readonly { readonly name: string }[] }>(
      '/v2/schema/create',
      { name: 'linked', xsd: [join(root, 'set/main.xsd')] },
    );
    expect((created.body.files ?? []).map(({ name }) => name)).not.toContain('linked.xsd');
  });

  it('have a schema that lies in a WSDL', async () => {
    const done = await load('c.xml', [
      ['--xsd', join(root, 'set/s.wsdl')],
      ['--validate'],
      ['-o', 'metadb:wsdl'],
    ]);
    expect([done.status, done.failure]).toEqual(['C', null]);
    const [column] = await sql<{ length: number }[]>`
      SELECT character_maximum_length AS length FROM information_schema.columns
      WHERE table_schema = 'wsdl' AND table_name = 'c' AND data_type = 'character varying' AND character_maximum_length IS NOT NULL`;
    expect(column).toEqual({ length: 5 });
  });

  it('of an archive are loaded without a bad member, where it is to be skipped', async () => {
    const failed = await load('bad.zip', [['-o', 'metadb:bad']]);
    expect(failed).toMatchObject({
      status: 'F',
      failure: expect.stringContaining('bad.zip/2.xml: is encrypted') as string,
    });
    const done = await load('bad.zip', [
      ['--on-error', 'skip'],
      ['-o', 'metadb:bad'],
    ]);
    expect([done.status, done.failure]).toEqual(['C', null]);
    const rows = await sql<{ v: string }[]>`SELECT v::text AS v FROM bad.rec ORDER BY v`;
    expect(rows.map(({ v }) => v)).toEqual(['1', '3']);
    expect(done.log).toContain('rejected: bad.zip/2.xml: is encrypted');
  });

  it('may be written by an earlier execution of the request', async () => {
    const [file, back, again] = ['round.sqlite', 'back', 'again.sqlite'].map((name) => join(root, name));
    const { jobs } = await service.client.run([
      execution('xml2er', join(root, 'order.xml'), [['-o', `sqlite:${file}`]]),
      target('er2xml', [
        ['-i', `sqlite:${root}/./round.sqlite`],
        ['-o', back!],
      ]),
      execution('xml2er', `${back}/*.xml`, [['-o', `sqlite:${again}`]]),
      target('unload', [
        ['-i', `sqlite:${again}`],
        ['-D', 'order.xml'],
      ]),
    ]);
    for (const id of jobs)
      expect(await service.client.ended(id)).toMatchObject({ status: 'C', failure: null });
    expect(await readdir(back!)).toContain('order.xml');
    expect(await readFile(join(back!, 'order.xml'), 'utf8')).toContain('<n>12.5');
    for (const name of ['rounds.sqlite', 'round.duckdb'])
      await expect(
        service.client.run([
          execution('xml2er', join(root, 'order.xml'), [['-o', `sqlite:${join(root, 'other.sqlite')}`]]),
          target('er2xml', [
            ['-i', `${name.endsWith('sqlite') ? 'sqlite' : 'duckdb'}:${join(root, name)}`],
            ['-o', join(root, 'never')],
          ]),
        ]),
      ).rejects.toThrow('input_not_found');
  });

  it('are no targets that are called as files are', async () => {
    for (const [text, meant] of [
      ['sales.duckdb', 'duckdb:'],
      ['sales.SQLite', 'sqlite:'],
      ['sales.parquet', '-f parquet'],
    ] as const) {
      const run = service.client.run([
        execution('xml2er', join(root, 'order.xml'), [['-o', join(root, text)]]),
      ]);
      await expect(run).rejects.toThrow(meant);
      expect(await readdir(root)).not.toContain(text);
    }
  });
});
