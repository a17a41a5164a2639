/** `-S m` where the job changes tables as well: wider values, text where a number was, a column of a later XSD, a required value that is missing. */
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool, type Summary } from '../../support/service/tools.ts';
import { isHere, some } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const xsd = (more = ''): string => `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="trip"><xs:complexType><xs:sequence>
    <xs:element name="leg" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="miles" type="xs:int"/><xs:element name="leaves" type="xs:dateTime"/>
      <xs:element name="port" type="xs:string"/>${more}
    </xs:sequence></xs:complexType></xs:element>
  </xs:sequence><xs:attribute name="id" type="xs:int" use="required"/></xs:complexType></xs:element>
</xs:schema>`;

type Leg = readonly [miles: string, leaves: string, port: string | null, pilot?: string];

const trip = (id: number, ...legs: readonly Leg[]): string =>
  `<trip id="${id}">${legs
    .map(
      ([miles, leaves, port, pilot]) =>
        `<leg><miles>${miles}</miles><leaves>${leaves}</leaves>${port === null ? '' : `<port>${port}</port>`}${pilot === undefined ? '' : `<pilot>${pilot}</pilot>`}</leg>`,
    )
    .join('')}</trip>`;

const early = '2024-01-01T10:00:00';
const first = {
  'a.xml': trip(1, ['12', early, 'Riga'], ['13', early, 'Oslo']),
  'b.xml': trip(2, ['14', early, 'Kiel']),
};
/** a: wider, text for a time; c: without what is required; both with the later column */
const second = {
  'a.xml': trip(1, ['99999999999999999999999', 'soon', 'Riga', 'Ada']),
  'b.xml': first['b.xml'],
  'c.xml': trip(3, ['15', early, null, 'Bo'], ['many', early, 'Gent']),
};

const targets = [
  ['DuckDB', 'duckdb:$/trips.duckdb', []],
  ['SQLite', 'sqlite:$/trips.sqlite', []],
  ['PostgreSQL', 'metadb:trips', []],
  ['Delta', '$/delta', ['-f', 'delta']],
  ['Iceberg', '$/iceberg', ['-f', 'iceberg']],
] as const;

const trial = useTrial();
let home: ServiceHome;
let root: string;

beforeAll(async () => {
  home = await trial.home();
  root = await trial.folder('merge-changes-');
  for (const [name, text] of [
    ['v1', xsd()],
    ['v2', xsd('<xs:element name="pilot" type="xs:string" minOccurs="0"/>')],
  ] as const) {
    await mkdir(join(root, name));
    await writeFile(join(root, name, 'trip.xsd'), text);
  }
}, 60_000);

const options = [['--history'], ['--delete-missing'], []];

describe.each(some(targets, 2).map((target, at) => [...target, at] as const))(
  '%s',
  (kind, text, format, number) => {
    // short: each of the options into one of the targets
    it.each(isHere('whole run') ? options : options.filter((_, at) => at % 2 === number % 2))(
      'with %j',
      { timeout: 120_000 },
      async (...more: string[]) => {
        const folder = join(root, `${kind}${more.join('')}`);
        await mkdir(folder);
        const target = text
          .replace('$', folder)
          .replace(/^metadb:.*/, `$&${more.join('').replaceAll('-', '')}`);
        const load = async (
          documents: Readonly<Record<string, string>>,
          version: 'v1' | 'v2',
          mode = 'm',
        ): Promise<Summary> => {
          const inbox = join(folder, 'inbox');
          await rm(inbox, { recursive: true, force: true });
          await mkdir(inbox);
          for (const [name, document] of Object.entries(documents))
            await writeFile(join(inbox, name), document);
          const options = ['--xsd', join(root, version), '--name', `${kind}${more.join('')}`, ...format];
          const merging = mode === 'm' ? ['--key', '/trip/@id', ...more] : [];
          return convert(home, 'xml2er', inbox, ...options, '-S', mode, '-o', target, ...merging);
        };
        const expectDocuments = async (documents: Readonly<Record<string, string>>): Promise<void> => {
          const back = join(folder, 'back');
          await rm(back, { recursive: true, force: true });
          const run = await runTool(home, 'er2xml', ['-i', target, '-o', back]);
          expect(run.code, run.stdout + run.stderr).toBe(0);
          expect((await readdir(back)).toSorted()).toEqual(Object.keys(documents).toSorted());
          for (const [name, document] of Object.entries(documents))
            expect(compareXml(document, await readFile(join(back, name), 'utf8')), name).toEqual([]);
        };
        expect(await load(first, 'v1')).toMatchObject({ merged: { inserted: 2, replaced: 0 } });
        await expectDocuments(first);
        expect(await load(second, 'v2')).toMatchObject({
          merged: { inserted: 1, replaced: 1, unchanged: 1, deleted: 0 },
        });
        await expectDocuments(second);
        // the first form again, into the columns as they are now
        const deletes = more[0] === '--delete-missing';
        expect(await load(first, 'v2')).toMatchObject({
          merged: { inserted: 0, replaced: 1, unchanged: 1, deleted: deletes ? 1 : 0 },
        });
        await expectDocuments(deletes ? first : { ...second, ...first });
        const other = { 'd.xml': trip(4, ['16', 'late', null, 'Cy']) };
        await load(other, 'v2', 'a');
        await expectDocuments({ ...(deletes ? first : { ...second, ...first }), ...other });
        await load(other, 'v2', 'o');
        await expectDocuments(other);
      },
    );
  },
);
