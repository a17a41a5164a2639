/** An XSD among the inputs of xml2er is a schema and no document, unless the schema in use describes XSDs. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { zipped } from '../../support/service/archives.ts';
import { execution } from '../../support/service/client.ts';
import {
  createServiceHome,
  startService,
  type RunningService,
  type ServiceHome,
} from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { needs } from '../../support/needs.ts';

const xs = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"';
const schema = `<xs:schema ${xs}><xs:element name="order" type="xs:string"/></xs:schema>`;
/** An XSD for XSDs, as far as that one goes. */
const forSchemas = `<xs:schema ${xs} targetNamespace="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified">
  <xs:element name="schema"><xs:complexType><xs:sequence><xs:element name="element" maxOccurs="unbounded">
    <xs:complexType><xs:attribute name="name"/><xs:attribute name="type"/></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
</xs:schema>`;

describe('an XSD among documents', { timeout: 180_000 }, () => {
  let home: ServiceHome;
  let folder: string;
  let document: string;
  let xsd: string;
  let origin: string;
  let ofSchemas: string;

  beforeAll(async () => {
    home = await createServiceHome();
    folder = join(home.directory, 'files', '1', 'in');
    await mkdir(folder, { recursive: true });
    document = join(folder, 'order.xml');
    xsd = join(folder, 'Order.XSD');
    await writeFile(document, '<order>12</order>');
    await writeFile(xsd, schema);
    await writeFile(join(folder, 'hidden.dat'), schema);
    await writeFile(join(home.directory, 'packed.xsd.gz'), gzipSync(schema));
    await writeFile(join(home.directory, 'schemas.xsd'), forSchemas);
    const both = { 'order.xml': '<order>12</order>', 'Order.XSD': schema };
    const members = Object.entries(both).map(([name, text]) => ({ name, bytes: Buffer.from(text) }));
    await writeFile(join(home.directory, 'both.zip'), zipped(members));
    origin = String((await convert(home, 'xsd2er', xsd)).origin);
    ofSchemas = String((await convert(home, 'xsd2er', join(home.directory, 'schemas.xsd'))).origin);
  });

  afterAll(() => home?.remove());

  const refused =
    /(?:an XSD is not a document|this is an XSD, not a document): xsd2er \S+ makes an origin from it, and xml2er -x loads documents with the origin; xml2er DOCUMENTS --xsd \S+ does both(?:; --on-error skip .*)?$/m;

  it('is the schema of the documents beside it, and no document: also in folders and archives', async () => {
    const inputs = [[document, xsd], [folder], [join(folder, '*.*ml'), xsd]];
    for (const [at, given] of [...inputs, [join(home.directory, 'both.zip')]].entries()) {
      const { summary, stdout } = await runTool(home, 'xml2er', [
        ...given,
        '-o',
        `metadb:schema_${at}`,
        '--json',
      ]);
      expect([given, summary]).toMatchObject([given, { status: 'C', documents: 1, origin: Number(origin) }]);
      expect(stdout).toMatch(
        /^origin \d+ \(\w+, version 1\) was made from the same XSD set and is used again$/m,
      );
    }
  });

  it(
    'is refused where there is nothing else, or an option names the schema',
    needs('whole run'),
    async () => {
      for (const given of [[xsd], [join(home.directory, 'packed.xsd.gz')], [join(folder, 'Order.*SD')]]) {
        const { code, stdout, summary } = await runTool(home, 'xml2er', [
          ...given,
          '-o',
          'metadb:never',
          '--json',
        ]);
        expect([given, code, stdout]).toEqual([given, 1, expect.stringMatching(refused)]);
        expect(summary).toMatchObject({ status: 'F', documents: 0, rows: 0 });
      }
      for (const given of [
        [document, xsd],
        [xsd, '--unmapped', 'capture'],
      ])
        expect(await runTool(home, 'xml2er', [...given, '-x', origin, '-o', 'metadb:never'])).toMatchObject({
          code: 1,
          stdout: expect.stringMatching(refused) as string,
        });
    },
  );

  it('is refused by its root element, too, and is one reject among others', needs('whole run'), async () => {
    const hidden = join(folder, 'hidden.dat');
    for (const more of [
      [],
      ['-x', origin],
      ['-x', origin, '--unmapped', 'capture'],
      ['-x', origin, '-e', 's'],
    ]) {
      const argv = [
        document,
        hidden,
        ...more,
        ...(more.includes('s') ? [] : ['-o', 'metadb:root']),
        '--json',
      ];
      expect(await runTool(home, 'xml2er', argv)).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(refused) as string,
      });
      const { code, summary } = await runTool(home, 'xml2er', [...argv, '--on-error', 'skip']);
      expect([more, code, summary]).toMatchObject([more, 0, { documents: 1, rejected: 1, unknown_root: 0 }]);
    }
    const piped = await runTool(home, 'xml2er', ['-', '-o', 'metadb:never'], schema);
    expect([piped.code, piped.stdout]).toEqual([1, expect.stringMatching(refused)]);
  });

  it('is passed over beside documents that have an origin', async () => {
    for (const given of [folder, join(home.directory, 'both.zip')]) {
      const { code, stdout, summary } = await runTool(home, 'xml2er', [
        given,
        '-x',
        origin,
        '-o',
        'metadb:beside',
        '--json',
      ]);
      expect([code, summary]).toMatchObject([0, { documents: 1 }]);
      expect(stdout).toMatch(/^ {2}(?:both\.zip\/)?Order\.XSD: is an XSD, not a document$/m);
    }
  });

  it('is a document of an origin that describes XSDs', needs('whole run'), async () => {
    for (const workers of ['1', '2']) {
      const argv = ['-x', ofSchemas, '-o', `metadb:schemas${workers}`, '--workers', workers];
      const loaded = await convert(
        home,
        'xml2er',
        xsd,
        join(home.directory, 'both.zip'),
        ...argv,
        '--on-error',
        'skip',
      );
      // the order in the archive is the one that is none
      expect(loaded).toMatchObject({ documents: 2, unknown_root: 1, rejected: 0 });
      const back = join(home.directory, `back${workers}`);
      await convert(
        home,
        'er2xml',
        '-l',
        String(loaded.logical),
        '-i',
        `metadb:schemas${workers}`,
        '-o',
        back,
      );
      expect(await readFile(join(back, 'Order.XSD'), 'utf8')).toContain('name="order"');
    }
  });

  describe('over REST', () => {
    let service: RunningService;
    beforeAll(async () => {
      service = await startService(home);
    });
    afterAll(() => service?.end('SIGTERM'));

    it('is refused at submission where its name tells', async () => {
      const answer = await submit(service, origin);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({
        errors: [
          { pointer: '/executions/0/source/file/command', detail: expect.stringMatching(refused) as string },
        ],
      });
      expect((await submit(service, ofSchemas)).status).toBe(200);
    });
  });
});

function submit({ client }: RunningService, origin: string) {
  const options = [['-o', 'metadb:rest']] as const;
  return client.post('/v2/run/cmd', { executions: [execution('xml2er', 'in/Order.XSD', options, origin)] });
}
