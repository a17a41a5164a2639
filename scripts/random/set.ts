/** One random XSD set with its documents, and every check of it. */
import type { ColumnRole, MapLevel } from '../../src/engine/model/relational-model.ts';
import { createRandom, type Random } from '../../test/fuzz/random.ts';
import { makeDocument, type ElementNode } from './documents/generator.ts';
import { writeDocument } from './documents/writer.ts';
import { statisticsOf } from '../../test/support/models/shredding.ts';
import {
  compileSchema,
  declaredStatistics,
  drawModel,
  inferSchema,
  loadJob,
  writeBack,
  type LoadedJob,
} from './engine/load.ts';
import { checkRows } from './oracle/check-rows.ts';
import { compareDocument, placesWithoutText, type Comparing } from './oracle/same-document.ts';
import { makeSchema } from './schema/generator.ts';
import { changeSchema } from './schema/next-version.ts';
import type { Name, Schema } from './schema/terms.ts';
import { writeSchema } from './schema/writer.ts';
import { validate } from './xmllint.ts';

export interface RandomSet {
  readonly schema: Schema;
  readonly files: Readonly<Record<string, string>>;
  readonly trees: readonly ElementNode[];
  readonly documents: readonly string[];
  /** values have white space around them that xmllint refuses */
  readonly padded: boolean;
  readonly random: Random;
}

export interface SetOutcome {
  readonly faults: readonly string[];
  /** xmllint takes the set */
  readonly validated: boolean;
}

/** The same seed and number make the same set. */
export function makeSet(seed: number, number: number, count: number): RandomSet {
  const random = createRandom(seed * 1_000_003 + number);
  const schema = makeSchema(random);
  const padded = random.chance(0.15);
  const trees = Array.from({ length: count }, () => makeDocument(schema, random, padded));
  const documents = trees.map((tree) => writeDocument(tree, random));
  return { schema, files: writeSchema(schema), trees, documents, padded, random };
}

const qName = ({ uri, local }: Name) => ({ namespaceUri: uri, localName: local });

export function rootsOf(trees: readonly ElementNode[]) {
  return [...new Map(trees.map(({ name }) => [JSON.stringify(name), qName(name)])).values()];
}

export async function checkSet(set: RandomSet): Promise<SetOutcome> {
  const { random, files, documents, padded } = set;
  const faults: string[] = [];
  const add = (step: string, found: readonly string[]): void =>
    void faults.push(...found.map((text) => `${step}: ${text}`));
  const attempt = async (step: string, run: () => Promise<readonly string[]>): Promise<void> => {
    try {
      add(step, await run());
    } catch (error) {
      add(step, [(error as Error).stack ?? String(error)]);
    }
  };
  const mapLevel = random.pick([3, 3, 3, 2, 1, 0] as const);
  const prune = random.chance(0.35);
  const validation = padded ? null : validate(files, documents);
  const validated = validation !== null && validation.refusal === null;
  if (validated)
    add(
      'the generator',
      validation.complaints.filter((one) => one !== ''),
    );
  const step = `level ${mapLevel}${prune ? ', pruned' : ''}`;
  await attempt(step, async () => {
    const { found, written } = await checkByXsd(set, mapLevel, prune);
    const again = validated && found.length === 0 ? validate(files, written).complaints : [];
    return [...found, ...again.filter((one) => one !== '').map((one) => `valid in, not valid out: ${one}`)];
  });
  await attempt('without an XSD', () => checkInferred(set, random.pick([3, 3, 2, 1, 0] as const)));
  if (random.chance(0.5)) await attempt('the next version', () => checkNextVersion(set, mapLevel));
  return { faults, validated };
}

async function checkByXsd(
  { schema, files, trees, documents }: RandomSet,
  mapLevel: MapLevel,
  prune: boolean,
) {
  const source = compileSchema(files);
  const model = drawModel(source, documents, { mapLevel, roots: rootsOf(trees), prune });
  const collected = prune ? declaredStatistics(source, documents) : undefined;
  const job = await loadJob(source, model, documents, collected);
  const written = await writeBack(job, documents.length);
  return { found: checkJob(job, trees, written, schema), written };
}

async function checkInferred(
  { trees, documents }: RandomSet,
  mapLevel: MapLevel,
): Promise<readonly string[]> {
  const source = inferSchema(documents);
  const model = drawModel(source, documents, { mapLevel, roots: rootsOf(trees), prune: false });
  const job = await loadJob(source, model, documents, statisticsOf(documents));
  return checkJob(job, trees, await writeBack(job, documents.length), null);
}

/** A later version of the XSD keeps every table and column that documents use, and loads old and new documents. */
async function checkNextVersion(set: RandomSet, mapLevel: MapLevel): Promise<readonly string[]> {
  const { schema, files, trees, documents, random } = set;
  const source = compileSchema(files);
  const first = drawModel(source, documents, { mapLevel, roots: rootsOf(trees), prune: false });
  changeSchema(schema, random);
  const newTrees = Array.from({ length: 6 }, () => makeDocument(schema, random, false));
  const newDocuments = newTrees.map((tree) => writeDocument(tree, random));
  const nextSource = compileSchema(writeSchema(schema));
  const all = [...trees, ...newTrees];
  const next = drawModel(nextSource, [], { mapLevel, roots: rootsOf(all), prune: false, previous: first });
  const before = await loadJob(source, first, documents);
  const after = await loadJob(nextSource, next, documents);
  const found = comparePlaces(before, after);
  const job = await loadJob(nextSource, next, [...documents, ...newDocuments]);
  return [...found, ...checkJob(job, all, await writeBack(job, all.length), schema)];
}

function checkJob(
  job: LoadedJob,
  trees: readonly ElementNode[],
  written: readonly string[],
  schema: Schema | null,
): string[] {
  const hasNowhere = job.unmapped.slice(0, 2).map((row) => `unmapped: ${row}`);
  const comparing: Comparing =
    schema === null ? { typed: false, withoutText: placesWithoutText(trees) } : { typed: true };
  const differences = trees.flatMap((tree, at) =>
    compareDocument(tree, written[at]!, comparing)
      .slice(0, 2)
      .map((text) => `document ${at + 1} ${text}`),
  );
  return [...hasNowhere, ...differences.slice(0, 6), ...checkRows(job, trees, schema)];
}

/** The same documents fill the same columns of the same tables as before. */
function comparePlaces(before: LoadedJob, after: LoadedJob): string[] {
  const [old, now] = [filled(before), filled(after)];
  return [...old.keys()]
    .filter((place) => old.get(place) !== now.get(place))
    .map((place) => `${place}: ${old.get(place)} values before, ${now.get(place) ?? 0} in the next version`);
}

/** Roles of columns that have a value in the next version whenever they had one before. */
const comparedRoles: ReadonlySet<ColumnRole> = new Set([
  'row_key',
  'value',
  'element_name',
  'type_name',
  'nil',
  'presence',
]);

/** Values by column, and rows by table. */
function filled({ tables, rows }: LoadedJob): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { name, columns } of tables)
    for (const { name: column, role } of columns.filter((one) => comparedRoles.has(one.role))) {
      const values = (rows[name] ?? []).filter((row) => row[column] !== null).length;
      if (values > 0) counts.set(role === 'row_key' ? name : `${name}.${column}`, values);
    }
  return counts;
}
