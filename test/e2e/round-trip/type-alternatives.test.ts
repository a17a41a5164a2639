/** Documents whose types are chosen by tests of XSD 1.1: each value lies in its column, and documents come back. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { bytesOf, compiled } from '../../support/models/shredding.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const extension = (name: string, base: string, content: string): string =>
  `<xs:complexType name="${name}"><xs:complexContent><xs:extension base="${base}">${content}</xs:extension></xs:complexContent></xs:complexType>`;
const connections = (type: string): string =>
  `<xs:sequence><xs:element name="connection" type="${type}" maxOccurs="unbounded"/></xs:sequence>`;

/** As OpenDRIVE has its junctions. */
const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="network"><xs:complexType><xs:sequence>
    <xs:element name="junction" type="Junction" maxOccurs="unbounded">
      <xs:alternative test="not(@kind)" type="Common"/>
      <xs:alternative test="@kind='direct'" type="Direct"/>
      <xs:alternative test="@kind='virtual'" type="Virtual"/>
      <xs:alternative type="xs:error"/>
    </xs:element>
  </xs:sequence></xs:complexType></xs:element>
  <xs:complexType name="Junction" abstract="true"><xs:attribute name="id" type="xs:int" use="required"/><xs:attribute name="kind" type="xs:token"/></xs:complexType>
  ${extension('Common', 'Junction', connections('CommonConnection'))}
  ${extension('Direct', 'Junction', connections('DirectConnection'))}
  ${extension('Virtual', 'Junction', '<xs:attribute name="start" type="xs:decimal" use="required"/><xs:assert test="@start ge 0"/>')}
  <xs:complexType name="Connection"><xs:attribute name="road" type="xs:int" use="required"/></xs:complexType>
  ${extension('CommonConnection', 'Connection', '<xs:attribute name="contact" type="xs:token"/>')}
  ${extension('DirectConnection', 'Connection', '<xs:attribute name="linked" type="xs:int"/>')}
</xs:schema>`;
const network = `<network>
  <junction id="1"><connection road="5" contact="start"/><connection road="6"/></junction>
  <junction id="2" kind="direct"><connection road="7" linked="8"/></junction>
  <junction id="3" kind="virtual" start="1.25"/>
</network>`;

const trial = useTrial();

it.each([[], ['--prune']])(
  'are loaded with %j and come back',
  { timeout: 120_000 },
  async (...options: string[]) => {
    const home = await trial.home();
    const at = (name: string): string => join(home.directory, name);
    await mkdir(at('in'));
    await writeFile(at('in/network.xml'), network);
    await writeFile(at('network.xsd'), xsd);
    const target = ['--xsd', at('network.xsd'), '-o', at('out'), '-f', 'tsv'];
    const { unmapped } = await convert(home, 'xml2er', at('in/network.xml'), ...target, ...options);
    expect(unmapped).toEqual({ values: 0, documents: 0 });
    const rowsOf = async (table: string): Promise<string[]> =>
      (await readFile(at(`out/${table}.tsv`), 'utf8'))
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t').slice(4).join(' '));
    expect(await rowsOf('junction')).toEqual([
      'id kind start',
      '1 \\N \\N',
      '2 direct \\N',
      '3 virtual 1.25',
    ]);
    expect(await rowsOf('connection')).toEqual([
      'road contact linked',
      '5 start \\N',
      '6 \\N \\N',
      '7 \\N 8',
    ]);
    await convert(home, 'er2xml', '-i', at('out'), '-o', at('back'));
    const written = await readFile(at('back/network.xml'));
    expect(compareXml(bytesOf(network), written, { source: compiled(xsd) })).toEqual([]);
  },
);

it(
  'are not validated by what knows no XSD 1.1, and none is called invalid',
  { timeout: 120_000 },
  async () => {
    const home = await trial.home();
    const at = (name: string): string => join(home.directory, name);
    await writeFile(at('network.xml'), network);
    await writeFile(at('network.xsd'), xsd);
    const { stdout, stderr } = await runTool(home, 'xml2er', [
      at('network.xml'),
      '--xsd',
      at('network.xsd'),
      '-o',
      at('out'),
      '-f',
      'tsv',
      '--validate',
    ]);
    const told = `${stdout}\n${stderr}`;
    expect(told).toContain('assertions (XSD 1.1) of the XSD set are not checked: 1');
    expect(told).toMatch(/cannot compile the XSD set \(network\.xsd: line \d+: .*omit --validate/);
    expect(told).not.toContain('not valid:');
  },
);
