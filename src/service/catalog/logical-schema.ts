/** Reads logical schemas and generates artefacts from them. */
import { inSlices, mapInSlices } from '../../engine/in-slices.ts';
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import { withZonesOfDocuments } from '../../engine/map/tables/zones.ts';
import { enumerationsOf } from '../../engine/metadata/enumerations.ts';
import { factsOf } from '../../engine/model/facts.ts';
import { ddlParagraphs, type DdlCodes } from '../../engine/sql/ddl.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { DialectName } from '../../engine/sql/dialects/every-dialect.ts';
import { AppError } from '../../errors.ts';
import type {
  CatalogStore,
  MappingRecord,
  StoredLogicalSchema,
  NaturalKeyColumn,
  OriginRecord,
} from '../../ports/stores/catalog.ts';
import { oneLine } from '../jobs/mask-secrets.ts';
import type { Adapters } from '../../ports/adapters.ts';
import { inferSourceModel } from '../../engine/infer/source-model.ts';
import { buildRelationalModel, extraColumnsOf, namingLike } from '../../engine/map/build-model.ts';
import { leaveOutInactive } from '../../engine/map/deactivate.ts';
import { defaultNaming, type NamingOptions } from '../../engine/map/names/identifiers.ts';
import type { SourceModel } from '../../engine/model/source-model.ts';
import type { NextSchema, NextSchemaSources } from '../../ports/processes.ts';
import { modelName } from '../../engine/sql/physical-model.ts';
import { saveModeLetters } from '../jobs/option-table.ts';
import type { JobStore } from '../../ports/stores/jobs.ts';
import type { BrokenKey } from '../../ports/row-sink.ts';

/** The logical schema that is shown of the origin, or the selected one; `not_found` when the origin is absent, or has none yet. */
export async function findLogicalSchema(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  idLschma?: number,
): Promise<StoredLogicalSchema> {
  const shown = idLschma ?? (await catalog.findOrigin(idOrg, idSch))?.id_lschma ?? null;
  const stored = shown === null ? null : await catalog.loadLogicalSchema(idOrg, { idLschma: shown });
  if (stored === null || stored.idSch !== idSch) throw new AppError('not_found', 'there is no such schema');
  return stored;
}

/** DDL of the logical schema in that dialect, in pieces. */
export async function logicalSchemaDdl(
  { catalog, jobs }: Pick<Adapters, 'catalog' | 'jobs'>,
  idOrg: number,
  idSch: number,
  options: {
    readonly dialect: DialectName;
    readonly idLschma?: number;
    /** form in which enumerated values are stored (default: none) */
    readonly codes?: DdlCodes['choice'] | 'none';
  },
): Promise<readonly string[]> {
  const { dialect, codes: choice = 'none' } = options;
  const { model, notes } = await keyedLogicalSchema({ catalog, jobs }, idOrg, idSch, options.idLschma);
  const lines = notes.map((text) => `-- ${oneLine(text)}\n`);
  const source = choice === 'none' ? null : ((await catalog.loadOrigin(idOrg, idSch))?.model ?? null);
  const codes =
    choice === 'none' || source === null
      ? {}
      : { codes: { choice, valuesAt: await enumerationsOf(model, source) } };
  return [...lines, ...(await inSlices(ddlParagraphs(model, { dialect, ...codes })))];
}

/**
 * Returns the logical schema with the types that documents gave it in targets, and the natural keys that people declared; `notes` names
 * the keys that data broke, so that they are left out.
 */
export async function keyedLogicalSchema(
  { catalog, jobs }: Pick<Adapters, 'catalog' | 'jobs'>,
  idOrg: number,
  idSch: number,
  idLschma?: number,
): Promise<{ readonly model: RelationalModel; readonly notes: readonly string[] }> {
  const stored = await findLogicalSchema(catalog, idOrg, idSch, idLschma);
  const statistics =
    factsOf(stored.model).openToZones.length === 0
      ? null
      : (await catalog.loadOrigin(idOrg, idSch))?.statistics;
  const model = statistics
    ? withZonesOfDocuments(stored.model, statistics as DocumentStatistics)
    : stored.model;
  const declared = await catalog.listNaturalKeys(idOrg, idSch);
  if (declared.length === 0) return { model, notes: [] };
  const family = await originFamily(catalog, idOrg, idSch);
  const ids = family.map(({ id_sch }) => id_sch);
  const { keys, notes } = withoutBroken(declared, await brokenNaturalKeys(jobs, idOrg, ids));
  return { model: withNaturalKeys(model, keys), notes };
}

/**
 * Returns the limit for names, and the longest existing name (in UTF-8 bytes; the first of equals), or null while there is no logical
 * schema.
 */
export async function nameLengths(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  idLschma?: number,
): Promise<{
  readonly id_sch: number;
  readonly name: string;
  readonly max_length: number;
  readonly longest_name: string | null;
}> {
  const origin = await findOrigin(catalog, idOrg, idSch, idLschma);
  const stored =
    origin.id_lschma === null ? null : await catalog.loadLogicalSchema(idOrg, { idLschma: origin.id_lschma });
  let longest: string | null = null;
  let longestBytes = 0;
  const encoder = new TextEncoder();
  await mapInSlices(stored?.model.tables ?? [], (table) => {
    for (const name of [table.name, ...table.columns.map((column) => column.name)]) {
      const bytes = encoder.encode(name).byteLength;
      if (bytes > longestBytes) [longest, longestBytes] = [name, bytes];
    }
  });
  return { id_sch: origin.id_sch, name: origin.name, max_length: origin.max_length, longest_name: longest };
}

/** The source-to-target map as it is stored; empty while the origin has no logical schema. */
export async function listStoredMappings(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  idLschma?: number,
): Promise<readonly MappingRecord[]> {
  const origin = await findOrigin(catalog, idOrg, idSch, idLschma);
  return origin.id_lschma === null ? [] : await catalog.listMappings(idOrg, origin.id_lschma);
}

// The models of an origin's next logical schema: how they are made, wherever that is done.

/** The level (elevate and reuse) for an origin that has no logical schema yet. */
const defaultMapLevel = 3;

/** Made as the newest one was: its map level, names and extra columns. */
export function nextModel(sources: NextSchemaSources): NextSchema {
  const source = refinedSource(sources);
  const whole = buildRelationalModel(source, optionsOf(sources, source));
  const model = leaveOutInactive(source, whole, new Set(sources.inactive));
  return { source: source === sources.source ? null : source, model };
}

/** Returns a refined source model. A model from an XSD stays as it is; an inferred model learns from the documents that came since. */
function refinedSource({ sourceType, source, statistics }: NextSchemaSources): SourceModel {
  if (sourceType !== 'xml' || statistics === null) return source;
  const inferred = inferSourceModel(statistics as DocumentStatistics);
  return JSON.stringify(inferred) === JSON.stringify(source) ? source : inferred;
}

function optionsOf(
  { sourceType, newest, maxLength }: NextSchemaSources,
  source: SourceModel,
): Parameters<typeof buildRelationalModel>[1] {
  const basis = newest === null ? defaultNaming : namingLike(newest);
  const naming: NamingOptions = { ...basis, maxBytes: maxLength ?? basis.maxBytes };
  const textLength = newest?.options?.defaultTextLength;
  const roots = sourceType === 'xml' ? source.roots.map((root) => source.elements[root]!.name) : [];
  return {
    mapLevel: newest?.mapLevel ?? defaultMapLevel,
    naming,
    roots: [...(newest?.roots.map(({ name }) => name) ?? []), ...roots],
    ...(textLength === undefined ? {} : { defaultTextLength: textLength }),
    ...(newest === null ? {} : { previous: newest, keepNames: naming.maxBytes === newest.nameMaxLength }),
    extraColumns: newest === null ? [] : extraColumnsOf(newest),
  };
}

// Natural keys that people declare of the tables of an origin.

/** A declared key that a target could not keep, and the run that broke it. */
export interface BrokenNaturalKey {
  readonly tableName: string;
  readonly columns: readonly string[];
  readonly pid: number;
}

/** number of runs that are inspected */
const latestRuns = 100;

/** Natural keys that were broken in each target since it was overwritten last. `idSchs`: the members of the family that has the keys. */
export async function brokenNaturalKeys(
  jobs: Pick<JobStore, 'listRuns'>,
  idOrg: number,
  idSchs: readonly number[],
): Promise<readonly BrokenNaturalKey[]> {
  const { content } = await jobs.listRuns(idOrg, idSchs, 0, latestRuns);
  const settled = new Set<string | null>();
  return content.flatMap(({ record, summary }): BrokenNaturalKey[] => {
    const { status, job_type: type, parm_path_output: targetUrl, params_json: params, id_job: pid } = record;
    if (status !== 'completed' || type !== 'Parse' || settled.has(targetUrl)) return [];
    const { action } = JSON.parse(params) as { readonly action?: { readonly savemode?: unknown } };
    if (action?.savemode === saveModeLetters.overwrite) settled.add(targetUrl);
    const { broken_keys: broken = [] } =
      (summary as { readonly details?: { readonly broken_keys?: readonly BrokenKey[] } } | null)?.details ??
      {};
    return broken.map(({ table, columns }) => ({ tableName: table, columns, pid }));
  });
}

/** The keys without those that data broke; each of these as a line of words. */
export function withoutBroken(
  keys: readonly NaturalKeyColumn[],
  broken: readonly BrokenNaturalKey[],
): { readonly keys: readonly NaturalKeyColumn[]; readonly notes: readonly string[] } {
  const notes: string[] = [];
  const kept = [...Map.groupBy(keys, ({ tableName }) => tableName)].flatMap(([tableName, columns]) => {
    const names = columns.map(({ columnName }) => columnName);
    const found = broken.find(
      (key) => key.tableName === tableName && JSON.stringify(key.columns) === JSON.stringify(names),
    );
    if (found === undefined) return columns;
    notes.push(
      `${tableName}: the natural key (${names.join(', ')}) is omitted because values that job ${found.pid} loaded violate it`,
    );
    return [];
  });
  return { keys: kept, notes };
}

/**
 * Returns the model with the keys that people declared; those of tables and columns that this logical schema does not have are ignored.
 */
export function withNaturalKeys(model: RelationalModel, keys: readonly NaturalKeyColumn[]): RelationalModel {
  const byTable = Map.groupBy(keys, ({ tableName }) => tableName);
  if (byTable.size === 0) return model;
  const tables = model.tables.map((table) => {
    const wanted = byTable.get(table.name) ?? [];
    const columns = wanted.map(({ columnName }) =>
      table.columns.findIndex(({ name }) => name === columnName),
    );
    if (columns.length === 0 || columns.includes(-1)) return table;
    return {
      ...table,
      uniqueKeys: [...table.uniqueKeys, { name: modelName(model, `${table.name}_natural_key`), columns }],
    };
  });
  return { ...model, tables };
}

// Reading origins (source schemas).

/** The origin with its newest logical schema, or the selected one. Absent or another organisation's: `not_found`. */
export async function findOrigin(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  idLschma?: number,
): Promise<OriginRecord> {
  const origin = await catalog.findOrigin(idOrg, idSch, idLschma);
  if (origin === null) throw new AppError('not_found', 'there is no such schema');
  return origin;
}

/** AppError `not_found`; `conflict` while a job uses it. */
export async function removeOrigin(catalog: CatalogStore, idOrg: number, idSch: number): Promise<void> {
  if (!(await catalog.removeOrigin(idOrg, idSch))) throw new AppError('not_found', 'there is no such schema');
}

/** Every version that shares the first ancestor of this origin, itself included, oldest first. */
export async function originFamily(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
): Promise<readonly OriginRecord[]> {
  const families = familiesOf(await catalog.listOrigins(idOrg));
  const family = families.find((origins) => origins.some((origin) => origin.id_sch === idSch));
  if (family === undefined) throw new AppError('not_found', 'there is no such schema');
  return family;
}

/** Origins that share an ancestor, or a name, which one family alone may bear; each family oldest first, the oldest family first. */
export function familiesOf<T extends Pick<OriginRecord, 'id_sch' | 'id_parent_sch' | 'name' | 'version'>>(
  origins: readonly T[],
): readonly (readonly T[])[] {
  const families = new Map<number, T[]>();
  const byName = new Map<string, T[]>();
  for (const origin of origins.toSorted((a, b) => a.id_sch - b.id_sch)) {
    // a parent has a lower id, so its family is known; versions of a removed parent are found by their common name
    const parent = origin.id_parent_sch === null ? undefined : families.get(origin.id_parent_sch);
    const family = parent ?? byName.get(origin.name) ?? [];
    family.push(origin);
    families.set(origin.id_sch, family);
    byName.set(origin.name, family);
  }
  return [...new Set(families.values())].map((family) => family.toSorted((a, b) => a.version - b.version));
}
