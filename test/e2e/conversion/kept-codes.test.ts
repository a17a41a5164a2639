/** Views and codes of a target (`--views`, `--codes`) as a client of the service and at the command line asks for them. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { execution } from '../../support/service/client.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:simpleType name="Berth"><xs:restriction base="xs:string"><xs:enumeration value="N"><xs:annotation><xs:documentation>North quay</xs:documentation></xs:annotation></xs:enumeration><xs:enumeration value="S"/></xs:restriction></xs:simpleType>
  <xs:element name="port"><xs:complexType><xs:sequence><xs:element name="code" type="xs:string"/><xs:element name="call" maxOccurs="unbounded"><xs:complexType><xs:sequence>
    <xs:element name="ship" type="xs:string"/><xs:element name="berth" type="Berth"/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>`;
const port = (code: string, berth: string): string =>
  `<port><code>${code}</code><call><ship>Fram</ship><berth>${berth}</berth></call><call><ship>Gjøa</ship><berth>S</berth></call></port>`;

describe('a job that keeps views and codes', { timeout: 120_000 }, () => {
  const trial = useTrial();

  it('makes them over REST; a document with another code is loaded, unloaded and read back as ever', async () => {
    const home = await trial.home();
    const files = join(home.directory, 'files', '1');
    await mkdir(files, { recursive: true });
    for (const [name, text] of [
      ['port.xsd', xsd],
      ['oslo.xml', port('OSL', 'N')],
      ['bergen.xml', port('BGO', 'X')],
    ] as const)
      await writeFile(join(files, name), text);
    const service = await trial.service(home);
    const run = async (
      input: string,
      ...options: readonly (readonly [string, string?])[]
    ): Promise<string> => {
      const { jobs } = await service.client.run([
        execution('xml2er', input, [...options, ['-o', 'metadb:ports']]),
      ]);
      expect(await service.client.ended(jobs[0]!)).toMatchObject({ status: 'C' });
      return readFile(join(home.directory, 'logs', `job-${jobs[0]!}.log`), 'utf8');
    };
    expect(await run('oslo.xml', ['--xsd', 'port.xsd'], ['--views'], ['--codes', 'check'])).toContain(
      'target changed: views made: call_view',
    );
    const sql = await trial.metadb(home);
    const rows = () =>
      sql`select v.port_code, v.ship, c.label from ports.call_view v left join ports._codes c on c.type = 'Berth' and c.code = v.berth
          order by v.call_key`.then((found) => found.map((row) => Object.values(row)));
    const oslo = [
      ['OSL', 'Fram', 'North quay'],
      ['OSL', 'Gjøa', null],
    ];
    expect(await rows()).toEqual(oslo);
    const checks = () => sql`select conname from pg_constraint where conname = 'call_berth_codes'`;
    expect(await checks()).toHaveLength(1);
    expect(await run('bergen.xml')).toContain(
      'target changed: call: berth has no CHECK of its codes because some values are not codes, such as "X"',
    );
    expect(await checks()).toHaveLength(0);
    expect(await rows()).toHaveLength(4);
    const out = join(home.directory, 'out');
    await convert(home, 'er2xml', '-i', 'metadb:ports', '-o', out);
    expect((await readdir(out)).toSorted()).toEqual(['bergen.xml', 'oslo.xml']);
    const { code } = await runTool(home, 'unload', ['-i', 'metadb:ports', '-D', 'bergen.xml']);
    expect(code).toBe(0);
    expect(await rows()).toEqual(oslo);
    const refused = await service.client.post('/v2/run/cmd', {
      executions: [
        execution('xml2er', 'oslo.xml', [
          ['-o', 'metadb:ports'],
          ['--codes', 'all'],
        ]),
      ],
    });
    expect(refused).toMatchObject({
      status: 400,
      body: { errors: [{ detail: expect.stringContaining('none, table, check') as string }] },
    });
  });
});
