/**
 * The request of a tool as it is stored with its job, with letters for modes (src/service/jobs/option-table.ts). A worker validates it
 * before it starts the tool. The tool itself uses only the types, because Zod would make its start a fifth longer.
 */
import { z } from 'zod';
import type { ColumnType } from '../../../engine/model/relational-model.ts';
import { layoutNames } from '../../../ports/layouts.ts';
import type { SaveMode } from '../../../ports/row-sink.ts';
import { AppError } from '../../../errors.ts';
import { tools } from './tools.ts';

const parseMode = z.enum(['all', 'data', 'statistics']);
export type ParseMode = z.infer<typeof parseMode>;

const id = z.int().positive();
const position = z.int().nonnegative();

/**
 * `-R NAME[:TYPE] …`: a column on every table; `value` is set exactly when `kind` is `value`. No request has `carried`, which a run
 * adds.
 */
const extraColumn = z
  .object({
    name: z.string(),
    type: z.enum([
      'text',
      'boolean',
      'smallint',
      'integer',
      'bigint',
      'numeric',
      'real',
      'double',
      'date',
      'time',
      'timestamp',
      'timestamptz',
    ]) satisfies z.ZodType<ColumnType['kind']>,
    /** `carried`: a column of `from` beside the documents, in the tables that these start in */
    kind: z.enum(['now', 'id', 'filename', 'filepath', 'value', 'carried']),
    value: z.string().optional(),
  })
  .readonly();
export type ExtraColumn = z.infer<typeof extraColumn>;

/** The files of a watch that a job loads: below its one input, each as it was when the watch noticed it. */
const watchedFiles = z
  .object({
    files: z
      .array(
        z
          .object({
            name: z.string().min(1),
            version: z.string(),
            bytes: position.optional(),
            /** modification time, epoch milliseconds: of files with documents of one key the later counts */
            modified: z.number().optional(),
          })
          .readonly(),
      )
      .readonly(),
    /** names of files that are gone, whose documents are removed (`--delete-missing`) */
    gone: z.array(z.string().min(1)).readonly().optional(),
    /** the watch that the job belongs to: for rows (`--from`), reading continues from its mark; for files, it has the earlier files */
    watch: id.optional(),
  })
  .readonly();
export type WatchedFiles = z.infer<typeof watchedFiles>;

const storedRequest = z
  .object({
    tool: z.enum(tools),
    /** files, folders, patterns, archives or `-`, as given: relative ones are the organisation's when run by the service */
    inputs: z.array(z.string()).readonly(),
    /** `-j`: all other members come from that job's record */
    jobId: id.optional(),
    /** `--from`: in place of inputs, a database or a file of rows, as given */
    from: z.string().optional(),
    /** `--query`: the query that returns the database's rows */
    query: z.string().optional(),
    /** `--xml-column`: the column that holds documents */
    xmlColumn: z.string().optional(),
    /** `--after`: only rows above the mark, which is the end of the previous run, or `mark` */
    after: z.object({ column: z.string(), mark: z.string().optional() }).readonly().optional(),
    /** `--json`: the summary as one JSON object in the last line */
    json: z.boolean(),
    /** `--quiet`: the terminal gets errors alone */
    quiet: z.boolean().optional(),
    name: z.string().optional(),
    /** id_sch that the new origin is the next version of */
    parent: id.optional(),
    /** `ref`: the schema that an earlier execution of the same request (from 0) made, until its job has ended; `auto`: the target's */
    originId: z
      .union([
        z.object({ id }).readonly(),
        z.object({ ref: position }).readonly(),
        z.object({ name: z.string() }).readonly(),
        z.object({ auto: z.literal(true) }).readonly(),
      ])
      .optional(),
    logicalId: id.optional(),
    /** `-l NAME`: of the origin whose only logical schema is meant */
    logicalName: z.string().optional(),
    /** `--xsd`: files, folders and archives of the XSD set that documents are loaded by */
    xsd: z.array(z.string()).readonly().optional(),
    /** `--entry`: files that an XSD set is entered by */
    entry: z.array(z.string()).readonly().optional(),
    /** `--credential`: access data for inputs by address, and for those of `xsd` */
    credential: z.string().optional(),
    /** job ids whose statistics are used */
    useStats: z.array(id).readonly().optional(),
    mapLevel: z.literal([0, 1, 2, 3]).optional(),
    /** see `parseModeOf` for the default */
    parseMode: parseMode.optional(),
    dryRun: z.boolean(),
    /** target as given; see `parseTarget` */
    out: z.string().optional(),
    outUser: z.string().optional(),
    outPassword: z.string().optional(),
    format: z.enum(layoutNames).optional(),
    saveMode: z.enum([
      'error',
      'append',
      'overwrite',
      'ignore',
      'merge',
      'write-schema',
      'print-schema',
    ]) satisfies z.ZodType<SaveMode>,
    /** `-S m`: paths that identify a document, as given; absent: its name */
    key: z.string().optional(),
    /** `-S m`: replaced and missing documents stay, with the time until which they were valid */
    history: z.boolean().optional(),
    /** `-S m`: documents that are no longer among the inputs are removed */
    deleteMissing: z.boolean().optional(),
    prefix: z.string().optional(),
    suffix: z.string().optional(),
    nameMode: z.enum(['l', 'u', 'c']).optional(),
    rename: z
      .array(z.tuple([z.string(), z.string()]).readonly())
      .readonly()
      .optional(),
    /** bytes, 12 … 128 */
    nameMaxLen: z.int().optional(),
    /** characters */
    defaultVarcharLen: z.int().optional(),
    extraColumns: z.array(extraColumn).readonly(),
    /** names as given, `prefix:local`, `{uri}local` or `local` */
    root: z.string().optional(),
    rowTag: z.string().optional(),
    /** each input file holds several documents in sequence */
    concatenated: z.boolean(),
    /** encodings of Parquet files: those that every reader knows (1), or those of later readers, too (2); absent: as the target has it */
    parquetVersion: z.union([z.literal(1), z.literal(2)]).optional(),
    keys: z.enum(['sequence', 'hash']),
    validate: z.boolean(),
    unmapped: z.enum(['capture', 'report', 'fail']),
    /** `--unmapped capture` was given: documents of an unknown root are kept whole, too */
    keepsOtherRoots: z.boolean(),
    /** content that the schema has no place for; absent: keep */
    onDrift: z.enum(['keep', 'evolve', 'fail']).optional(),
    onError: z.enum(['fail', 'skip']),
    prune: z.boolean(),
    tables: z.enum(['used', 'all']),
    /** absent: indexes on keys, but only for tables and columns that the job makes; given: also for existing ones */
    indexes: z.enum(['none', 'keys', 'all']).optional(),
    /** absent: tables and checks that earlier loads made in the target are kept up to date */
    codes: z.enum(['none', 'table', 'check']).optional(),
    /** absent: those that loads made before are kept up to date */
    views: z.boolean().optional(),
    /** partition as `parsePartition` reads it */
    partition: z.string().optional(),
    skipLoaded: z.boolean(),
    missing: z.enum(['fail', 'wildcard']),
    noSamples: z.boolean(),
    workers: z.int().optional(),
    engine: z.enum(['local', 'spark']),
    sparkConf: z.record(z.string(), z.string()).readonly(),
    /** er2xml, unload: source of the rows */
    in: z.string().optional(),
    /** er2xml, unload: one document by its name */
    document: z.string().optional(),
    /** er2xml: documents as they were at that moment (ISO 8601, UTC), or all versions of them */
    at: z.string().optional(),
    /** er2xml: of the table `_loads` of a folder of Delta or Iceberg tables */
    version: id.or(z.literal(0)).optional(),
    /** set only for the job of a watch; no option sets it */
    watched: watchedFiles.optional(),
  })
  .readonly();
export type StoredRequest = z.infer<typeof storedRequest>;

/** AppError `internal_error` names the members that no request has so; their values, which may be secrets, it does not repeat. */
export function checkStoredRequest(request: StoredRequest): void {
  const { error } = storedRequest.safeParse(request);
  if (error === undefined) return;
  const faults = error.issues.map(({ path, message }) => `${path.map(String).join('/')}: ${message}`);
  throw new AppError('internal_error', `the stored request of the job cannot be read: ${faults.join('; ')}`);
}
