/** Cuts a job on Spark into units: some files or members of archives, or a range of one large file (`--row-tag`). */
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { RowElementName } from '../../../engine/shred/row-tag/elements.ts';
import { AppError } from '../../../errors.ts';
import { hashDocument } from '../../../inputs/read-document.ts';
import { splitDocument } from '../../../inputs/readable-ranges.ts';
import type { InputSet } from '../../../inputs/list-files.ts';
import type { KeyRange, KeyRanges } from '../document-cut.ts';
import { cutOrSay, type OneDocumentOptions, type SurveyedDocument } from '../one-document.ts';
import {
  unitFile,
  type SparkUnit,
  type UnitMember,
  doneFolder,
  readReport,
  type RowFile,
  type UnitReport,
  copyRowFile,
} from './work.ts';
import type { ToolSession } from '../../session/tool-session.ts';
import type { DocumentRange, InputMember } from '../../../inputs/members.ts';
import { UnitStatistics } from '../../../engine/infer/merge-statistics.ts';
import type { RowSink, UnitReceipt, UnitToken, UnsettledUnits } from '../../../ports/row-sink.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import { openUnit, type UnitPlace } from '../../targets/units.ts';
import { addFindings, type LoadFindings } from '../findings.ts';
import type { DelegatedLoad } from '../row-loader.ts';

/** documents of a unit: they share the cost of starting a process */
const maxUnitDocuments = 200;
/** Below, starting a process takes longer than its work. */
const minUnitBytes = 4 * 2 ** 20;
const unitsPerCore = 4;
/** number of cores if the settings give none */
const usualCores = 16;

/** The facts about large files that are known before they are cut into units, by input index. */
export interface SurveyedFiles {
  /** ranges of files whose tags tell where they can be cut at `--row-tag`, without a SHA-256; an empty list if a file cannot be cut */
  readonly ranges: ReadonlyMap<number, readonly DocumentRange[]>;
  /** facts about files that remain one document */
  readonly documents: ReadonlyMap<number, SurveyedDocument>;
}

export const noneSurveyed: SurveyedFiles = { ranges: new Map(), documents: new Map() };

export interface UnitPlan {
  readonly inputs: InputSet;
  /** null: no file is cut */
  readonly rowTag: RowElementName | null;
  /** files whose ranges are known; others are cut here */
  readonly surveyed: SurveyedFiles;
  /** returns the choice by input index; null: the document is left out */
  readonly chosen: (inputIndex: number) => ChosenDocument | null;
  /** null: keys follow from the documents, or there are no rows to be written */
  readonly keyRanges: KeyRanges | null;
  /** large documents are loaded in ranges if possible; absent: nothing is loaded, or they stay whole */
  readonly oneDocument?: Omit<OneDocumentOptions, 'rangeBytes'>;
}

export interface ChosenDocument {
  /** null: not computed yet; the process that cuts or reads the document computes it; '': not needed */
  readonly sha256: string | null;
  /** modification time of the file before it was hashed, in ms; null: unknown */
  readonly modified?: number | null;
  /** numbers of the documents in it that are not to be loaded */
  readonly leftOut?: readonly number[];
}

/** Bytes of a unit: so many that there are some for each core, and at most `svc.spark.range_bytes`. */
function unitBytes(totalBytes: number, settings: Readonly<Record<string, string>>, maxBytes: number): number {
  const share = totalBytes / (unitsPerCore * (coresOf(settings) ?? usualCores));
  return Math.min(maxBytes, Math.max(minUnitBytes, Math.ceil(share)));
}

/** Returns the size of the ranges that files of a job are cut into. */
export function rangeBytesOf({ home, request }: ToolSession, { totalBytes }: InputSet): number {
  const { spark } = home.config;
  return unitBytes(totalBytes, { ...spark.conf, ...request.sparkConf }, spark.rangeBytes);
}

/** Cores that the settings give an application; null: they do not say. */
function coresOf(settings: Readonly<Record<string, string>>): number | null {
  const count = (name: string): number | null => Number(settings[name] ?? '') || null;
  const local = /^local(?:\[(\d+|\*))?/.exec(settings['spark.master'] ?? '');
  if (local !== null) return local[1] === '*' ? availableParallelism() : Number(local[1] ?? 1);
  const instances = count('spark.executor.instances') ?? count('spark.dynamicAllocation.maxExecutors');
  return (
    count('spark.cores.max') ?? (instances === null ? null : instances * (count('spark.executor.cores') ?? 1))
  );
}

/** Cuts documents, in their order, into units and writes these to the work folder; returns the number of units. */
export async function writeUnits(
  session: ToolSession,
  work: string,
  { inputs, rowTag, surveyed, chosen, keyRanges, oneDocument }: UnitPlan,
): Promise<number> {
  const rangeBytes = rangeBytesOf(session, inputs);
  let members: UnitMember[] = [];
  let bytes = 0;
  /** number of documents that are left out */
  let passed = 0;
  let packed = false;
  let units = 0;
  const add = (member: UnitMember, diskBytes: number): void => {
    members.push(member);
    bytes += diskBytes;
    packed ||= member.packed;
  };
  const nextKeys = (firstIndex: number): KeyRange | null =>
    keyRanges?.next({ firstIndex, bytes: bytes + passed, packed }) ?? null;
  const cut = async (known?: KeyRange): Promise<void> => {
    if (members.length === 0) return;
    const keys = known ?? nextKeys(members[0]!.inputIndex);
    const unit: SparkUnit = { members, keys };
    await writeFile(unitFile(work, units), JSON.stringify(unit), { mode: 0o600 });
    units += 1;
    members = [];
    bytes = passed = 0;
    packed = false;
  };
  let inputIndex = -1;
  for await (const member of inputs.members()) {
    inputIndex += 1;
    const document = chosen(inputIndex);
    if (document === null) {
      passed += member.diskBytes;
      continue;
    }
    const { leftOut } = document;
    const known = surveyed.ranges.get(inputIndex);
    const ranges =
      known !== undefined
        ? ofDocument(known, member, document)
        : rowTag === null
          ? []
          : await rangesOf(session, member, document, { rowTag, rangeBytes });
    const { source, name, path, diskBytes } = member;
    const sha256 = document.sha256 ?? ranges[0]?.sha256 ?? (await hashToTell(member, rowTag));
    const named = { ...source, name, path, inputIndex, sha256 };
    const whole: UnitMember = leftOut === undefined ? named : { ...named, leftOut };
    if (bytes + diskBytes > rangeBytes || ranges.length > 0) await cut();
    for (const range of ranges) {
      add({ ...whole, range }, range.to - range.from);
      await cut();
    }
    if (ranges.length > 0) continue;
    const isLarge = rowTag === null && oneDocument !== undefined && diskBytes > rangeBytes;
    const found = { surveyed: surveyed.documents.get(inputIndex) };
    const one = isLarge ? await cutOrSay(session, member, { ...oneDocument, rangeBytes }, found) : null;
    if (one !== null) {
      ofDocument(one.ranges, member, document);
      let opened: readonly DocumentRange[] = [];
      for (const [at, { from, to }] of one.ranges.entries()) {
        bytes += to - from;
        const keys = nextKeys(inputIndex)!;
        if (at === 0) opened = await one.opened(keys);
        add({ ...whole, range: { ...opened[at]!, sha256 } }, 0);
        await cut(keys);
      }
      continue;
    }
    add(whole, diskBytes);
    if (members.length >= maxUnitDocuments) await cut();
  }
  await cut();
  return units;
}

/** AppError `unprocessable_input`: as of `rangesOf`. */
function ofDocument(
  ranges: readonly DocumentRange[],
  { path }: InputMember,
  { sha256, modified = null }: ChosenDocument,
): readonly DocumentRange[] {
  if (modified !== null && ranges.some((range) => range.modified !== modified))
    throw new AppError('unprocessable_input', `${path}: the file changed while it was read`);
  return ranges.map((range) => ({ ...range, sha256: sha256 ?? '' }));
}

/** Returns no ranges if the document is not cut. AppError `unprocessable_input`: it has changed since it was hashed. */
async function rangesOf(
  { limits, kernels }: ToolSession,
  member: InputMember,
  { sha256, modified = null }: ChosenDocument,
  cutting: { readonly rowTag: RowElementName; readonly rangeBytes: number },
): Promise<readonly DocumentRange[]> {
  // nobody may have changed it since
  const known = sha256 === '' || (sha256 !== null && modified !== null) ? { sha256 } : {};
  const ranges = await splitDocument(member, { ...cutting, limits, kernels, ...known });
  if (modified !== null && ranges !== null && ranges[0]!.modified !== modified)
    throw new AppError('unprocessable_input', `${member.path}: the file changed while it was read`);
  return ranges ?? [];
}

/**
 * Returns the hash of a document that is not cut, or '' if it is not needed yet. A document that can be read only once is hashed here
 * if its parts are named by the hash.
 */
async function hashToTell(member: InputMember, rowTag: RowElementName | null): Promise<string> {
  return rowTag === null || member.parts !== undefined ? '' : hashDocument(member);
}

// Collects the results of units on Spark in the order of the documents: findings and statistics, and rows in the target or for the
// sink.

/** The destination of rows that are not in the target yet: the sink, or one unit of the target each. */
interface UnitsDone {
  readonly work: string;
  readonly units: number;
  readonly sink: RowSink;
  /** null: the sink takes no units */
  readonly token: UnitToken | null;
  readonly log: (line: string) => void;
}

/** Yields reports in the order of the documents. AppError `unprocessable_input`: the reason of the first unit that has failed. */
export async function* reportsOf(work: string, units: number): AsyncIterable<UnitReport> {
  for (let unit = 0; unit < units; unit += 1) {
    yield await readReport<UnitReport>(work, unit);
  }
}

/** Units that are to be written again, as those of other units have decided their types; null: none. */
export async function unsettledOf(
  work: string,
  units: number,
  sink: RowSink,
): Promise<UnsettledUnits | null> {
  const receipts: UnitReceipt[] = [];
  for await (const { rows } of reportsOf(work, units))
    if (rows !== null && 'receipt' in rows) receipts.push(rows.receipt);
  // this machine writes the rows of the others, into a sink that accepts them unchanged
  return receipts.length < units ? null : sink.units!.unsettled(receipts);
}

/** Collects units, after every unit exists and has succeeded. */
export async function collectUnits(done: UnitsDone, model: RelationalModel): Promise<DelegatedLoad> {
  const { work, units, sink, token } = done;
  const written = model.tables.map(() => 0);
  const findings: LoadFindings[] = [];
  const receipts: UnitReceipt[] = [];
  const lastKeys = new Map<string, number>();
  let statistics: UnitStatistics | null = null;
  // make sure that no unit has failed before any row is written
  for await (const report of reportsOf(work, units)) void report;
  const count = (table: number | string, rows: number): void => {
    if (typeof table === 'number') written[table] = (written[table] ?? 0) + rows;
  };
  let unit = -1;
  let copiedHere = 0;
  for await (const report of reportsOf(work, units)) {
    unit += 1;
    if (report.findings !== null) findings.push(report.findings);
    // units ascend, and so do their keys
    for (const [table, key] of report.lastKeys) lastKeys.set(table, key);
    if (report.statistics !== null) {
      statistics ??= new UnitStatistics();
      statistics.add(report.statistics, report.open);
    }
    const rows = report.rows!;
    if ('receipt' in rows) {
      receipts.push(rows.receipt);
    } else if (token === null) {
      await copyRowFile(doneFolder(work, unit), rows.file, sink);
      for (const [table, , rowCount] of rows.file.chunks) count(table, rowCount);
    } else {
      copiedHere += 1;
      if (copiedHere === 1) done.log(`the executor of a unit did not deliver its rows: ${rows.why}`);
      const folder = doneFolder(work, unit);
      receipts.push(await copyUnit(token, { unit, model, folder }, rows.file));
    }
  }
  for (const { rows } of receipts) for (const [table, rowCount] of rows) count(table, rowCount);
  if (copiedHere > 0)
    done.log(`${copiedHere} of ${units} units were copied into the target from this machine`);
  if (token !== null) await sink.units!.adopt(receipts, (one) => doneFolder(work, one));
  return { written, findings: addFindings(findings), statistics: statistics?.result() ?? null, lastKeys };
}

/**
 * Copies the rows of a unit as an executor would have done. If an executor had done so without being able to report it, its rows count.
 */
async function copyUnit(token: UnitToken, place: UnitPlace, file: RowFile): Promise<UnitReceipt> {
  const into = await openUnit(token, place);
  try {
    await copyRowFile(place.folder, file, into);
    const note = await into.commit((receipt) => JSON.stringify({ rows: { receipt } }));
    return (JSON.parse(note) as { readonly rows: { readonly receipt: UnitReceipt } }).rows.receipt;
  } finally {
    await into.close();
  }
}
