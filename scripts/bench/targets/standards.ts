/**
 * `npm run bench -- --standards`: the largest documents of real standards, every way there and back, by processor seconds of the tool. Each standard is
 * modelled from its XSD set and pruned by these documents, as its users do; a folder holds copies of them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchDatabase } from '../database.ts';
import { measure, median, type Command, type Measured } from '../measured-process.ts';
import { renderTable, significant } from '../report.ts';

export interface StandardsSeries {
  /** of each standard, all documents together */
  readonly megabytes: number;
  readonly rounds: number;
  /** of the names in `entries`; empty: all */
  readonly only: readonly string[];
}

/** by the XSD file that documents are checked with in the corpus */
const entries: Readonly<Record<string, string>> = {
  netex: 'netex/xsd/NeTEx_publication.xsd',
  siri: 'siri/xsd/siri.xsd',
  fpml: 'fpml/files-fpml/schemas/fpml5-10/confirmation/fpml-main-5-10.xsd',
  camt053: 'iso20022/assets/camt.053.001.02.xsd',
  ubl: 'eforms/schemas/maindoc/UBL-ContractNotice-2.3.xsd',
  odm: 'cdisc-odm/schema/ODM.xsd',
  oval: 'scap/schemas/oval/5.11.3/oval-definitions-schema.xsd',
  xccdf: 'scap/schemas/xccdf/1.2/xccdf_1.2.xsd',
  musicxml: 'musicxml/schema/schema/musicxml.xsd',
  'sumo net': 'sumo/xsd/net_file.xsd',
  'sumo routes': 'sumo/xsd/routes_file.xsd',
  xmark: 'xmark/auction.xsd',
};

const ways = ['tsv', 'jsonl', 'parquet', 'delta', 'postgresql', 'duckdb', 'sqlite'] as const;
const waysBack = ['tsv', 'parquet', 'postgresql', 'duckdb', 'sqlite'] as const;
type Way = (typeof ways)[number];

/** bytes; of smaller ones the file that each is written into costs more than its text */
const smallDocument = 131_072;
/** of a standard's largest documents, so many are copied in turn */
const documentsOfStandard = 4;

interface Standard {
  readonly name: string;
  readonly folder: string;
  readonly bytes: number;
  readonly documents: number;
}

/**
 * Answers lines of markdown; `disagree` is told of results that are not what was written. Documents and what is written of them stay in the directory
 * until its owner removes it: ext4 without a journal passes over each inode that was removed within the last minutes when a file is made, which
 * would count for whichever way comes later.
 */
export async function benchStandards(
  database: BenchDatabase,
  directory: string,
  series: StandardsSeries,
  disagree: (line: string) => void,
): Promise<string[]> {
  const corpus = process.env['CORPUS_DIR'] ?? join(import.meta.dirname, '../../../../shared/corpus');
  if (!existsSync(join(corpus, 'MANIFEST.tsv')))
    throw new Error(`${corpus} has no MANIFEST.tsv; CORPUS_DIR names the folder of the corpus`);
  const rows: string[][] = [];
  const slow: string[] = [];
  for (const [name, xsd] of Object.entries(entries)) {
    if (series.only.length > 0 && !series.only.includes(name)) continue;
    const standard = await copyDocuments(corpus, xsd, { name, directory, megabytes: series.megabytes });
    const one = await benchStandard(database, directory, {
      standard,
      xsd: join(corpus, xsd),
      series,
      disagree,
    });
    rows.push(one.row);
    slow.push(...one.slow);
  }
  const head = [
    `MB per CPU second, of ${series.megabytes} MB`,
    'documents',
    'tables',
    ...ways,
    ...waysBack.map((way) => `${way} back`),
  ];
  return [...renderTable(head, rows), '', ...slow];
}

interface StandardRun {
  readonly standard: Standard;
  readonly xsd: string;
  readonly series: StandardsSeries;
  readonly disagree: (line: string) => void;
}

async function benchStandard(
  database: BenchDatabase,
  directory: string,
  { standard, xsd, series, disagree }: StandardRun,
): Promise<{ row: string[]; slow: string[] }> {
  const { name, folder } = standard;
  const schema = `bench_${name.replaceAll(' ', '_')}`;
  const out = join(directory, 'out');
  const made = await measure(database.compile(xsd));
  const origin = String(made.printed['origin']);
  const first = await measure(
    database.tool(folder, '-x', origin, '--prune', '-o', join(directory, 'model'), '-f', 'tsv'),
  );
  await rm(join(directory, 'model'), { recursive: true, force: true });
  const known = [folder, '-l', String(first.printed['logical']), '-e', 'd'];
  const spent = new Map<string, number[]>();
  const run = async (key: string, command: Command, expected: readonly [what: string, count: unknown]) => {
    console.error(`  ${name}, ${key}`);
    const measured = await measure(command);
    const [what, count] = expected;
    if (measured.printed[what] !== count)
      disagree(`${name}, ${key}: ${String(measured.printed[what])} ${what}, not ${String(count)}`);
    spent.set(key, [...(spent.get(key) ?? []), secondsOf(measured)]);
  };
  for (let round = 0; round < series.rounds; round += 1) {
    await database.dropTarget(schema);
    await rm(out, { recursive: true, force: true });
    await mkdir(out, { recursive: true });
    for (const way of ways)
      await run(way, database.tool(...known, ...targetOf(way, out, schema)), ['rows', first.printed.rows]);
    for (const way of waysBack) {
      const [, target] = targetOf(way, out, schema);
      const documents = join(directory, `written ${name}`, `${way} ${round}`);
      const back = database.writeBack('-i', target!, '-o', documents);
      await run(`${way} back`, back, ['documents', standard.documents]);
    }
  }
  await rm(out, { recursive: true, force: true });
  await database.dropTarget(schema);
  const pace = (key: string): number => standard.bytes / 1e6 / median(spent.get(key)!);
  const keys = [...ways, ...waysBack.map((way) => `${way} back`)];
  const tables = Object.keys((first.printed['tables'] ?? {}) as object).length;
  return {
    row: [name, String(standard.documents), String(tables), ...keys.map((key) => significant(pace(key)))],
    slow: keys
      .filter((key) => pace(key) < pace('tsv') / 2)
      .map((key) => {
        const more = median(spent.get(key)!) - median(spent.get('tsv')!);
        return `- ${name}, ${key}: ${significant(pace(key) / pace('tsv'))} × tsv: ${reasonOf(key, more, standard, tables)}`;
      }),
  };
}

/** of large documents, by what they are read from */
const slowBack: Readonly<Record<string, string>> = {
  'tsv back':
    'files are looked through before for the order of their keys, and trees of elements put in order',
  'parquet back': 'pages are decompressed, and values made text again',
  'postgresql back': 'values come from the server as rows, which are read in TypeScript',
  'duckdb back': 'the database makes texts of a row one text, and other values come as they lie',
  'sqlite back': 'the database makes pages of rows one text',
};

/** What the seconds that a way takes more than TSV go with. */
function reasonOf(key: string, more: number, { bytes, documents }: Standard, tables: number): string {
  const each = (count: number): string => `${significant((more * 1000) / count)} ms more for each`;
  if (key.endsWith(' back'))
    return bytes / documents < smallDocument
      ? `${each(documents)} document, which is a file that is brought to the disk`
      : slowBack[key]!;
  if (key === 'delta') return `${each(tables)} table, which has a log of versions`;
  if (key === 'duckdb') return `${each(tables)} table, which DuckDB reads from CSV`;
  return `${significant(more)} s more, in which the database puts rows into its file`;
}

function secondsOf({ processCpuSeconds, wallSeconds }: Measured): number {
  return processCpuSeconds ?? wallSeconds;
}

function targetOf(way: Way, out: string, schema: string): string[] {
  if (way === 'postgresql') return ['-o', `metadb:${schema}`];
  if (way === 'duckdb' || way === 'sqlite') return ['-o', `${way}:${join(out, `rows.${way}`)}`];
  return ['-o', join(out, way), '-f', way];
}

/** As many copies as make `megabytes`; a comment at the end tells them apart. */
async function copyDocuments(
  corpus: string,
  xsd: string,
  { name, directory, megabytes }: { name: string; directory: string; megabytes: number },
): Promise<Standard> {
  const lines = readFileSync(join(corpus, 'MANIFEST.tsv'), 'utf8').trimEnd().split('\n').slice(1);
  const largest = lines
    .map((line) => line.split('\t'))
    .filter(([, entry, , , valid]) => entry === xsd && valid === 'Y')
    .toSorted((a, b) => Number(b[3]) - Number(a[3]))
    .slice(0, documentsOfStandard)
    .map(([, , path]) => readFileSync(join(corpus, path!)));
  const folder = join(directory, `documents ${name}`);
  await mkdir(folder, { recursive: true });
  let [bytes, documents] = [0, 0];
  for (; bytes < megabytes * 1e6; documents += 1) {
    const copy = Buffer.concat([
      largest[documents % largest.length]!,
      Buffer.from(`\n<!-- ${documents} -->\n`),
    ]);
    await writeFile(join(folder, `${documents}.xml`), copy);
    bytes += copy.length;
  }
  return { name, folder, bytes, documents };
}
