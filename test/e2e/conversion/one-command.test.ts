/** Documents and their XSD set in one command; a target that was loaded before goes on; schemas by their names. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { zipped } from '../../support/service/archives.ts';
import { execution } from '../../support/service/client.ts';
import { startService, type ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const xs = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"';
const catalog = `<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog"><uri name="urn:t" uri="types.xsd"/></catalog>`;
const main = `<xs:schema ${xs}><xs:include schemaLocation="types.xsd"/><xs:element name="voyage" type="Voyage"/></xs:schema>`;
const types = (more = ''): string => `<xs:schema ${xs}><xs:complexType name="Voyage"><xs:sequence>
  <xs:element name="leg" type="xs:string" maxOccurs="unbounded"/>${more}</xs:sequence><xs:attribute name="ship" type="xs:string"/></xs:complexType></xs:schema>`;
const voyage = '<voyage ship="Aurora"><leg>Oslo</leg><leg>Bergen</leg></voyage>';

describe('one command', { timeout: 240_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let files: string;
  let documents: string;
  let set: string;

  async function writeSet(more?: string): Promise<void> {
    await rm(set, { recursive: true, force: true });
    await mkdir(set, { recursive: true });
    await writeFile(join(set, 'main.xsd'), main);
    await writeFile(join(set, 'types.xsd'), types(more));
    await writeFile(join(set, 'catalog.xml'), catalog);
  }

  beforeAll(async () => {
    home = await trial.home();
    files = join(home.directory, 'files', '1');
    [documents, set] = [join(files, 'documents'), join(files, 'set')];
    await mkdir(documents, { recursive: true });
    for (const day of [1, 2]) await writeFile(join(documents, `day-${day}.xml`), voyage);
    await writeSet();
  });

  it('loads by a set, and on the second day by the same origin, wherever the set lies', async () => {
    const first = await convert(home, 'xml2er', documents, '--xsd', set, '-o', 'metadb:days');
    expect(first).toMatchObject({ documents: 2, tables: { leg: 4, voyage: 2 } });
    const members = [
      { name: 'standard/main.xsd', bytes: Buffer.from(main) },
      { name: 'standard/types.xsd', bytes: Buffer.from(types()) },
      { name: 'standard/catalog.xml', bytes: Buffer.from(catalog) },
    ];
    const archive = join(home.directory, 'set.zip');
    await writeFile(archive, zipped(members));
    for (const given of [
      ['--xsd', set],
      ['--xsd', archive],
      // a catalogue of the set is no document either
      [set],
      [archive],
    ]) {
      const again = await convert(home, 'xml2er', documents, ...given, '-o', 'metadb:days');
      expect([given, again]).toMatchObject([
        given,
        { origin: first.origin, logical: first.logical, documents: 2 },
      ]);
    }
  });

  it(
    'makes a changed set the next version, where the target knows the one before',
    needs('whole run'),
    async () => {
      await writeSet();
      const first = await convert(home, 'xml2er', documents, '--xsd', set, '-o', 'metadb:versions');
      await writeSet('<xs:element name="crew" type="xs:int" minOccurs="0"/>');
      const dry = await runTool(home, 'xml2er', [
        documents,
        '--xsd',
        set,
        '-o',
        'metadb:versions',
        '-s',
        '--json',
      ]);
      expect(dry.summary).toMatchObject({ status: 'C', origin: null, logical: null, documents: 2 });
      expect(dry.stdout).toContain(`it would be its next version`);
      const changed = await runTool(home, 'xml2er', [
        documents,
        '--xsd',
        set,
        '-o',
        'metadb:versions',
        '--json',
      ]);
      expect(changed.stdout).toContain(`the XSD set differs from that of origin ${first.origin} (set)`);
      expect(changed.stdout).toContain('target changed: voyage: crew added');
      expect(changed.summary!.origin).toBeGreaterThan(first.origin!);
      const again = await convert(home, 'xml2er', documents, '--xsd', set, '-o', 'metadb:versions');
      expect(again).toMatchObject({ origin: changed.summary!.origin, logical: changed.summary!.logical });
      // and one that the target does not know is a schema of its own
      await writeSet('<xs:element name="cargo" type="xs:int" minOccurs="0"/>');
      const other = await runTool(home, 'xml2er', [
        documents,
        '--xsd',
        set,
        '-o',
        'metadb:elsewhere',
        '--json',
      ]);
      expect(other.stdout).toMatch(
        /the XSD set is origin \d+ \(set-2\); origin \d+ \(set\) was made from other files/,
      );
      const taken = await runTool(home, 'xml2er', [
        documents,
        '--xsd',
        set,
        '-o',
        'metadb:other',
        '--name',
        'set',
      ]);
      expect([taken.code, taken.stdout]).toEqual([
        1,
        expect.stringMatching(/--parent \d+ makes its next version/),
      ]);
    },
  );

  it(
    'goes on with the schema that documents made, unless they start as none of it does',
    needs('whole run'),
    async () => {
      const one = join(home.directory, 'one.xml');
      await writeFile(one, '<log><entry>1</entry><entry>2</entry></log>');
      const target = ['-o', `duckdb:${join(home.directory, 'log.duckdb')}`];
      const first = await convert(home, 'xml2er', one, ...target);
      const second = await runTool(home, 'xml2er', [one, ...target, '--json']);
      expect(second.summary).toMatchObject({ origin: first.origin, logical: first.logical });
      expect(second.stdout).toMatch(
        /^-x auto: origin \d+ \(one\) loaded the target before and is used again/m,
      );
      const named = await convert(home, 'xml2er', one, ...target, '--name', 'apart');
      expect(named.origin).not.toBe(first.origin);
      expect(await convert(home, 'xml2er', one, ...target, '--name', 'apart')).toMatchObject({
        origin: named.origin,
      });
      expect(await convert(home, 'xml2er', one, ...target, '-S', 'o')).not.toMatchObject({
        origin: named.origin,
      });
      await writeFile(one, '<journal/>');
      const other = await runTool(home, 'xml2er', [one, ...target, '--json']);
      expect(other.stdout).toMatch(/none of which has <journal>: a new schema is made from the documents$/m);
      expect(other.summary).toMatchObject({ status: 'C', documents: 1 });
    },
  );

  it('takes names, lists what there is, and says which a name may mean', needs('whole run'), async () => {
    await writeSet();
    const { origin } = await convert(home, 'xsd2er', set, '--name', 'voyages');
    const named = await convert(home, 'xml2er', documents, '-x', 'voyages', '-o', 'metadb:named');
    expect(named.origin).toBe(origin);
    expect(await convert(home, 'xml2er', documents, '-l', 'voyages', '-o', 'metadb:named')).toMatchObject({
      logical: named.logical,
    });
    const back = join(home.directory, 'back');
    for (const which of [['-x', 'voyages'], ['-l', 'voyages'], ['-x', 'auto'], []])
      expect(await convert(home, 'er2xml', ...which, '-i', 'metadb:named', '-o', back)).toMatchObject({
        origin,
      });
    const misspelt = await runTool(home, 'xml2er', [documents, '-x', 'voyagse', '-o', 'metadb:named']);
    expect([misspelt.code, misspelt.stdout]).toEqual([
      1,
      expect.stringMatching(
        /there is no origin called "voyagse"; did you mean voyages\? there are .*\(voyages\)/,
      ),
    ]);
    const unknown = await runTool(home, 'xml2er', [documents, '-x', '9999', '-o', 'metadb:named']);
    expect(unknown.stdout).toMatch(/-x 9999: there is no such origin; there are .*\(voyages\)/);
    const orphan = await runTool(home, 'xsd2er', [set, '--parent', '9999']);
    expect(orphan.stdout).toMatch(/--parent 9999: there is no such origin; there are .*\(voyages\)/);
  });

  it('holds over REST', needs('whole run'), async () => {
    await writeSet();
    const service = await startService(home);
    try {
      const used = new Set<number | null>();
      const options = [
        ['--xsd', 'set'],
        ['-o', 'metadb:rest'],
      ] as const;
      for (const more of [options, options, [['-o', 'metadb:rest']] as const]) {
        const { jobs } = await service.client.run([execution('xml2er', 'documents', more)]);
        const record = await service.client.ended(jobs[0]!);
        expect(record).toMatchObject({ status: 'C', msg_proc_qty: 2 });
        used.add(record.id_sch);
      }
      expect(used.size).toBe(1);
      const wrong = await service.client.post('/v2/run/cmd', {
        executions: [
          execution('xml2er', 'documents', [
            ['--xsd', '../../elsewhere'],
            ['-o', 'metadb:rest'],
          ]),
          execution('xml2er', 'documents', [['-o', 'metadb:rest']], 'nothing-of-that-name'),
        ],
      });
      expect(wrong.status).toBe(400);
      expect(wrong.body).toMatchObject({
        errors: [
          { pointer: '/executions/0/target/generation/0/value' },
          {
            pointer: '/executions/1/source/origin_id/value',
            detail: expect.stringContaining('there is no origin called "nothing-of-that-name"') as string,
          },
        ],
      });
    } finally {
      await service.end('SIGTERM');
    }
  });
});
