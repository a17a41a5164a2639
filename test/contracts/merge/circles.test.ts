/** `-S m` into tables that refer to each other, where the same job widens columns of them: their keys are checked at the end of a transaction. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="crate" type="Crate"/>
  <xs:complexType name="Crate"><xs:sequence>
    <xs:element name="layer" type="Layer" minOccurs="0" maxOccurs="unbounded"/>
  </xs:sequence><xs:attribute name="grams" type="xs:integer"/></xs:complexType>
  <xs:complexType name="Layer"><xs:sequence>
    <xs:element name="box" type="Crate" minOccurs="0" maxOccurs="unbounded"/>
  </xs:sequence><xs:attribute name="parts" type="xs:integer"/></xs:complexType>
</xs:schema>`;

const crate = (grams: string, parts: string): string =>
  `<crate grams="1"><layer parts="${parts}"><box grams="${grams}"><layer parts="3"/></box></layer></crate>`;

const wide = '99999999999999999999';

const trial = useTrial();
let home: ServiceHome;
let root: string;

beforeAll(async () => {
  home = await trial.home();
  root = await trial.folder('merge-circles-');
  await writeFile(join(root, 'crate.xsd'), xsd);
}, 60_000);

describe('a merge that widens columns of tables in a circle', () => {
  it.each([
    ['PostgreSQL', 'metadb:crates', []],
    ['PostgreSQL without indexes', 'metadb:plain_crates', ['--indexes', 'none']],
    ['SQLite', 'sqlite:$/crates.sqlite', []],
  ] as const)('replaces the document in %s', { timeout: 60_000 }, async (kind, text, more) => {
    const folder = join(root, kind);
    await mkdir(folder);
    const target = text.replace('$', folder);
    const versions = [crate('2', '1'), crate(wide, '1'), crate('2', wide), crate('2', '1')];
    for (const [at, document] of versions.entries()) {
      await writeFile(join(folder, 'a.xml'), document);
      const options = ['--xsd', join(root, 'crate.xsd'), '--name', kind, '-S', 'm', '-o', target, ...more];
      expect(await convert(home, 'xml2er', join(folder, 'a.xml'), ...options)).toMatchObject({
        merged: { inserted: at === 0 ? 1 : 0, replaced: at === 0 ? 0 : 1 },
      });
      const back = join(folder, `back-${at}`);
      const run = await runTool(home, 'er2xml', ['-i', target, '-o', back]);
      expect(run.code, run.stdout + run.stderr).toBe(0);
      expect(compareXml(document, await readFile(join(back, 'a.xml'), 'utf8'))).toEqual([]);
    }
  });
});
