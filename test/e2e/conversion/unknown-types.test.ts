/** Types that `xsi:type` names and no schema declares: told with their place, and what may have been meant. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const extension = (name: string, own: string): string =>
  `<xs:complexType name="${name}"><xs:complexContent><xs:extension base="Vehicle"><xs:sequence><xs:element name="${own}" type="xs:int"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>`;
const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:complexType name="Vehicle"><xs:sequence><xs:element name="plate" type="xs:string"/></xs:sequence></xs:complexType>
  ${extension('Truck', 'axles')}${extension('Bus', 'seats')}
  <xs:complexType name="Plain"><xs:complexContent><xs:extension base="Vehicle"/></xs:complexContent></xs:complexType>
  <xs:element name="fleet"><xs:complexType><xs:sequence><xs:element name="vehicle" type="Vehicle" maxOccurs="unbounded"/>
    <xs:element name="note" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
</xs:schema>`;
const vehicle = (type: string, more = ''): string =>
  `\n  <vehicle xsi:type="${type}"><plate>A</plate>${more}</vehicle>`;
const fleet = (...vehicles: string[]): string =>
  `<fleet xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">${vehicles.join('')}<note xmlns:xs="http://www.w3.org/2001/XMLSchema" xsi:type="xs:token">n</note></fleet>`;

const trial = useTrial();

it('are told once for each place, those that are declared are not', async () => {
  const home = await trial.home();
  const folder = join(home.directory, 'fleets');
  await mkdir(folder);
  const declared = ['Vehicle', 'Plain', 'Truck', 'Bus'].map((type) =>
    vehicle(type, { Truck: '<axles>3</axles>', Bus: '<seats>9</seats>' }[type]),
  );
  await writeFile(join(folder, 'fleet.xsd'), xsd);
  await writeFile(
    join(folder, 'a.xml'),
    fleet(...declared, vehicle('Truk', '<axles>3</axles>'), vehicle('Truk')),
  );
  await writeFile(join(folder, 'b.xml'), fleet(vehicle('Submarine')));
  const options = ['--xsd', join(folder, 'fleet.xsd'), '-o', 'metadb:fleet'];
  const documents = ['a.xml', 'b.xml'].map((name) => join(folder, name));
  const { stdout, stderr } = await runTool(home, 'xml2er', [...documents, ...options]);
  const lines = `${stdout}\n${stderr}`.split('\n');
  expect(lines.filter((line) => line.includes('unknown type'))).toEqual([
    'unknown type Truk (xsi:type of /fleet/vehicle): 2 times, first in a.xml: line 6, column 22; did you mean Truck?',
    'unknown type Submarine (xsi:type of /fleet/vehicle): 1 times, first in b.xml: line 2, column 22',
  ]);
});
