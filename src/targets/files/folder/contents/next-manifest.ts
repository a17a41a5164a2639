/** From one manifest to the next, with the columns that values changed. */
import { hasOtherKeys } from '../../../../engine/model/key-columns.ts';
import { passed, memberOf } from '../../../../engine/model/packed/lazy-array.ts';
import { lookedAt } from '../../../../engine/model/packed/reader.ts';
import { tableIndexes } from '../../../../engine/model/packed/table-names.ts';
import { sideTableNames } from '../../../../engine/model/side-tables.ts';
import { isOpenToZones } from '../../../../engine/model/zones.ts';
import type { ColumnType, RelationalModel, Table } from '../../../../engine/model/relational-model.ts';
import type { SinkPlan, ZonesThere, ZoneTable } from '../../../../ports/rows/sink.ts';
import type { UnitFile } from '../../../../ports/rows/units.ts';
import {
  sideNames,
  type CodeRow,
  type TargetManifest,
  type ManifestFile,
  type ManifestJob,
  type ManifestTable,
} from './manifest.ts';
import { columnId, tableOfId, widenedWords, type WidenedTypes } from '../../../rows/unfit-columns.ts';

/** Of tables of the model, those that were given rows. */
export function rowsByTable(added: ManifestStep['added']): Record<string, number> {
  const counts = [...added].map(([table, files]) => [table, rowsOf(files)] as const);
  return Object.fromEntries(counts.filter(([table, rows]) => rows > 0 && !sideNames.has(table)));
}

/** Whether a job loaded by this logical schema. */
export function isByLogicalSchema(
  job: Pick<ManifestJob, 'model_sha256'>,
  { modelHash }: Pick<SinkPlan, 'modelHash'>,
): boolean {
  return modelHash !== null && job.model_sha256 === modelHash;
}

/**
 * What an overwrite leaves: files of other jobs than those that wrote rows of this model's tables, or by it. A file is of one job, and goes
 * whole.
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

/** The first of these tables that is the model's by its name, and has other keys. */
export function tableOfOtherKeys(
  model: RelationalModel,
  tables: readonly ManifestTable[],
): ManifestTable | undefined {
  return tables.find(({ name, files }) => {
    const index = tableIndexes(model).get(name);
    if (index === undefined || files.length === 0) return false;
    const columns = lookedAt(passed(model.tables, index), 'columns');
    return files.some((file) => hasOtherKeys(columns, (key) => file.columns.includes(key)));
  });
}

/** A file that a job adds. */
export type FileOfJob = Pick<UnitFile, 'name' | 'rows' | 'bytes' | 'sha256' | 'types'> &
  Pick<ManifestFile, 'sheet'>;

export interface ManifestStep {
  readonly plan: SinkPlan;
  readonly before: TargetManifest;
  /** tables of `before` that stay */
  readonly kept: readonly ManifestTable[];
  /** new files by table name */
  readonly added: ReadonlyMap<string, readonly FileOfJob[]>;
  readonly columnsOf: (table: string) => readonly string[];
  readonly widened: NotedTypes;
  readonly nullAllowed: NotedColumns;
  readonly lastKeys: ReadonlyMap<string, number>;
  readonly format: TargetManifest['format'];
  /** as `TargetManifest.location` */
  readonly location?: string;
  /** a `datapackage.json` is written */
  readonly hasPackage: boolean;
  /** those of earlier jobs among them; null: what is there stays */
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
      ...zonedColumns(index === undefined ? undefined : passed(model.tables, index), known),
    });
  }
  // no key is given twice, also where the rows that had it are gone
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
  const open = lookedAt(table, 'columns').filter(isOpenToZones);
  return {
    zoned_columns: open.filter(({ type }) => type.kind === 'timestamptz').map(({ name }) => name),
  };
}

/** As `RowSink.zonesThere`: what the files that are there were written as. */
export function zonesOfManifest(manifest: TargetManifest, tables: readonly ZoneTable[]): ZonesThere {
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

/** columns by table name */
export type NotedColumns = ReadonlyMap<string, ReadonlySet<string>>;

/** `ids`: see `columnId`; in the order of the model. */
export function columnsIn({ tables }: RelationalModel, ids: ReadonlySet<string>): NotedColumns {
  return new Map(
    tablesOf(ids).map((table) => {
      const columns = lookedAt(passed(tables, table), 'columns');
      const noted = columns.filter((_, column) => ids.has(columnId(table, column)));
      return [memberOf(tables, table, 'name'), new Set(noted.map((column) => column.name))] as const;
    }),
  );
}

/** Types of columns by their names, by table name. */
export type NotedTypes = ReadonlyMap<string, ReadonlyMap<string, ColumnType>>;

/** In the order of the model. */
export function typesIn({ tables }: RelationalModel, widened: WidenedTypes): NotedTypes {
  return new Map(
    tablesOf(widened).map((table) => {
      const noted = lookedAt(passed(tables, table), 'columns').flatMap((column, at) => {
        const type = widened.get(columnId(table, at));
        return type === undefined ? [] : [[column.name, type] as const];
      });
      return [memberOf(tables, table, 'name'), new Map(noted)] as const;
    }),
  );
}

/** The tables of these columns, in the order of the model. */
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
