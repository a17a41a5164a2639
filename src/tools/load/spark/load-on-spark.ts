/**
 * `--engine spark`: documents become units, Spark's executors shred them (src/tools/load/spark/load-task.ts), and their rows are
 * published here, once.
 */
import { rm } from 'node:fs/promises';
import { writeNewFile } from '../../../storage/staging/durable-file.ts';
import { InputError } from '../../../engine/diagnostics.ts';
import { AppError } from '../../../errors.ts';
import { noSpark } from '../../../service/jobs/submit.ts';
import type { StoredLogicalSchema } from '../../../ports/stores/catalog.ts';
import type { RowSink, UnitToken } from '../../../ports/row-sink.ts';
import type { InputSet } from '../../../inputs/list-files.ts';
import type { DocumentHashes } from '../document-hashes.ts';
import { KeyRanges } from '../document-cut.ts';
import { type DelegatedLoad, type Loader, type LoadOptions, loadingJob } from '../row-loader.ts';
import { withSpark, type SparkApplication, type Units } from './orders.ts';
import {
  collectUnits,
  reportsOf,
  unsettledOf,
  writeUnits,
  type ChosenDocument,
  type SurveyedFiles,
  type UnitPlan,
} from './units.ts';
import { hashOnSpark, surveyOnSpark } from './survey-on-spark.ts';
import { doneFolder, targetFile, writeJob, type SparkJob } from './work.ts';
import type { ToolSession } from '../../session/tool-session.ts';

export interface SparkLoad {
  readonly inputs: InputSet;
  readonly logical: StoredLogicalSchema;
  readonly sink: RowSink;
  readonly options: LoadOptions;
}

/** The choice of documents to load. */
type KnownDocuments = Pick<DocumentHashes, 'hashes' | 'modified' | 'leftOut'>;

/** AppError `invalid_option`: there is no Spark. */
export function requireSpark({ request, home }: ToolSession): void {
  if (request.engine === 'spark' && home.config.spark.submit === null)
    throw new AppError('invalid_option', noSpark);
}

/**
 * Documents in which something is wrong are found (`--on-error skip`), then those that are to be loaded, then their rows: all by
 * executors of one application.
 */
export function loadOnSpark(session: ToolSession, load: SparkLoad, loader: Loader): Promise<DelegatedLoad> {
  return withSpark(session, `xml2er -j ${session.idJob}`, async (spark) => {
    const surveyed = session.request.onError === 'skip' ? await probe(session, spark, load) : null;
    await loader.leaveOutLoaded(load.inputs, true, (inputs, rejects) =>
      hashOnSpark(session, spark, { inputs, rejects }, load.options),
    );
    return loadUnits(session, spark, load, { known: loader.known, surveyed });
  });
}

/** Does on Spark what `Loader.probe` does in a local job. Returns what is known of the files after that. */
async function probe(session: ToolSession, spark: SparkApplication, load: SparkLoad): Promise<SurveyedFiles> {
  const { rejects } = load.options;
  return passOver(session, spark, load, {
    probe: true,
    surveyed: null,
    chosen: (inputIndex) => (rejects.has(inputIndex) ? null : { sha256: '' }),
    keyRanges: null,
    begin: async () => undefined,
    use: async (pass, surveyed) => {
      for await (const report of reportsOf(pass.folder, pass.count))
        for (const [inputIndex, diagnostic] of report.rejects)
          await rejects.add(inputIndex, new InputError(diagnostic));
      return surveyed;
    },
  });
}

async function loadUnits(
  session: ToolSession,
  spark: SparkApplication,
  load: SparkLoad,
  { known, surveyed }: { readonly known: KnownDocuments; readonly surveyed: SurveyedFiles | null },
): Promise<DelegatedLoad> {
  const { sink, logical, options } = load;
  const tooMany = '--engine spark: there are too many documents to number; take --keys hash';
  const keyRanges =
    session.request.keys === 'hash'
      ? null
      : new KeyRanges(await sink.keyOffsets(), options.rowTag !== null, tooMany);
  let token: UnitToken | null = null;
  return passOver(session, spark, load, {
    probe: false,
    surveyed,
    chosen: (inputIndex) => chosenOf(known, options, inputIndex),
    keyRanges,
    begin: async ({ folder, count }) => {
      token = await tokenFor(session, sink, count);
      if (token !== null) await writeNewFile(targetFile(folder), JSON.stringify(token));
    },
    use: async (units) => {
      if (token !== null) await settleUnits(session, spark, units, sink);
      await spark.end();
      const { folder: work, count } = units;
      return collectUnits({ work, units: count, sink, token, log: session.log }, logical.model);
    },
  });
}

function chosenOf(known: KnownDocuments, options: LoadOptions, inputIndex: number): ChosenDocument | null {
  const sha256 = known.hashes === null ? null : known.hashes[inputIndex]!;
  if (options.rejects.has(inputIndex) || (known.hashes !== null && sha256 === null)) return null;
  const leftOut = known.leftOut?.get(inputIndex);
  const modified = known.modified?.[inputIndex] ?? null;
  return { sha256, modified, ...(leftOut === undefined ? {} : { leftOut }) };
}

/** Repeats the units whose rows turned out to need other types than they have, with these types. */
async function settleUnits(
  session: ToolSession,
  spark: SparkApplication,
  units: Units,
  sink: RowSink,
): Promise<void> {
  const { folder, count } = units;
  for (;;) {
    const unsettled = await unsettledOf(folder, count, sink);
    if (unsettled === null) return;
    const numbers = unsettled.units;
    session.log(
      `${numbers.length} units of work for Spark again because values of other units need other types`,
    );
    for (const unit of numbers) await rm(doneFolder(folder, unit), { recursive: true });
    await replaceFile(targetFile(folder), JSON.stringify(unsettled.token));
    await spark.run({ ...units, numbers }, () => undefined);
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  await rm(path);
  await writeNewFile(path, text);
}

/** Returns null if executors leave rows in the work folder, and they are written to the sink here. */
async function tokenFor(session: ToolSession, sink: RowSink, units: number): Promise<UnitToken | null> {
  if (sink.units === null) return null;
  const begun = await sink.units.begin(units);
  if (typeof begun !== 'string') return begun;
  session.log(`this machine, not the executors, copies rows into the target: ${begun}`);
  return null;
}

interface Pass<Answer> extends Pick<UnitPlan, 'chosen' | 'keyRanges'> {
  /** null: the files have not been surveyed */
  readonly surveyed: SurveyedFiles | null;
  /** only faults of documents are searched */
  readonly probe: boolean;
  /** called before the first unit, if there is one */
  readonly begin: (units: Units) => Promise<void>;
  /** called when all units have been done */
  readonly use: (units: Units, surveyed: SurveyedFiles) => Promise<Answer>;
}

async function passOver<Answer>(
  session: ToolSession,
  spark: SparkApplication,
  load: SparkLoad,
  { probe, surveyed: before, chosen, keyRanges, begin, use }: Pass<Answer>,
): Promise<Answer> {
  const { inputs, options } = load;
  const isChosen = (inputIndex: number) => chosen(inputIndex) !== null;
  const { rowTag, withStatistics } = options;
  const oneDocument = probe
    ? {}
    : { oneDocument: { session, logical: load.logical, sink: load.sink, withStatistics } };
  const surveyed =
    before ?? (await surveyOnSpark(session, spark, inputs, { reading: options, isChosen, ...oneDocument }));
  const folder = await spark.folderFor(probe ? 'probe' : 'load');
  const plan = { inputs, rowTag, surveyed, chosen, keyRanges, ...oneDocument };
  const count = await writeUnits(session, folder, plan);
  const units: Units = { folder, count, module: 'load' };
  if (count > 0) {
    await begin(units);
    await writeJob(session, folder, await jobOf(session, load, probe));
    session.log(`${count} units of work for Spark${probe ? ': faults of documents' : ''}`);
    await spark.run(units, (fraction) => session.progress(fraction));
  }
  return use(units, surveyed);
}

async function jobOf(session: ToolSession, load: SparkLoad, probe: boolean): Promise<SparkJob> {
  const { logical, sink, options } = load;
  return {
    ...loadingJob(session, sink, options),
    probe,
    logical,
    keyOffsets: [...(await sink.keyOffsets())],
  };
}
