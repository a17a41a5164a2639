/** `node src/tools/load/spark/load-task.ts WORK`: writes the rows of the documents of units, or their faults. */
import { access } from 'node:fs/promises';
import type { InputError } from '../../../engine/diagnostics.ts';
import { AppError } from '../../../errors.ts';
import type { UnitReceipt, UnitToken, UnitSink } from '../../../ports/row-sink.ts';
import { openUnit } from '../../targets/units.ts';
import type { InputMember } from '../../../inputs/members.ts';
import { hashDocument } from '../../../inputs/read-document.ts';
import { hashWhole } from '../../../inputs/readable-ranges.ts';
import { checkLastKeys } from '../document-cut.ts';
import { Loader, loaderSession } from '../row-loader.ts';
import { createRejects } from '../findings.ts';
import { membersOf, serveAttempts, type Attempt, type PlacedJob } from './attempt.ts';
import {
  openRowFile,
  type RowWriter,
  readJson,
  targetFile,
  type SparkJob,
  type SparkUnit,
  type UnitFailure,
  type UnitMember,
  type UnitReport,
} from './work.ts';

serveAttempts((job: SparkJob & PlacedJob) => (unit, attempt) => shred(job, unit, attempt), failed);

function failed(failure: UnitFailure): UnitReport {
  return { failure, rejects: [], findings: null, statistics: null, open: null, lastKeys: [], rows: null };
}

async function shred(job: SparkJob & PlacedJob, unit: SparkUnit, attempt: Attempt): Promise<UnitReport> {
  if (job.probe) return probe(job, unit.members);
  const target = await targetOf(job, attempt);
  if (target !== null && 'commit' in target) return intoTarget(job, unit, target);
  const file = await openRowFile(attempt.folder);
  try {
    const found = await load(job, unit, file);
    const why = target === null ? {} : { why: target.why };
    return { rejects: [], ...found, rows: { file: await file.finish(), ...why } };
  } finally {
    await file.close();
  }
}

/** Returns null if the target accepts no units. `why`: this executor cannot reach it, or is refused; the machine that publishes can. */
async function targetOf(
  { logical }: SparkJob,
  { work, unit, folder }: Attempt,
): Promise<UnitSink | { readonly why: string } | null> {
  const path = targetFile(work);
  const takesUnits = await access(path).then(
    () => true,
    () => false,
  );
  if (!takesUnits) return null;
  try {
    return await openUnit(await readJson<UnitToken>(path), { unit, model: logical.model, folder });
  } catch (error) {
    if (error instanceof AppError) return { why: error.message };
    throw error;
  }
}

/** An earlier attempt may have committed and then died before it could report: its report is then the unit's. */
async function intoTarget(job: SparkJob & PlacedJob, unit: SparkUnit, into: UnitSink): Promise<UnitReport> {
  try {
    const found = await load(job, unit, into);
    const report = (receipt: UnitReceipt): UnitReport => ({ rejects: [], ...found, rows: { receipt } });
    return JSON.parse(await into.commit((receipt) => JSON.stringify(report(receipt)))) as UnitReport;
  } finally {
    await into.close();
  }
}

async function load(
  job: SparkJob & PlacedJob,
  { members, keys }: SparkUnit,
  writer: RowWriter,
): Promise<Pick<UnitReport, 'findings' | 'statistics' | 'open' | 'lastKeys'>> {
  const loader = loaderOf(
    job,
    writer,
    createRejects(() => undefined),
  );
  if (keys !== null) loader.numberFrom(keys.key, keys.document);
  let at = -1;
  for await (const member of membersOf(job, members)) {
    at += 1;
    const { sha256, leftOut } = members[at]!;
    const known = sha256 === '' ? await hashToTell(job, member) : sha256;
    loader.expect({
      hashes: known === '' ? null : [known],
      leftOut: new Map(leftOut === undefined ? [] : [[0, leftOut]]),
    });
    const { range } = member;
    await loader.load(range === undefined ? member : { ...member, range: { ...range, sha256: known } });
  }
  await loader.flush();
  if (keys !== null) checkLastKeys(loader.lastKeys(), keys, members[0]!.path, 'load it with --keys hash');
  return {
    findings: loader.findings(),
    statistics: loader.statistics,
    open: members[0]!.range?.within?.open.names ?? null,
    lastKeys: [...loader.lastKeys()],
  };
}

/**
 * Returns the hash of a file that nobody has read before, or '' if its reader takes the whole file or another of its ranges returns the
 * hash.
 */
async function hashToTell({ rowTag }: SparkJob, member: InputMember): Promise<string> {
  const { range } = member;
  if (range?.within !== undefined) return range.within.isLast ? hashWhole(member, range) : '';
  if (rowTag === null) return '';
  if (range === undefined) return hashDocument(member);
  return range.number === 1 ? hashWhole(member, range) : '';
}

async function probe(job: SparkJob & PlacedJob, members: readonly UnitMember[]): Promise<UnitReport> {
  const faults: UnitReport['rejects'][number][] = [];
  const nothing: RowWriter = {
    write: async () => undefined,
    writeSide: async () => undefined,
    unconverted: async () => undefined,
    allowNull: () => undefined,
  };
  const rejects = {
    ...createRejects(() => undefined),
    add: async (index: number, { diagnostic }: InputError) =>
      void faults.push([members[index]!.inputIndex, diagnostic]),
  };
  await loaderOf(job, nothing, rejects).probe({ members: () => membersOf(job, members) });
  return { rejects: faults, findings: null, statistics: null, open: null, lastKeys: [], rows: null };
}

function loaderOf(
  job: SparkJob & PlacedJob,
  writer: RowWriter,
  rejects: ReturnType<typeof createRejects>,
): Loader {
  const session = loaderSession(job, job.probe ? 'skip' : 'fail');
  const { encoding, widensInPlace, scalesDecimals, withStatistics, rowTag } = job;
  const sink = {
    encoding,
    widensInPlace,
    scalesDecimals,
    write: writer.write.bind(writer),
    writeSide: writer.writeSide.bind(writer),
    unconverted: writer.unconverted.bind(writer),
    allowNull: writer.allowNull.bind(writer),
  };
  const options = { withStatistics, rowTag, rejects };
  return new Loader(session, job.logical, sink, options, new Map(job.keyOffsets), 0);
}
