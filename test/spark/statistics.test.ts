/** Statistics and inference on a real Spark say what the local engine says: `npm run test:spark` with SPARK_SUBMIT. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../src/postgres/connect.ts';
import { corpusFiles } from '../support/corpus.ts';
import type { ServiceHome } from '../support/service/start.ts';
import { convert, runTool, type Summary } from '../support/service/tools.ts';
import { corpusDirectory, needs } from '../support/needs.ts';
import { sparkSettings } from './settings.ts';
import { useTrial } from '../support/service/trial.ts';

/** sets with recursion, mixed content, many roots and namespaces, and values of every class */
const corpora = ['cldr', 'iso20022', 'sumo', 'xmark', 'musicxml'];

describe('statistics on Spark', { timeout: 120_000, ...needs(['whole run', 'spark']) }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let sql: Sql;
  let work: string;

  beforeAll(async () => {
    work = await trial.folder('spark-statistics-');
    home = await trial.home(sparkSettings(work, { 'svc.spark.range_bytes': '1 MiB' }));
    // the first run makes the database
    await runTool(home, 'xml2er', ['no-such.xml']);
    sql = await trial.metadb(home);
  }, 60_000);

  /** What the catalogue holds of a job: its statistics as text, source model, hash of the relational model, files. */
  async function known({ job, origin, logical, documents, bytes, xpaths }: Summary) {
    const [row] = await sql<{ statistics: string; merged: string; source: Uint8Array; tables: string }[]>`
      select j.statistics, o.statistics as merged, o.packed_model as source, l.model_hash as tables
        from svc.job_statistics j join svc.origin o using (id_sch), svc.logical_schema l
       where j.id_job = ${job} and o.id_sch = ${origin} and l.id_lschma = ${logical}`;
    const files =
      await sql`select position, name, bytes, sha256 from svc.origin_file where id_sch = ${origin}`;
    const { statistics, merged, source, tables } = row!;
    const texts = { statistics, merged, source: Buffer.from(source).toString('base64'), tables };
    return { texts, files: [...files], documents, bytes, xpaths };
  }

  it('are those of the local engine, byte for byte, and so is the model', needs('corpus'), async () => {
    const inputs = corpora.flatMap((name) =>
      corpusFiles(name, '.xml').map((file) => join(corpusDirectory, name, file)),
    );
    const local = await known(await convert(home, 'xml2er', ...inputs, '-e', 's'));
    expect(local.documents).toBe(inputs.length);
    const run = await runTool(home, 'xml2er', [...inputs, '-e', 's', '--engine', 'spark', '--json']);
    expect(run.code, run.stdout.slice(-2000)).toBe(0);
    expect(Number(/(\d+) units of work/.exec(run.stdout)?.[1])).toBeGreaterThan(4);
    const spark = await known(run.summary!);
    // megabytes of text: which of them differ says enough
    const differ = Object.entries(local.texts).filter(
      ([name, text]) => text !== spark.texts[name as keyof typeof spark.texts],
    );
    expect(differ.map(([name]) => name)).toEqual([]);
    expect({ ...spark, texts: null }).toEqual({ ...local, texts: null });
    expect(await readdir(work)).toEqual([]);
  });

  it('leave out what is not well-formed, as a whole, where that is to be skipped', async () => {
    const folder = join(home.directory, 'documents');
    await mkdir(folder);
    for (const [name, text] of Object.entries({
      // cut into ranges, it is broken in its last
      'a.xml': `<r>${'<n>1</n>'.repeat(1_200_000)}<n>2</n></s>`,
      'b.xml': '<r><n>3</n><n>4</n></r>',
      'c.xml': '<r><n>5</n><x',
      'd.xml': '<r><n>6</n><n a="7">8</n></r>',
    }))
      await writeFile(join(folder, name), text);
    const argv = [folder, '-e', 's', '--row-tag', 'n', '--on-error', 'skip'];
    const local = await convert(home, 'xml2er', ...argv);
    expect(local).toMatchObject({ documents: 4, rejected: 2 });
    const run = await runTool(home, 'xml2er', [...argv, '--engine', 'spark', '--json']);
    expect(run.summary, run.stdout.slice(-2000)).toMatchObject({ documents: 4, rejected: 2 });
    expect(run.stdout).toMatch(/rejected: a\.xml: line 1, column \d+: .*\n(?:.*\n)*rejected: c\.xml: line 1/);
    expect(await known(run.summary!)).toEqual(await known(local));
  });
});
