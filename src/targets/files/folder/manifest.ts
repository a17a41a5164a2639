/** The manifest of a folder of tables, and the computation of the next manifest, with the columns whose types values have changed. */
import { isList, isObject, isOwnName, parsed } from '../json.ts';
import { manifestName } from '../place/journal.ts';
import { codesTable, sideTableNames } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import { PreReleaseFault } from '../../rows/pre-release.ts';
import { isFileLayout, isTableLayout, type FileLayoutName } from '../../../ports/layouts.ts';
import type { TargetLoad, SinkPlan, ExistingZones, ZoneTable, UnitFile } from '../../../ports/row-sink.ts';
import { hasOtherKeys } from '../../../engine/model/keys.ts';
import { peekElement, memberOf, peekMember } from '../../../engine/model/packed/reader.ts';
import { tableIndexes } from '../../../engine/model/packed/models.ts';
import { isOpenToZones } from '../../../engine/model/zones.ts';
import type { ColumnType, RelationalModel, Table } from '../../../engine/model/relational-model.ts';
import { columnId, tableOfId, widenedWords, type WidenedTypes } from '../../rows/unfit-columns.ts';

export const loadScriptName = 'load.sql';
/** written beside CSV or TSV files */
export const dataPackageName = 'datapackage.json';

export interface ManifestFile {
  readonly name: string;
  /** the job that wrote the file */
  readonly job_uuid: string;
  readonly job: number;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  /** names in the order of the header line */
  readonly columns: readonly string[];
  /** DuckDB's types of the columns, for Parquet files */
  readonly types?: readonly string[];
  /** for a workbook: the sheet with the rows; bytes and hash are of the whole workbook */
  readonly sheet?: string;
}

export interface ManifestTable {
  readonly name: string;
  readonly rows: number;
  readonly files: readonly ManifestFile[];
  /** columns with a value that their type cannot hold: load.sql makes them text */
  readonly text_columns: readonly string[];
  /** columns of integers with values outside the range of their type, which load.sql makes decimals; absent if there are none */
  readonly decimal_columns?: readonly string[];
  /** digits before and after the point of decimal columns with values outside their type; absent if there are none */
  readonly decimal_digits?: Readonly<Record<string, readonly [whole: number, fraction: number]>>;
  /** NOT NULL columns that are empty in some row */
  readonly nullable_columns: readonly string[];
  /** the columns of dates with times whose values are instants; absent in tables beside the data */
  readonly zoned_columns?: readonly string[];
}

export type CodeRow = readonly [
  type: string,
  code: string,
  label: string | null,
  documentation: string | null,
];

export interface ManifestJob {
  /** identifies the job; its number is only for people */
  readonly job_uuid: string;
  readonly job: number;
  readonly installation: string;
  readonly id_sch: number | null;
  readonly id_lschma: number | null;
  /** SHA-256 of the logical schema's model, which identifies the logical schema */
  readonly model_sha256: string | null;
  readonly published_at: string;
  readonly documents: number;
  readonly rows: number;
}

export interface TargetManifest {
  readonly version: 1;
  readonly format: FileLayoutName;
  /** a job wrote `datapackage.json`; one of another origin is never replaced */
  readonly data_package?: true;
  /** a load requested views: later loads keep their scripts up to date */
  readonly views?: true;
  /**
   * address of a folder in a bucket, `s3://BUCKET/PREFIX` or `abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PREFIX`, from which the
   * scripts for warehouses load its files
   */
  readonly location?: string;
  /** rows of `_codes`, whose file each load that keeps codes rewrites */
  readonly codes?: readonly CodeRow[];
  /** the ledger: each job once */
  readonly jobs: readonly ManifestJob[];
  /** the highest key ever used, by table */
  readonly keys: Readonly<Record<string, number>>;
  readonly tables: readonly ManifestTable[];
}

/**
 * Parses a manifest. Any user with write access to the folder may have written the text, and it decides which files are read, replaced and
 * removed: none of its names may lead out of the folder.
 */
export function parseManifest(text: string): TargetManifest {
  const manifest = parsed<TargetManifest>(text);
  if (manifest !== null && isManifest(manifest)) return manifest;
  const other: unknown = manifest?.format;
  if (isTableLayout(other))
    throw new AppError(
      'conflict',
      `the folder holds tables of ${other}; use -f ${other}, or another folder.`,
    );
  throw foreignManifest(manifest);
}

export function manifestText(manifest: TargetManifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Members of a job that every version from 1.0 on writes. */
const jobMembers: readonly (keyof ManifestJob)[] = [
  'job_uuid',
  'job',
  'installation',
  'id_sch',
  'id_lschma',
  'model_sha256',
  'published_at',
  'documents',
  'rows',
];

/** Members of a table in a folder of files that every version from 1.0 on writes. */
const tableMembers: readonly (keyof ManifestTable)[] = ['rows', 'files', 'text_columns', 'nullable_columns'];

/**
 * Returns the error for a value that `isManifest` rejects. `manifest`: the value; `ofTable`: the members that each table has in addition to
 * its name.
 */
export function foreignManifest(
  manifest: unknown,
  ofTable: readonly string[] = [...tableMembers, 'zoned_columns'],
): AppError {
  const { jobs, tables } = isObject(manifest) ? manifest : {};
  const ofJob = missingIn(objectsIn(jobs), jobMembers);
  if (ofJob !== undefined) return new PreReleaseFault(manifestName, `a job in it has no ${ofJob}`);
  const ofModel = objectsIn(tables).filter(({ name }) => !sideNames.has(String(name)));
  const lack = missingIn(ofModel, ofTable);
  if (lack !== undefined) return new PreReleaseFault(manifestName, `a table in it has no ${lack}`);
  return new AppError('conflict', `${manifestName} is not a manifest of this version.`);
}

function objectsIn(list: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** Returns the first of the members that one of the objects lacks. */
function missingIn(
  objects: readonly Readonly<Record<string, unknown>>[],
  members: readonly string[],
): string | undefined {
  return members.find((member) => objects.some((one) => !Object.hasOwn(one, member)));
}

/** The names of the tables beside the data. */
export const sideNames: ReadonlySet<string> = new Set([...Object.values(sideTableNames), codesTable.name]);

export function isManifest({ version, format, jobs, keys, tables, codes }: Partial<TargetManifest>): boolean {
  return (
    version === 1 &&
    isFileLayout(format) &&
    isList(jobs, isManifestJob) &&
    isObject(keys) &&
    (codes === undefined || isList(codes, isCodeRow)) &&
    isList(tables, isManifestTable)
  );
}

export function isManifestJob(job: unknown): boolean {
  return (
    isObject(job) &&
    typeof job['job_uuid'] === 'string' &&
    jobMembers.every((member) => Object.hasOwn(job, member))
  );
}

function isManifestTable(table: unknown): boolean {
  return (
    isObject(table) &&
    typeof table['name'] === 'string' &&
    tableMembers.every((member) => Object.hasOwn(table, member)) &&
    (sideNames.has(table['name']) || Object.hasOwn(table, 'zoned_columns')) &&
    isList(table['files'], isManifestFile)
  );
}

export function isCodeRow(row: unknown): boolean {
  return (
    Array.isArray(row) &&
    row.length === 4 &&
    row.every((text, at) => typeof text === 'string' || (at > 1 && text === null))
  );
}

function isManifestFile(file: unknown): boolean {
  return (
    isObject(file) && isOwnName(file['name']) && isList(file['columns'], (name) => typeof name === 'string')
  );
}

/** Returns the hash of the model that a job loaded by, or null if the manifest does not have the job. */
export function modelHashOfJob(jobs: readonly ManifestJob[], jobUuid: string): string | null {
  return jobs.find((job) => job.job_uuid === jobUuid)?.model_sha256 ?? null;
}

/** Returns the loads, newest first. */
export function loadsOf({ jobs, tables }: TargetManifest): readonly TargetLoad[] {
  const present = new Set(tables.flatMap(({ files }) => files.map((file) => file.job_uuid)));
  const found = new Map<string, TargetLoad>();
  for (const job of newestFirst(jobs)) {
    const { key, load } = loadOf(job);
    const holds = present.has(job.job_uuid) || found.get(key)?.holds === true;
    found.set(key, { ...load, holds });
  }
  return [...found.values()];
}

/** Returns the logical schema of a job; `key` is equal for all jobs of one schema. */
export function loadOf(job: ManifestJob): {
  readonly key: string;
  readonly load: Omit<TargetLoad, 'holds'>;
} {
  const { installation, id_sch: idSch, id_lschma: idLschma, model_sha256: modelHash } = job;
  return {
    key: JSON.stringify([installation, idSch, idLschma, modelHash]),
    load: { installation, idSch, idLschma, modelHash },
  };
}

function newestFirst(jobs: readonly ManifestJob[]): readonly ManifestJob[] {
  return jobs.toSorted((a, b) => Date.parse(b.published_at) - Date.parse(a.published_at) || b.job - a.job);
}

/** Counts the added rows of each table of the model that was given rows. */
export function rowsByTable(added: ManifestStep['added']): Record<string, number> {
  const counts = [...added].map(([table, files]) => [table, rowsOf(files)] as const);
  return Object.fromEntries(counts.filter(([table, rows]) => rows > 0 && !sideNames.has(table)));
}

/** Returns whether a job loaded by this logical schema. */
export function isByLogicalSchema(
  job: Pick<ManifestJob, 'model_sha256'>,
  { modelHash }: Pick<SinkPlan, 'modelHash'>,
): boolean {
  return modelHash !== null && job.model_sha256 === modelHash;
}

/**
 * Returns the files that an overwrite keeps. It removes the files of each job that wrote rows into this model's tables or loaded by this
 * logical schema. A file belongs to one job, and is removed as a whole.
 */
export function remainingTables({ tables, jobs }: TargetManifest, plan: SinkPlan): ManifestTable[] {
  const { model } = plan;
  const own = tableIndexes(model);
  const gone = new Set(
    tables.flatMap(({ name, files }) =>
      own.has(name) ? files.filter(({ rows }) => rows > 0).map((file) => file.job_uuid) : [],
    ),
  );
  for (const job of jobs) if (isByLogicalSchema(job, plan)) gone.add(job.job_uuid);
  return tables
    .filter(({ name }) => !own.has(name))
    .map((table) => ({ ...table, files: table.files.filter((file) => !gone.has(file.job_uuid)) }))
    .filter(({ files }) => files.length > 0)
    .map((table) => ({ ...table, rows: rowsOf(table.files) }));
}

/** Returns the first of these tables that has the name of a table of the model, but other keys. */
export function tableOfOtherKeys(
  model: RelationalModel,
  tables: readonly ManifestTable[],
): ManifestTable | undefined {
  return tables.find(({ name, files }) => {
    const index = tableIndexes(model).get(name);
    if (index === undefined || files.length === 0) return false;
    const columns = peekMember(peekElement(model.tables, index), 'columns');
    return files.some((file) => hasOtherKeys(columns, (key) => file.columns.includes(key)));
  });
}

/** A file that a job adds. */
export type FileOfJob = Pick<UnitFile, 'name' | 'rows' | 'bytes' | 'sha256' | 'types'> &
  Pick<ManifestFile, 'sheet'>;

export interface ManifestStep {
  readonly plan: SinkPlan;
  readonly before: TargetManifest;
  /** the tables of `before` that remain */
  readonly kept: readonly ManifestTable[];
  /** new files by table name */
  readonly added: ReadonlyMap<string, readonly FileOfJob[]>;
  readonly columnsOf: (table: string) => readonly string[];
  readonly widened: NotedTypes;
  readonly nullAllowed: NotedColumns;
  readonly lastKeys: ReadonlyMap<string, number>;
  readonly format: TargetManifest['format'];
  /** see `TargetManifest.location` */
  readonly location?: string;
  /** whether a `datapackage.json` is written */
  readonly hasPackage: boolean;
  /** all codes, including those of earlier jobs; null keeps the existing ones */
  readonly codes: readonly CodeRow[] | null;
}

export function nextManifest(step: ManifestStep): TargetManifest {
  const { idJob, jobUuid, installation = '', idSch, idLschma, modelHash, model } = step.plan;
  const kept = new Map(step.kept.map((table) => [table.name, table]));
  const indexes = tableIndexes(model);
  const names = new Set([...indexes.keys(), ...sideNames, ...kept.keys()]);
  const tables: ManifestTable[] = [];
  for (const name of names) {
    const known = kept.get(name);
    const columns = step.added.has(name) ? step.columnsOf(name) : [];
    const files = [
      ...(known?.files ?? []),
      ...(step.added.get(name) ?? []).map(
        ({ name: file, rows, bytes, sha256, types, sheet }): ManifestFile => {
          const typed = {
            ...(types === undefined ? {} : { types }),
            ...(sheet === undefined ? {} : { sheet }),
          };
          return { name: file, rows, bytes, sha256, job_uuid: jobUuid, job: idJob, columns, ...typed };
        },
      ),
    ];
    if (files.length === 0) continue;
    const index = indexes.get(name);
    tables.push({
      name,
      rows: rowsOf(files),
      files,
      ...widenedColumns(known, step.widened.get(name) ?? new Map()),
      nullable_columns: union(known?.nullable_columns, step.nullAllowed.get(name)),
      ...zonedColumns(index === undefined ? undefined : peekElement(model.tables, index), known),
    });
  }
  // no key is used twice, even if the rows that had it were removed
  const keys = { ...step.before.keys };
  for (const [table, key] of step.lastKeys) if (key > (keys[table] ?? 0)) keys[table] = key;
  const data = [...step.added].flatMap(([name, files]) => (sideNames.has(name) ? [] : files));
  const job: ManifestJob = {
    job_uuid: jobUuid,
    job: idJob,
    installation,
    id_sch: idSch,
    id_lschma: idLschma,
    model_sha256: modelHash,
    published_at: new Date().toISOString(),
    documents: rowsOf(step.added.get(sideTableNames.documents) ?? []),
    rows: rowsOf(data),
  };
  const codes = step.codes ?? step.before.codes;
  const own = {
    ...(step.hasPackage ? { data_package: true as const } : {}),
    ...(step.plan.views === true || step.before.views === true ? { views: true as const } : {}),
    ...(step.location === undefined ? {} : { location: step.location }),
    ...(codes === undefined ? {} : { codes }),
  };
  return { version: 1, format: step.format, ...own, jobs: [...step.before.jobs, job], keys, tables };
}

function widenedColumns(
  known: ManifestTable | undefined,
  widened: ReadonlyMap<string, ColumnType>,
): Pick<ManifestTable, 'text_columns' | 'decimal_columns' | 'decimal_digits'> {
  const texts = [...widened].flatMap(([name, { kind }]) => (kind === 'text' ? [name] : []));
  const text = union(known?.text_columns, new Set(texts));
  const numbers = [...widened].filter(([name]) => !text.includes(name));
  const wholes = numbers.flatMap(([name, { scale }]) => (scale === 0 ? [name] : []));
  const decimal = union(known?.decimal_columns, new Set(wholes)).filter((name) => !text.includes(name));
  const digits = { ...known?.decimal_digits };
  for (const name of text) delete digits[name];
  for (const [name, { precision = 0, scale = 0 }] of numbers) {
    const [whole, fraction] = digits[name] ?? [0, 0];
    if (scale > 0) digits[name] = [Math.max(whole, precision - scale), Math.max(fraction, scale)];
  }
  return {
    text_columns: text,
    ...(decimal.length === 0 ? {} : { decimal_columns: decimal }),
    ...(Object.keys(digits).length === 0 ? {} : { decimal_digits: digits }),
  };
}

function zonedColumns(
  table: Table | undefined,
  known: ManifestTable | undefined,
): Pick<ManifestTable, 'zoned_columns'> {
  if (table === undefined)
    return known?.zoned_columns === undefined ? {} : { zoned_columns: known.zoned_columns };
  const open = peekMember(table, 'columns').filter(isOpenToZones);
  return {
    zoned_columns: open.filter(({ type }) => type.kind === 'timestamptz').map(({ name }) => name),
  };
}

/** Returns `RowSink.existingZones` for the existing files, from their manifest. */
export function zonesOfManifest(manifest: TargetManifest, tables: readonly ZoneTable[]): ExistingZones {
  const known = new Map(manifest.tables.map((table) => [table.name, table]));
  const found = new Map<string, ReadonlyMap<string, boolean>>();
  for (const { name, columns } of tables) {
    const there = known.get(name);
    const zoned = there?.zoned_columns;
    if (there === undefined || zoned === undefined) continue;
    const written = new Set(there.files.flatMap((file) => (file.rows > 0 ? file.columns : [])));
    const kept = columns().filter((column) => written.has(column.name));
    found.set(name, new Map(kept.map((column) => [column.name, zoned.includes(column.name)])));
  }
  return found;
}

function rowsOf(files: readonly { readonly rows: number }[]): number {
  return files.reduce((sum, file) => sum + file.rows, 0);
}

function union(known: readonly string[] = [], added: ReadonlySet<string> = new Set()): string[] {
  return [...new Set([...known, ...added])];
}

/** The columns by table name. */
export type NotedColumns = ReadonlyMap<string, ReadonlySet<string>>;

/** Returns columns by table, in the order of the model. `ids`: see `columnId`. */
export function columnsIn({ tables }: RelationalModel, ids: ReadonlySet<string>): NotedColumns {
  return new Map(
    tablesOf(ids).map((table) => {
      const columns = peekMember(peekElement(tables, table), 'columns');
      const noted = columns.filter((_, column) => ids.has(columnId(table, column)));
      return [memberOf(tables, table, 'name'), new Set(noted.map((column) => column.name))] as const;
    }),
  );
}

/** The types of columns by their names, by table name. */
export type NotedTypes = ReadonlyMap<string, ReadonlyMap<string, ColumnType>>;

/** Returns the types in the order of the model. */
export function typesIn({ tables }: RelationalModel, widened: WidenedTypes): NotedTypes {
  return new Map(
    tablesOf(widened).map((table) => {
      const noted = peekMember(peekElement(tables, table), 'columns').flatMap((column, at) => {
        const type = widened.get(columnId(table, at));
        return type === undefined ? [] : [[column.name, type] as const];
      });
      return [memberOf(tables, table, 'name'), new Map(noted)] as const;
    }),
  );
}

/** Returns the tables of these columns, in the order of the model. */
function tablesOf(ids: ReadonlySet<string> | WidenedTypes): number[] {
  return [...new Set([...ids.keys()].map(tableOfId))].toSorted((a, b) => a - b);
}

export function widenedInWords(noted: NotedTypes): string[] {
  return [...noted].flatMap(([table, columns]) =>
    [...columns].map(([column, type]) => `${table}.${column}: ${widenedWords(type)}`),
  );
}

export function inWords(noted: NotedColumns, what: string): string[] {
  return [...noted].flatMap(([table, columns]) =>
    [...columns].map((column) => `${table}.${column}: ${what}`),
  );
}
