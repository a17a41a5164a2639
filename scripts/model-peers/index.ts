/**
 * `npm run model-peers`: tables of ten standards as our tool, xml2db and GDAL's GMLAS driver make them of the same documents, and what thirty
 * questions to them take: joins, and whether the answer is that of the documents (docs/decisions/model/compared.md).
 *
 *   --standard NAME      one standard: camt053, eforms, fpml, netex, siri, odm, musicxml, oval, sumo, remit
 *   --questions FOLDER   sets of one's own: FOLDER/NAME.json has title, xsd and documents (paths below CORPUS_DIR), namespaces, and questions with
 *                        text, rows and columns as test/support/questions/kinds.ts has them; FOLDER/TOOL/NAME.sql one query for each, in their order
 *   --tools a,b          of ours,xml2db,GMLAS (those that are here)
 *   --seconds N          how long a tool may take for a standard (600)
 *   --columns            every table with its rows, its columns and how many rows have a value there, to write queries by
 *   --markdown           tables for a page
 *
 * The corpus lies beside the project (CORPUS_DIR); the first folder of an XSD's path has its set. xml2db: XML2DB names a Python that has xml2db and psycopg2 (scripts/bench/peers/requirements.txt
 * has the versions); GMLAS: `ogr2ogr`, Debian's gdal-bin. Exit code 1 when our tables do not answer a question.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres, stopEmbeddedPostgres } from '../../src/process/embedded-postgres/server.ts';
import { connectPostgres } from '../../src/postgres/connect.ts';
import { isHere } from '../../test/support/needs.ts';
import type { Standard } from '../../test/support/questions/kinds.ts';
import { standards } from '../../test/support/questions/standards/index.ts';
import { formatTable } from '../demo/text-table.ts';
import { figuresOf, loadedTables, type LoadedTable } from './figures.ts';
import { ownSets } from './own-sets.ts';
import { ask, type Answered } from './questions.ts';
import { gmlas, ours, xml2db, type Place, type Tool } from './tools.ts';
import { scriptOptions } from '../options.ts';

const options = scriptOptions(import.meta.filename, {
  standard: { type: 'string' },
  questions: { type: 'string' },
  tools: { type: 'string' },
  seconds: { type: 'string', default: '600' },
  columns: { type: 'boolean', default: false },
  markdown: { type: 'boolean', default: false },
});

const here = [ours, ...(isHere('xml2db') ? [xml2db] : []), ...(isHere('ogr2ogr') ? [gmlas] : [])];
const tools = here.filter(({ name }) => (options.tools ?? name).split(',').includes(name));
const own = options.questions;
const sets: readonly Standard[] = own === undefined ? standards : ownSets(own);
const chosen = sets.filter(({ name }) => name === (options.standard ?? name));
const models: Record<string, unknown>[] = [];
const questions: Record<string, unknown>[] = [];
const totals = new Map<Tool, { joins: number; right: number; asked: number }>();
let isRight = chosen.length > 0 && (own !== undefined || isHere('corpus'));

if (!isRight)
  console.log('there is no such standard, or no corpus: set CORPUS_DIR to where MANIFEST.tsv lies');
else await withServer((place) => compareAll(place));
process.exitCode = isRight ? 0 : 1;

async function withServer(work: (place: Place) => Promise<void>): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'model-peers-'));
  const server = await startEmbeddedPostgres({ directory: home });
  const sql = connectPostgres(server.url, { applicationName: 'model-peers', max: 1 });
  try {
    await work({ url: server.url, sql, directory: home });
  } finally {
    await sql.end({ timeout: 5 });
    await server.stop();
    await stopEmbeddedPostgres(home).catch(() => undefined);
    await rm(home, { recursive: true, force: true });
  }
}

async function compareAll(place: Place): Promise<void> {
  for (const standard of chosen) {
    const answers = new Map<Tool, readonly (Answered | null)[]>();
    for (const tool of tools) answers.set(tool, await compare(place, tool, standard));
    for (const [at, { text }] of standard.questions.entries())
      questions.push({
        standard: standard.name,
        question: options.markdown ? text : at + 1,
        ...Object.fromEntries([...answers].map(([tool, all]) => [tool.name, told(all[at] ?? null)])),
      });
  }
  print('tables', models);
  print('questions: joins, and whether the answer is right', questions);
  for (const [{ name }, { joins, right, asked }] of totals)
    console.log(
      `${name}: ${right} of ${questions.length} answers are right; ${joins} joins in ${asked} queries`,
    );
}

async function compare(place: Place, tool: Tool, standard: Standard): Promise<readonly (Answered | null)[]> {
  console.error(`${standard.name}: ${tool.name}`);
  const failures = await tool.load(place, standard, Number(options.seconds));
  for (const { document, reason } of failures)
    console.log(`${tool.name} does not load ${document ?? standard.title}: ${reason}`);
  const tables = await loadedTables(place.sql, tool.sqlSchema(standard));
  const figures = figuresOf(tables, tool.nameBytes);
  models.push({ standard: standard.name, tool: tool.name, ...figures, refused: failures.length });
  if (options.columns) printColumns(tool, tables);
  if (failures.length > 0 && tool === ours) isRight = false;
  const answered = await ask(tool, place, standard, own === undefined ? tool.queries : join(own, tool.name));
  const total = totals.get(tool) ?? { joins: 0, right: 0, asked: 0 };
  for (const [at, one] of answered.entries()) {
    if (one === null) continue;
    total.asked += 1;
    total.joins += one.joins;
    if (one.isRight) total.right += 1;
    else console.log(`${tool.name}, ${standard.name} ${at + 1}: ${one.fault}`);
    if (!one.isRight && tool === ours) isRight = false;
  }
  totals.set(tool, total);
  return answered;
}

function printColumns(tool: Tool, tables: readonly LoadedTable[]): void {
  for (const { name, rows, columns } of tables) {
    console.log(`${tool.name}: ${name} (${rows})`);
    for (const column of columns) console.log(`  ${column.name} ${column.type} (${column.values})`);
  }
}

function told(answered: Answered | null): string {
  if (answered === null) return '–';
  return `${answered.joins}${answered.isRight ? '' : ' wrong'}`;
}

function print(title: string, rows: readonly Record<string, unknown>[]): void {
  const [first] = rows;
  if (first === undefined) return;
  console.log(`\n${title}`);
  if (!options.markdown) return console.log(formatTable(rows).join('\n'));
  console.log(line(Object.keys(first)));
  console.log(line(Object.keys(first).map(() => '---')));
  for (const row of rows) console.log(line(Object.values(row)));
}

function line(values: readonly unknown[]): string {
  return `| ${values.join(' | ')} |`;
}
