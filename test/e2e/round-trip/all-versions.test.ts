/** Documents of several versions of a schema in one target: all of them come back at once. */
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { compiled } from '../../support/models/shredding.ts';
import { some } from '../../support/needs.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const schema = (body: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:stay" xmlns="urn:stay" elementFormDefault="qualified">
    <xs:element name="stay"><xs:complexType><xs:sequence>${body}</xs:sequence></xs:complexType></xs:element></xs:schema>`;
const ward = '<xs:element name="ward" type="xs:string" maxOccurs="9"/>';
const nurse = '<xs:element name="nurse" type="xs:string" minOccurs="0" maxOccurs="9"/>';
/** each lacks what the one before has, or means another type by its name */
const versions = [
  schema(`<xs:element name="admitted" type="xs:date"/>${nurse}${ward}`),
  schema(`<xs:element name="admitted" type="xs:dateTime"/>${ward}`),
  schema(
    `<xs:element name="admitted"><xs:complexType><xs:choice><xs:element name="date" type="xs:date"/><xs:element name="hour" type="xs:dateTime"/></xs:choice></xs:complexType></xs:element>${ward}`,
  ),
];
const stay = (content: string): string => `<stay xmlns="urn:stay">${content}</stay>`;
const documents = [
  stay('<admitted>2026-03-01</admitted><nurse>Ada</nurse><nurse>Bo</nurse><ward>A</ward><ward>B</ward>'),
  stay('<admitted>2026-03-01T08:30:00+02:00</admitted><ward>C</ward>'),
  stay('<admitted><hour>2026-03-02T09:00:00Z</hour></admitted><ward>D</ward><ward>E</ward>'),
];
const other =
  '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="bed" type="xs:string"/></xs:schema>';

const trial = useTrial();
let home: ServiceHome;
let folder = '';

const load = (set: string, target: readonly string[]): Promise<unknown> =>
  convert(
    home,
    'xml2er',
    join(folder, set, 'in'),
    '--xsd',
    join(folder, set, 'set.xsd'),
    '--name',
    set === 'bed' ? 'beds' : 'stays',
    '-o',
    ...target,
  );

beforeAll(async () => {
  home = await trial.home();
  folder = await trial.folder('all-versions-');
  for (const [at, xsd] of [...versions, other].entries()) {
    const set = at < versions.length ? `stay-${at}` : 'bed';
    await mkdir(join(folder, set, 'in'), { recursive: true });
    await writeFile(join(folder, set, 'set.xsd'), xsd);
    // all are called the same
    await writeFile(join(folder, set, 'in', 'file.xml'), documents[at] ?? '<bed>7</bed>');
  }
});

/** from the folder of the test: what `-o` takes, with the options that belong to it */
const targets = {
  metadb: () => ['metadb:stays'],
  csv: (below: string) => [join(below, 'csv'), '-f', 'csv'],
  delta: (below: string) => [join(below, 'delta'), '-f', 'delta'],
  duckdb: (below: string) => [`duckdb:${join(below, 'stays.duckdb')}`],
  sqlite: (below: string) => [`sqlite:${join(below, 'stays.sqlite')}`],
  parquet: (below: string) => [join(below, 'parquet'), '-f', 'parquet'],
} satisfies Record<string, (below: string) => string[]>;

describe.each(some(Object.entries(targets), 3))('%s', (kind, targetIn) => {
  let target: string[];
  const back = (name: string): string => join(folder, `${kind}-${name}`);
  const writeBack = (option: '-l' | '-x', to: string): ReturnType<typeof runTool> =>
    runTool(home, 'er2xml', [option, 'stays', '-i', target[0]!, '-o', to, '--json']);

  beforeAll(async () => {
    target = targetIn(folder);
    for (const at of versions.keys()) await load(`stay-${at}`, target);
  });

  it('gives documents of three versions back at once', { timeout: 120_000 }, async () => {
    const summary = await convert(home, 'er2xml', '-i', target[0]!, '-o', back('all'));
    // the newest version is written first, then the others in their order
    const files = new Map([
      ['file.xml', 2],
      ['file-2.xml', 0],
      ['file-3.xml', 1],
    ]);
    for (const [file, at] of files) {
      const text = await readFile(join(back('all'), file), 'utf8');
      expect(compareXml(documents[at]!, text, { source: compiled(versions[at]!) })).toEqual([]);
    }
    expect((await readdir(back('all'))).toSorted()).toEqual([...files.keys()].toSorted());
    // three documents, two nurses and five wards
    expect(summary).toMatchObject({ documents: 3, rejected: 0, rows: 10 });
  });

  it('gives those of one logical schema where it is named, and tells of the others', async () => {
    const { stdout, summary } = await writeBack('-l', back('newest'));
    expect(summary).toMatchObject({ documents: 1, rejected: 0 });
    expect(stdout.match(/does not have all columns: 1; -l \d+ writes them/g)).toHaveLength(2);
    const text = await readFile(join(back('newest'), 'file.xml'), 'utf8');
    expect(compareXml(documents[2]!, text, { source: compiled(versions[2]!) })).toEqual([]);
  });

  it('leaves the documents of another schema, and tells of them', { timeout: 120_000 }, async () => {
    await load('bed', target);
    const { stdout, summary } = await writeBack('-x', back('stays'));
    expect(summary).toMatchObject({ documents: 3, rejected: 0 });
    expect(stdout.match(/does not have all columns: 1; -l \d+ writes them/g)).toHaveLength(1);
  });
});
