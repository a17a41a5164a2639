/**
 * `npm run round-trip`: every document of the corpus to rows and back, and whether it comes back the same (docs/decisions/loading/nothing-lost.md).
 *
 *   --levels 0,1,2,3     map levels (0,1,3)
 *   --corpus NAME        one corpus of the manifest
 *   --inferred           models from the documents alone, also where there is an XSD
 *   --mutate N           N further documents from each, changed at random so that they break their XSD
 *   --postgres [URL]     through a real database: that one, or one that is started for it
 *
 * The corpus lies beside the project (CORPUS_DIR). Exit code 1 when a document does not come back the same.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { joinEmbeddedPostgres, stopEmbeddedPostgres } from '../src/process/embedded-postgres/server.ts';
import { connectPostgres } from '../src/postgres/connect.ts';
import type { MapLevel, RelationalModel } from '../src/engine/model/relational-model.ts';
import { compareXml } from '../test/support/documents/canonical-xml.ts';
import { readCorpus } from '../test/support/corpus.ts';
import { mutated } from '../test/support/documents/mutated.ts';
import { loadIntoPostgres, readFromPostgres } from '../test/support/round-trip/postgres.ts';
import {
  corpusGroups,
  groupModel,
  groupSource,
  type CorpusGroup,
  type GroupSource,
} from '../test/support/round-trip/corpus.ts';
import { roundTrip } from '../test/support/round-trip/in-memory.ts';
import { formatTable } from './demo/text-table.ts';
import { scriptOptions } from './options.ts';

/** Documents to rows and back, in their order. */
type Conveyance = (model: RelationalModel, documents: readonly Uint8Array[]) => Promise<Uint8Array[]>;

interface Outcome {
  readonly corpus: string;
  readonly level: number;
  documents: number;
  equal: number;
  seconds: number;
  /** what is not equal, in general terms -> the first case, and how many */
  readonly reasons: Map<string, { first: string; count: number }>;
}

const options = scriptOptions(
  import.meta.filename,
  {
    levels: { type: 'string', default: '0,1,3' },
    corpus: { type: 'string' },
    inferred: { type: 'boolean', default: false },
    mutate: { type: 'string', default: '0' },
    postgres: { type: 'string' },
  },
  process.argv
    .slice(2)
    .map((argument, at, all) =>
      argument === '--postgres' && !(all[at + 1] ?? '').startsWith('postgres') ? '--postgres=' : argument,
    ),
);

const levels = options.levels.split(',').map((level) => Number(level) as MapLevel);
const groups = corpusGroups()
  .filter((group) => options.corpus === undefined || group.corpus === options.corpus)
  .map((group) => (options.inferred ? { ...group, xsd: null } : group));
const outcomes = new Map<string, Outcome>();

if (options.postgres === undefined) await convertAll((model, documents) => oneByOne(model, documents));
else if (options.postgres === '') await withOwnServer((url) => convertAll(throughPostgres(url)));
else await convertAll(throughPostgres(options.postgres));
report();

async function convertAll(convey: Conveyance): Promise<void> {
  for (const group of groups) {
    const documents = group.documents.flatMap((name) => variants(name));
    let source: GroupSource;
    try {
      source = groupSource(group);
    } catch (error) {
      for (const level of levels)
        addReason(
          outcomeOf(group, level),
          `no model: ${messageOf(error)}`,
          group.xsd ?? '',
          documents.length,
        );
      continue;
    }
    for (const level of levels) await convertGroup(group, source, level, documents, convey);
  }
}

interface NamedDocument {
  readonly name: string;
  readonly bytes: Uint8Array;
}

function variants(name: string): NamedDocument[] {
  const bytes = readCorpus(name);
  const changed = Array.from({ length: Number(options.mutate) }, (_, at) => ({
    name: `${name} (changed ${at + 1})`,
    bytes: new TextEncoder().encode(mutated(bytes, at + 1, 1 + (at % 8))),
  }));
  return [{ name, bytes }, ...changed];
}

async function convertGroup(
  group: CorpusGroup,
  { source, inferred }: GroupSource,
  level: MapLevel,
  documents: readonly NamedDocument[],
  convey: Conveyance,
): Promise<void> {
  const outcome = outcomeOf(group, level);
  const started = performance.now();
  const bytes = documents.map((document) => document.bytes);
  // changed documents keep their root: those of the group's own documents are all there are
  const model = groupModel(source, level, bytes);
  let written: (Uint8Array | Error)[];
  try {
    written = await convey(model, bytes);
  } catch (error) {
    written = bytes.map(() => error as Error);
  }
  for (const [at, { name, bytes: before }] of documents.entries()) {
    const after = written[at]!;
    if (after instanceof Error) {
      addReason(outcome, `fails: ${messageOf(after)}`, name);
      continue;
    }
    const [difference] = compareXml(before, after, { source, asText: inferred, limit: 1 });
    if (difference === undefined) {
      outcome.documents += 1;
      outcome.equal += 1;
    } else {
      const { kind, path, expected, actual } = difference;
      addReason(
        outcome,
        `${kind}: ${JSON.stringify(shape(expected))} becomes ${JSON.stringify(shape(actual))}`,
        `${name} ${path}`,
      );
    }
  }
  outcome.seconds += (performance.now() - started) / 1000;
}

/** In memory, a document that fails stops no other. */
async function oneByOne(model: RelationalModel, documents: readonly Uint8Array[]): Promise<Uint8Array[]> {
  const written: (Uint8Array | Error)[] = [];
  for (const document of documents) {
    written.push(
      await roundTrip(model, [document]).then(
        ([only]) => only!,
        (error: Error) => error,
      ),
    );
  }
  return written as Uint8Array[];
}

function throughPostgres(url: string): Conveyance {
  return async (model, documents) => {
    const sqlSchema = 'round_trip';
    const sql = connectPostgres(url, { applicationName: 'round-trip', max: 1 });
    try {
      // a set of thousands of tables is not dropped in one transaction
      const tables = await sql<
        { name: string }[]
      >`select tablename as name from pg_tables where schemaname = ${sqlSchema}`;
      for (const { name } of tables) await sql`drop table ${sql(sqlSchema)}.${sql(name)} cascade`;
    } finally {
      await sql.end({ timeout: 5 });
    }
    await loadIntoPostgres({ url, sqlSchema }, model, documents);
    return readFromPostgres({ url, sqlSchema }, model);
  };
}

async function withOwnServer(work: (url: string) => Promise<void>): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'round-trip-'));
  const directory = join(home, 'db');
  try {
    await work((await joinEmbeddedPostgres({ directory })).url);
  } finally {
    await stopEmbeddedPostgres(directory);
    await rm(home, { recursive: true, force: true });
  }
}

function outcomeOf({ corpus }: CorpusGroup, level: number): Outcome {
  const key = `${corpus}/${level}`;
  let outcome = outcomes.get(key);
  if (outcome === undefined) {
    outcome = { corpus, level, documents: 0, equal: 0, seconds: 0, reasons: new Map() };
    outcomes.set(key, outcome);
  }
  return outcome;
}

function addReason(outcome: Outcome, reason: string, first: string, count = 1): void {
  outcome.documents += count;
  const known = outcome.reasons.get(reason);
  if (known === undefined) outcome.reasons.set(reason, { first, count });
  else known.count += count;
}

/** Values of the same shape have the same reason: digits and long texts are made alike. */
function shape(text: string): string {
  return text.slice(0, 40).replaceAll(/\d/g, '9');
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]!.slice(0, 200);
}

function report(): void {
  const rows = [...outcomes.values()];
  const table = rows.map(({ corpus, level, documents, equal, seconds }) => ({
    corpus,
    level,
    documents,
    equal,
    'not equal': documents - equal,
    seconds: seconds.toFixed(1),
  }));
  for (const line of formatTable(table)) console.log(line);
  for (const { corpus, level, reasons } of rows) {
    for (const [reason, { first, count }] of reasons)
      console.log(`\n${corpus}, level ${level}: ${count} × ${reason}\n  first: ${first}`);
  }
  const documents = rows.reduce((sum, row) => sum + row.documents, 0);
  const equal = rows.reduce((sum, row) => sum + row.equal, 0);
  console.log(`\n${equal} of ${documents} come back the same`);
  if (rows.length === 0) console.log('there is no such corpus: set CORPUS_DIR to where MANIFEST.tsv lies');
  process.exitCode = equal === documents && rows.length > 0 ? 0 : 1;
}
