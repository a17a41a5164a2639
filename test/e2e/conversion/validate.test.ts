/** `--validate` by REST and by hand: what is not valid is a reject, with line, column and reason; the rest is loaded. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { corpusDirectory, needs } from '../../support/needs.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { zipped } from '../../support/service/archives.ts';
import { execution } from '../../support/service/client.ts';
import { filesBelow, freightDocuments, freightXsdFolder } from '../../support/service/fixtures.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const utf8 = new TextEncoder();
const corpus = (path: string): string => join(corpusDirectory, path);
const [good] = freightDocuments;

/** Not valid, yet loaded without `--validate`: the second package of the second line weighs nothing that is a number. */
const bad = freightDocuments[1]!.text.replace('>8</f:weight>', '>eight</f:weight>');
const badPlace = {
  line: bad.split('\n').findIndex((line) => line.includes('>eight<')) + 1,
  column:
    bad
      .split('\n')
      .find((line) => line.includes('>eight<'))!
      .indexOf('<f:weight') + 1,
};

describe('--validate', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let sql: Sql;
  let folder: string;
  let idSch: number;

  beforeAll(async () => {
    home = await trial.home();
    service = await trial.service(home);
    sql = await trial.metadb(home);
    folder = await trial.folder('validate-test-');
    await writeFile(join(folder, '1-good.xml'), good!.text);
    await writeFile(join(folder, '2-bad.xml'), bad);
    await writeFile(join(folder, '3-broken.xml'), good!.text.slice(0, 300));
    await writeFile(join(folder, '4-good.xml.gz'), gzipSync(freightDocuments[2]!.text));
    const made = await convert(home, 'xsd2er', freightXsdFolder, '--name', 'freight');
    idSch = made.origin!;
  });

  const documentsIn = async (schema: string): Promise<string[]> => {
    const rows = await sql<{ name: string }[]>`select name from ${sql(schema)}._documents order by 1`;
    return rows.map(({ name }) => name);
  };
  const contents = async (): Promise<number> => {
    const [row] = await sql<{ count: number }[]>`select count(*)::int as count from svc.file_content`;
    return row!.count;
  };
  const remove = (id: number | null): Promise<Response> =>
    service.client.fetch(`/v2/schema/${id}`, { method: 'DELETE' });
  const rejectsOf = async (idJob: number): Promise<unknown> => {
    const [row] = await sql<
      { rejects: unknown }[]
    >`select summary::json -> 'details' -> 'rejects' as rejects from svc.job where id_job = ${idJob}`;
    return row?.rejects;
  };

  it('with skip loads what is valid and lists the rest with line, column and reason', async () => {
    const argv = [folder, '-x', String(idSch), '-o', 'metadb:v_skip', '--validate', '--on-error', 'skip'];
    const { code, stdout, summary } = await runTool(home, 'xml2er', [...argv, '--json']);
    expect({ code, documents: summary?.documents, rejected: summary?.rejected }).toEqual({
      code: 0,
      documents: 2,
      rejected: 2,
    });
    expect(await documentsIn('v_skip')).toEqual(['1-good.xml', '4-good.xml']);
    expect(await rejectsOf(summary!.job!)).toEqual([
      {
        code: 'xml_not_valid',
        document: '2-bad.xml',
        ...badPlace,
        message: expect.stringMatching(/^not valid: Element '\{urn:example:freight\}weight': 'eight' is not/),
      },
      {
        code: 'xml_unexpected_end',
        document: '3-broken.xml',
        line: expect.any(Number),
        column: expect.any(Number),
        message: expect.any(String),
      },
    ]);
    expect(stdout).toContain(
      `rejected: 2-bad.xml: line ${badPlace.line}, column ${badPlace.column}: not valid`,
    );
  });

  it('with fail, as it is by default, loads nothing and names the first', async () => {
    const argv = [folder, '-x', String(idSch), '-o', 'metadb:v_fail', '--validate'];
    const { code, stdout } = await runTool(home, 'xml2er', argv);
    expect(code).toBe(1);
    expect(stdout).toContain(`2-bad.xml: line ${badPlace.line}, column ${badPlace.column}: not valid`);
    const [made] = await sql`select to_regclass('v_fail._documents') as found`;
    expect(made?.['found']).toBeNull();
  });

  it('is asked for: without it the deviation is loaded', async () => {
    const file = join(folder, '2-bad.xml');
    const { documents, rejected } = await convert(
      home,
      'xml2er',
      file,
      '-x',
      String(idSch),
      '-o',
      'metadb:v_off',
    );
    expect({ documents, rejected }).toEqual({ documents: 1, rejected: 0 });
  });

  it('keeps what is rejected out of the statistics', async () => {
    const argv = [folder, '-x', String(idSch), '-e', 's', '--validate', '--on-error', 'skip'];
    const { documents, rejected } = await convert(home, 'xml2er', ...argv);
    expect({ documents, rejected }).toEqual({ documents: 2, rejected: 2 });
  });

  it(
    'works by REST on an archive, against a set that was uploaded as an archive',
    needs('whole run'),
    async () => {
      const { client } = service;
      const xsd = await client.upload('xsd', 'freight.zip', zipped(filesBelow(freightXsdFolder)));
      const members = [
        { name: 'in/good.xml', bytes: utf8.encode(good!.text) },
        { name: 'in/bad.xml', bytes: utf8.encode(bad) },
      ];
      const xml = await client.upload('xml', 'documents.zip', zipped(members));
      const options = [['-o', 'metadb:v_rest'], ['--validate'], ['--on-error', 'skip']] as const;
      const { jobs } = await client.run([
        execution('xsd2er', xsd, [['--name', 'freight by REST']]),
        execution('xml2er', xml, options, '$0'),
      ]);
      const ended = await client.ended(jobs[1]!);
      expect(ended).toMatchObject({ status: 'C', msg_proc_qty: 1 });
      expect(await documentsIn('v_rest')).toEqual(['in/good.xml']);
      expect(await rejectsOf(jobs[1]!)).toMatchObject([{ document: 'in/bad.xml', ...badPlace }]);
      expect(await client.log(jobs[1]!)).toMatch(/checking the documents with (?:xmllint|libxml2)/);
    },
  );

  it('works with schemas that are made of uploads at once', needs('whole run'), async () => {
    const { client } = service;
    const path = await client.upload('xsd', 'freight.zip', zipped(filesBelow(freightXsdFolder)));
    const { status, body } = await client.post<{ id_sch: number }>('/v2/schema/create', {
      name: 'freight at once',
      xsd: [path],
    });
    expect(status).toBeLessThan(300);
    const file = join(folder, '2-bad.xml');
    const argv = [file, '-x', String(body.id_sch), '-o', 'metadb:v_once', '--validate'];
    const { code, stdout } = await runTool(home, 'xml2er', argv);
    expect({ code, told: stdout.includes('2-bad.xml: line') }).toEqual({ code: 1, told: true });
  });

  it('says what is missing where there is no XSD set', needs('whole run'), async () => {
    const file = join(folder, '1-good.xml');
    const none = await runTool(home, 'xml2er', [file, '--validate', '-o', 'metadb:v_none']);
    expect(none.code).toBe(1);
    expect(none.stdout).toContain('--validate: no origin is named');
    const inferred = await convert(home, 'xml2er', file, '-o', 'metadb:v_inferred', '--name', 'inferred');
    const argv = [file, '-x', String(inferred.origin), '--validate', '-o', 'metadb:v_inferred'];
    expect((await runTool(home, 'xml2er', argv)).stdout).toContain('was made from documents alone');
  });

  it('shares the files of versions, and removes them with the last', needs('whole run'), async () => {
    const before = await contents();
    const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="alone" type="xs:int"/></xs:schema>`;
    const file = join(folder, 'alone.xsd');
    await writeFile(file, xsd);
    const first = await convert(home, 'xsd2er', file, '--name', 'alone');
    const next = await convert(home, 'xsd2er', file, '--name', 'alone', '--parent', String(first.origin));
    expect(await contents()).toBe(before + 1);
    expect((await remove(first.origin)).ok).toBe(true);
    expect(await contents()).toBe(before + 1);
    expect((await remove(next.origin)).ok).toBe(true);
    expect(await contents()).toBe(before);
  });

  it(
    'agrees with an independent validator on documents of the corpus',
    needs(['corpus', 'whole run']),
    async () => {
      const { origin } = await convert(home, 'xsd2er', corpus('musicxml/schema/schema/musicxml.xsd'));
      const argv = [
        '-x',
        String(origin),
        '-o',
        'metadb:v_music',
        '--validate',
        '--on-error',
        'skip',
        '--json',
      ];
      const documents = ['testIncorrectMidiProgram.xml', 'testAccidentals1.xml', 'testBarStyles.xml'];
      const inputs = documents.map((name) => corpus(`musicxml/io/${name}`));
      const { summary } = await runTool(home, 'xml2er', [...inputs, ...argv]);
      expect(summary).toMatchObject({ documents: 2, rejected: 1 });
      expect(await rejectsOf(summary!.job!)).toMatchObject([
        {
          document: 'testIncorrectMidiProgram.xml',
          line: 35,
          message: expect.stringContaining(
            "The value '129' is greater than the maximum value allowed ('128')",
          ),
        },
      ]);
    },
  );
});
