/**
 * The work folder of an application on Spark, which the driver's machine and all executors see under the same path. It contains
 * `order.json`, and a folder for each pass over the documents with: `job.json` (settings that all units share), `places.json` (access
 * to documents that stay at remote places, if there are any), `units/N.json` (documents of a unit), `target.json` (access for executors
 * to write into the target, if it accepts units), `attempts/…` (private to a task's attempt) and `done/N/` (`report.json`, and the rows
 * if they are not in the target: files in their final form, or `rows`, the chunks one after the other). A rename makes an attempt a
 * unit's result; the first wins, so that tasks that run twice never duplicate a row. The only secret of the target in the folder is the
 * password of a role of this job, which may put rows into its staging. Secrets of places are in `places.json`, which only this user can
 * read, and which is removed with the folder.
 */
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeNewFile } from '../../../storage/staging/durable-file.ts';
import { makeFolder } from '../../../storage/staging/folders.ts';
import type { QName } from '../../../engine/model/source-model.ts';
import type { DocumentStatistics } from '../../../engine/infer/statistics.ts';
import type { StoredLogicalSchema } from '../../../ports/stores/catalog.ts';
import type { UnconvertedValue, SideTable, UnitReceipt, RowSink } from '../../../ports/row-sink.ts';
import { InputError, type Diagnostic } from '../../../engine/diagnostics.ts';
import { AppError } from '../../../errors.ts';
import type { LoadFindings } from '../findings.ts';
import type { KeyRange } from '../document-cut.ts';
import type { PlaceDescription } from '../../../inputs/remote/read-place.ts';
import type { ToolSession } from '../../session/tool-session.ts';
import type { LoadingJob, ReadingJob } from '../row-loader.ts';
import type { DocumentRange, MemberSource } from '../../../inputs/members.ts';
import type { SurveyedLevel } from '../../../inputs/readable-ranges.ts';

/**
 * An order to the driver. `order.json` holds one order at a time, each with its number, from 0, the name of the application, and the
 * mark of its log lines.
 */
export type SparkOrder =
  | {
      readonly folder: string;
      /** command that executors start; the folder is appended as an argument */
      readonly command: readonly string[];
      readonly units: number;
      /** numbers of the units to run; absent: all of them, from 0 */
      readonly numbers?: readonly number[];
    }
  | { readonly end: true };

export interface SparkJob extends LoadingJob {
  /** only faults of documents are searched */
  readonly probe: boolean;
  readonly logical: StoredLogicalSchema;
  readonly keyOffsets: readonly (readonly [string, number])[];
}

/** A document of a unit: its place, and its name in messages and rows. */
export interface UnitMember extends MemberSource {
  readonly name: string;
  readonly path: string;
  /** among the documents of the job, from 0 */
  readonly inputIndex: number;
  /** '': not computed yet, or not needed */
  readonly sha256: string;
  /** the range of the member that the unit reads, when not all of it; such a unit has one member */
  readonly range?: DocumentRange;
  /** numbers of the documents in the member that are not to be loaded */
  readonly leftOut?: readonly number[];
}

/** The documents of a unit, `units/N.json`. */
export interface SparkUnit {
  readonly members: readonly UnitMember[];
  /** null: keys follow from the documents, or no rows are written */
  readonly keys: KeyRange | null;
  /** the piece of its one member, from 0, that is looked at for places to cut it at */
  readonly piece?: number;
  /** level of the rows in it; absent: rows are elements of the job's name */
  readonly level?: SurveyedLevel;
}

/** The reason why no attempt at a unit can succeed: a fault of a document, or another reason. */
export type UnitFailure = Diagnostic | string;

/** Returns the report of a finished unit. Throws an AppError `unprocessable_input` or an InputError if the unit has failed. */
export async function readReport<Report extends object>(work: string, unit: number): Promise<Report> {
  const report = await readJson<Report & { readonly failure?: UnitFailure }>(
    join(doneFolder(work, unit), 'report.json'),
  );
  const { failure } = report;
  if (failure === undefined) return report;
  throw typeof failure === 'string' ? new AppError('unprocessable_input', failure) : new InputError(failure);
}

/** Describes the file of a unit's rows: how to read `rows`, and the findings beside them. */
export interface RowFile {
  readonly unconvertedValues: readonly UnconvertedValue[];
  readonly nullAllowed: readonly (readonly [table: number, column: number])[];
  readonly chunks: readonly (readonly [table: number | SideTable, bytes: number, rowCount: number])[];
}

/** The place of a unit's rows: in the target, or in a file. */
type UnitRows =
  | { readonly receipt: UnitReceipt }
  /** `why`: reason why the rows are not in the target, if it accepts units */
  | { readonly file: RowFile; readonly why?: string };

export interface UnitReport {
  /** why no attempt can succeed: the document is at fault */
  readonly failure?: UnitFailure;
  /** faults that a probe found in documents, by their index in the job */
  readonly rejects: readonly (readonly [inputIndex: number, fault: Diagnostic])[];
  /** null: the unit failed, or was probed only */
  readonly findings: LoadFindings | null;
  readonly statistics: DocumentStatistics | null;
  /** around a range of one document, the elements that are open; null: the unit has whole documents */
  readonly open: readonly QName[] | null;
  /** the highest keys given out, by table name; empty if they follow from the documents */
  readonly lastKeys: readonly (readonly [table: string, key: number])[];
  /** null: as `findings` */
  readonly rows: UnitRows | null;
}

export const jobFile = (work: string): string => join(work, 'job.json');

const placesFile = (work: string): string => join(work, 'places.json');

/** The places where documents of a job stay, and how to reach them; `description.access` is secret. */
interface SparkPlaces {
  readonly places: readonly PlaceDescription[];
  /** hosts that the job may reach by its request; those of the operator it may */
  readonly allowedHosts: readonly string[];
  readonly byHand: boolean;
}

/** Writes the settings that all units of a pass share. */
export async function writeJob(
  { spool, home, byHand }: Pick<ToolSession, 'spool' | 'home' | 'byHand'>,
  work: string,
  job: ReadingJob,
): Promise<void> {
  const places = spool.places.map(({ description }) => description);
  if (places.length > 0) {
    const { allowedHosts } = home.config;
    await writeNewFile(
      placesFile(work),
      JSON.stringify({ places, allowedHosts, byHand } satisfies SparkPlaces),
    );
  }
  await writeNewFile(jobFile(work), JSON.stringify(job));
}

/** Returns null if no document stays at a remote place. */
export async function readPlaces(work: string): Promise<SparkPlaces | null> {
  return readJson<SparkPlaces>(placesFile(work)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}

export const unitFile = (work: string, unit: number): string => join(work, 'units', `${unit}.json`);

/** Path of the settings with which tasks write units into the target; the file is absent if the target takes no units. */
export const targetFile = (work: string): string => join(work, 'target.json');

export async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, 'utf8')) as T;
}

export const doneFolder = (work: string, unit: number): string => join(work, 'done', String(unit));

/** Makes an attempt's folder the unit's result, unless another was first; the folder is gone afterwards. */
export async function commitAttempt(work: string, unit: number, attempt: string): Promise<'first' | 'late'> {
  try {
    await rename(attempt, doneFolder(work, unit));
    const parent = await open(join(work, 'done'), 'r');
    await parent.sync().finally(() => parent.close());
    return 'first';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    await rm(attempt, { recursive: true, force: true });
    return 'late';
  }
}

/** Returns the folder. */
export async function makePassFolder(folder: string): Promise<string> {
  await makeFolder(folder, 0o700);
  for (const name of ['units', 'attempts', 'done']) await makeFolder(join(folder, name), 0o700);
  return folder;
}

// Stores rows of a unit in a file of its folder, if the target does not accept them from executors. A task writes the file, and the tool
// reads it.

/** The destination of a unit's rows. */
export type RowWriter = Pick<RowSink, 'write' | 'writeSide' | 'unconverted' | 'allowNull'>;

interface RowFileWriter extends RowWriter {
  /** All rows are on the disk. */
  finish(): Promise<RowFile>;
  close(): Promise<void>;
}

/** `folder`: of the attempt. */
export async function openRowFile(folder: string): Promise<RowFileWriter> {
  const file = await open(join(folder, 'rows'), 'wx', 0o600);
  const unconvertedValues: RowFile['unconvertedValues'][number][] = [];
  const nullAllowed: RowFile['nullAllowed'][number][] = [];
  const chunks: RowFile['chunks'][number][] = [];
  return {
    write: async (table, rows, rowCount, release) => {
      chunks.push([table, rows.byteLength, rowCount]);
      await file.writeFile(rows);
      release?.(rows);
    },
    writeSide: async (table, rows, rowCount) => {
      chunks.push([table, rows.byteLength, rowCount]);
      await file.writeFile(rows);
    },
    unconverted: async (value) => void unconvertedValues.push(value),
    allowNull: (table, column) => void nullAllowed.push([table, column]),
    async finish() {
      await file.sync();
      return { unconvertedValues, nullAllowed, chunks };
    },
    close: () => file.close(),
  };
}

/** `folder`: of the unit. */
export async function copyRowFile(
  folder: string,
  { unconvertedValues, nullAllowed, chunks }: RowFile,
  to: RowWriter,
): Promise<void> {
  const path = join(folder, 'rows');
  for (const unconverted of unconvertedValues) await to.unconverted(unconverted);
  for (const [table, column] of nullAllowed) to.allowNull(table, column);
  const file = await open(path, 'r');
  try {
    for (const [table, size, rowCount] of chunks) {
      const rows = new Uint8Array(size);
      let read = 0;
      while (read < size) {
        const { bytesRead } = await file.read(rows, read, size - read);
        if (bytesRead === 0) throw new Error(`${path}: staged rows are cut short`);
        read += bytesRead;
      }
      if (typeof table === 'number') await to.write(table, rows, rowCount);
      else await to.writeSide(table, rows, rowCount);
    }
  } finally {
    await file.close();
  }
}
