/** `--engine spark`: documents become units, Spark's executors shred them (src/tools/load/spark/load-task.ts), and their rows are published here, once. */
import { rm } from 'node:fs/promises';
import { writeNewFile } from '../../../adapters/file-staging/durable-file.ts';
import { InputError } from '../../../engine/diagnostics.ts';
import { AppError } from '../../../errors.ts';
import { noSpark } from '../../../jobs/submit.ts';
import type { StoredLogicalSchema } from '../../../ports/stores/catalog.ts';
import type { RowSink } from '../../../ports/rows/sink.ts';
import type { UnitToken } from '../../../ports/rows/units.ts';
import type { InputSet } from '../../inputs/list-files.ts';
import type { DocumentHashes } from '../document-hashes.ts';
import { KeyRanges } from '../key-ranges.ts';
import type { DelegatedLoad, LoadOptions } from '../row-loader.ts';
import { loadingJob } from '../order.ts';
import { runUnitsOnSpark, taskCommand } from './application.ts';
import { withWorkFolder } from './work-folder.ts';
import { collectUnits, reportsOf, unsettledOf } from './collect-units.ts';
import { writeUnits, type ChosenDocument, type UnitPlan } from './units.ts';
import { doneFolder, jobFile, readJson, targetFile, type SparkJob } from './work.ts';
import type { ToolSession } from '../../session/tool-session.ts';

export interface SparkLoad {
  readonly inputs: InputSet;
  readonly logical: StoredLogicalSchema;
  readonly sink: RowSink;
  readonly options: LoadOptions;
  /** which of the documents are to be loaded */
  readonly known: Pick<DocumentHashes, 'hashes' | 'modified' | 'leftOut'>;
}

/** AppError `invalid_option`: there is no Spark. */
export function requireSpark({ request, home }: ToolSession): void {
  if (request.engine === 'spark' && home.config.spark.submit === null)
    throw new AppError('invalid_option', noSpark);
}

/** What `Loader.probe` does where a job runs here: for `--on-error skip`, before any document is read for its rows. */
export async function probeOnSpark(session: ToolSession, load: Omit<SparkLoad, 'known'>): Promise<void> {
  const { rejects } = load.options;
  await onSpark(session, load, {
    probe: true,
    chosen: (inputIndex) => (rejects.has(inputIndex) ? null : { sha256: '' }),
    keyRanges: null,
    begin: async () => undefined,
    use: async (work, units) => {
      for await (const report of reportsOf(work, units))
        for (const [inputIndex, diagnostic] of report.rejects)
          await rejects.add(inputIndex, new InputError(diagnostic));
    },
  });
}

export async function loadOnSpark(session: ToolSession, load: SparkLoad): Promise<DelegatedLoad> {
  const { sink, logical, options } = load;
  const tooMany = '--engine spark: there are too many documents to number; take --keys hash';
  const keyRanges =
    session.request.keys === 'hash'
      ? null
      : new KeyRanges(await sink.keyOffsets(), options.rowTag !== null, tooMany);
  let token: UnitToken | null = null;
  return onSpark(session, load, {
    probe: false,
    chosen: (inputIndex) => chosenOf(load, inputIndex),
    keyRanges,
    begin: async (work, units) => {
      token = await tokenFor(session, sink, units);
      if (token !== null) await writeNewFile(targetFile(work), JSON.stringify(token));
    },
    use: async (work, units) => {
      if (token !== null) await settleUnits(session, work, units, sink);
      return collectUnits({ work, units, sink, token, log: session.log }, logical.model);
    },
  });
}

function chosenOf({ known, options }: SparkLoad, inputIndex: number): ChosenDocument | null {
  const sha256 = known.hashes === null ? null : known.hashes[inputIndex]!;
  if (options.rejects.has(inputIndex) || (known.hashes !== null && sha256 === null)) return null;
  const leftOut = known.leftOut?.get(inputIndex);
  const modified = known.modified?.[inputIndex] ?? null;
  return { sha256, modified, ...(leftOut === undefined ? {} : { leftOut }) };
}

/** Units whose rows turned out to need other types than what they have are done again, with these. */
async function settleUnits(session: ToolSession, work: string, units: number, sink: RowSink): Promise<void> {
  for (;;) {
    const unsettled = await unsettledOf(work, units, sink);
    if (unsettled === null) return;
    const numbers = unsettled.units;
    session.log(`${numbers.length} units of work for Spark again: values of others need other types`);
    for (const unit of numbers) await rm(doneFolder(work, unit), { recursive: true });
    await replaceFile(targetFile(work), JSON.stringify(unsettled.token));
    const job = await readJson<SparkJob>(jobFile(work));
    await replaceFile(jobFile(work), JSON.stringify({ ...job, numbers } satisfies SparkJob));
    await runUnitsOnSpark(session, work, numbers.length, () => undefined);
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  await rm(path);
  await writeNewFile(path, text);
}

/** Null: executors leave rows in the work folder, and they are written to the sink here. */
async function tokenFor(session: ToolSession, sink: RowSink, units: number): Promise<UnitToken | null> {
  if (sink.units === null) return null;
  const begun = await sink.units.begin(units);
  if (typeof begun !== 'string') return begun;
  session.log(`rows are copied into the target by this machine, not by executors: ${begun}`);
  return null;
}

interface Pass<Answer> extends Pick<UnitPlan, 'chosen' | 'keyRanges'> {
  /** only what is wrong with documents is looked for */
  readonly probe: boolean;
  /** called before the first of so many units, where there is one */
  readonly begin: (work: string, units: number) => Promise<void>;
  /** called when all units have been done */
  readonly use: (work: string, units: number) => Promise<Answer>;
}

async function onSpark<Answer>(
  session: ToolSession,
  load: Omit<SparkLoad, 'known'>,
  { probe, chosen, keyRanges, begin, use }: Pass<Answer>,
): Promise<Answer> {
  return withWorkFolder(session, async (work) => {
    const { inputs, options } = load;
    const units = await writeUnits(session, work, { inputs, rowTag: options.rowTag, chosen, keyRanges });
    if (units > 0) {
      await begin(work, units);
      await writeNewFile(jobFile(work), JSON.stringify(await jobOf(session, load, units, probe)));
      session.log(`${units} units of work for Spark${probe ? ': faults of documents' : ''}`);
      await runUnitsOnSpark(session, work, units, (fraction) => session.progress(fraction));
    }
    return use(work, units);
  });
}

async function jobOf(
  session: ToolSession,
  load: Omit<SparkLoad, 'known'>,
  units: number,
  probe: boolean,
): Promise<SparkJob> {
  const { logical, sink, options } = load;
  return {
    ...loadingJob(session, sink, options),
    name: `xml2er -j ${session.idJob}`,
    command: taskCommand(session, 'spark-task'),
    units,
    probe,
    logical,
    keyOffsets: [...(await sink.keyOffsets())],
  };
}
