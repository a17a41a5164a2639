/** XSD sets whose documents refer to each other by URN, as DITA's do, and sets by which nothing can be a document. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createServiceHome,
  startService,
  type RunningService,
  type ServiceHome,
} from '../../support/service/start.ts';
import { zipped } from '../../support/service/archives.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { some } from '../../support/needs.ts';

const xs = (content: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${content}</xs:schema>`;
const catalog = (content: string): string =>
  `<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog" prefer="public">${content}</catalog>`;
const files = {
  'catalog.xml': catalog('<nextCatalog catalog="mod/catalog.xml"/>'),
  'mod/catalog.xml': catalog(
    '<group xml:base="xsd/"><uri name="urn:org:topic:mod.xsd:1.3" uri="mod.xsd"/></group>',
  ),
  'mod/xsd/mod.xsd': xs(
    '<xs:include schemaLocation="urn:org:topic:grp.xsd:1.3"/><xs:element name="topic" type="Topic"/>',
  ),
  'mod/grp.cat': catalog('<uriSuffix uriSuffix=":grp.xsd:1.3" uri="xsd/grp.xsd"/>'),
  'mod/xsd/grp.xsd': xs(
    '<xs:complexType name="Topic"><xs:sequence><xs:element name="title" type="xs:string"/></xs:sequence></xs:complexType>',
  ),
  'shell/topic.xsd': xs('<xs:include schemaLocation="urn:org:topic:mod.xsd:1.3"/>'),
  // no catalog, and no well-formed document
  'samples/topic.xml': '<topic><title>T</title></topic>',
  'samples/broken.xml': '<topic',
};

describe('a set with catalogs', { timeout: 180_000 }, () => {
  let home: ServiceHome;
  let folder: string;
  beforeAll(async () => {
    home = await createServiceHome();
    folder = join(home.directory, 'files', '1', 'set');
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    await mkdir(join(folder, '..', 'bare'));
    await writeFile(join(folder, '..', 'bare', 'topic.xsd'), files['shell/topic.xsd']);
    await writeFile(join(folder, '..', 'bare', 'abstract.xsd'), xs('<xs:element name="a" abstract="true"/>'));
    const members = Object.entries(files).map(([name, text]) => ({ name, bytes: Buffer.from(text) }));
    await writeFile(join(folder, '..', 'set.zip'), zipped(members));
  });
  afterAll(() => home?.remove());

  it.each(some(['set', 'set.zip'], 1))('%s: loads and validates documents', async (name) => {
    const made = await convert(home, 'xsd2er', join(folder, '..', name));
    const target = `metadb:${name.replace('.', '_')}`;
    const document = join(folder, 'samples', 'topic.xml');
    const argv = [document, '-x', String(made.origin), '-o', target, '--validate'];
    expect(await convert(home, 'xml2er', ...argv)).toMatchObject({ documents: 1, unknown_root: 0, rows: 1 });
    const back = join(home.directory, `back ${name}`);
    await convert(home, 'er2xml', '-x', String(made.origin), '-i', target, '-o', back);
    expect(await readFile(join(back, 'topic.xml'), 'utf8')).toContain('<title>T</title>');
  });

  it('a file by itself is followed through the catalogs beside it, by hand', async () => {
    const beside = join(home.directory, 'beside');
    await mkdir(beside);
    await writeFile(join(beside, 'topic.xsd'), files['shell/topic.xsd']);
    await writeFile(
      join(beside, 'map.xml'),
      catalog(
        '<nextCatalog catalog="../files/1/set/mod/catalog.xml"/><nextCatalog catalog="../files/1/set/mod/grp.cat"/>',
      ),
    );
    const { code, stdout } = await runTool(home, 'xsd2er', [join(beside, 'topic.xsd')]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/1 root elements/)]);
  });

  it('a set by which nothing can be a document fails, with what it lacks', async () => {
    const { code, stdout } = await runTool(home, 'xsd2er', [join(folder, '..', 'bare')]);
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(
        /failed: no document can be valid against this set: it declares no global element that is not abstract in abstract\.xsd, topic\.xsd; not found: topic\.xsd: line 1, column \d+: The document "urn:org:topic:mod\.xsd:1\.3" is not in the set; give the files that are missing, too, .* OASIS XML Catalog/,
      ),
    ]);
    const alone = await runTool(home, 'xsd2er', [join(folder, '..', 'bare', 'abstract.xsd')]);
    expect([alone.code, alone.stdout]).toEqual([
      1,
      expect.stringMatching(/not abstract in abstract\.xsd; give the files that declare the elements/),
    ]);
  });

  describe('over REST', () => {
    let service: RunningService;
    beforeAll(async () => {
      service = await startService(home);
    });
    afterAll(() => service?.end('SIGTERM'));
    it('is made of an archive, and refused where nothing can be a document', async () => {
      const made = await service.client.post<{ root_elements: string[] }>('/v2/schema/create', {
        name: 'topics',
        xsd: ['set.zip'],
      });
      expect([made.status, made.body.root_elements]).toEqual([201, ['topic']]);
      const refused = await service.client.post('/v2/schema/create', {
        name: 'bare',
        xsd: ['bare/topic.xsd'],
      });
      expect([refused.status, refused.body.detail]).toEqual([
        422,
        expect.stringMatching(/^no document can be valid against this set/),
      ]);
    });
  });
});
