/** Logical schemas: relational models in packed form, and the lines of their maps that are switched off. */
import {
  entriesInSlices,
  packRelationalModel,
  readMappings,
  unpackRelationalModel,
  type PackedRelationalModel,
} from '../engine/model/packed/models.ts';
import { packJson } from '../engine/model/packed/writer.ts';
import type { MappingEntry, RelationalModel, Table } from '../engine/model/relational-model.ts';
import {
  summarizeModel,
  sequenceCount,
  type ModelSummary,
  type TableSummary,
} from '../engine/model/summary.ts';
import { AppError } from '../errors.ts';
import type {
  CatalogStore,
  MappingRecord,
  StoredLogicalSchema,
  TableRecord,
} from '../ports/stores/catalog.ts';
import { isId, type Sql, type TransactionSql } from '../postgres/connect.ts';
import { deflated, inflated, inflatedApart } from '../postgres/row-tap.ts';
import { bareTypeName } from '../engine/sql/dialects/postgresql.ts';
import { keyHolders, rootTables } from '../engine/model/keys.ts';
import { mapInSlices } from '../engine/in-slices.ts';
import { structureLine } from '../engine/model/structure-lines.ts';

export async function createLogicalSchema(
  sql: Sql,
  idOrg: number,
  idSch: number,
  model: RelationalModel,
  idJob: number | null,
  variant = false,
): Promise<StoredLogicalSchema> {
  const packed = packRelationalModel(model);
  const modelHash = await hashOf(packed);
  return sql.begin(async (tx) => {
    const [origin] = isId(idSch)
      ? await tx`select 1 from svc.origin where id_sch = ${idSch} and id_org = ${idOrg} for no key update`
      : [];
    if (origin === undefined) throw new AppError('not_found', `there is no schema ${idSch}`);
    const known = await tx<{ id_lschma: number; model_hash: string; variant: boolean }[]>`
      select id_lschma, model_hash, variant from svc.logical_schema where id_sch = ${idSch} order by variant, id_lschma desc`;
    const newest = known.find((each) => !each.variant);
    // people want to see the schema that they made, whatever was loaded last
    if (!variant && idJob === null)
      await tx`update svc.origin set loaded_lschma = null where id_sch = ${idSch} and loaded_lschma is not null`;
    const same = (variant ? known : newest === undefined ? [] : [newest]).find(
      (each) => each.model_hash === modelHash,
    );
    if (same !== undefined)
      return { idSch, idLschma: same.id_lschma, model, modelHash, variant: same.variant };
    const structure = await structureLines(model);
    const mappings = await readMappings(model);
    const idLschma = await insertLogicalSchema(
      tx,
      { idSch, idJob, model, modelHash, variant },
      packed,
      mappings.length,
      structure,
    );
    const before = newest ?? known[0];
    const inactive = await inactiveIndexes(tx, before?.id_lschma ?? null, mappings, structure);
    await switchOff(tx, idLschma, inactive);
    return { idSch, idLschma, model, modelHash, variant };
  });
}

async function insertLogicalSchema(
  tx: TransactionSql,
  changed: Omit<StoredLogicalSchema, 'idLschma'> & { readonly idJob: number | null },
  packed: PackedRelationalModel,
  mappingCount: number,
  structure: readonly MapLine[],
): Promise<number> {
  const { idSch, idJob, model, modelHash, variant } = changed;
  const [plan, mappings, own] = await Promise.all(
    [packed.plan, packed.mappings, packJson(structure)].map(deflated),
  );
  const lines = mappingCount + structure.length;
  const summary = packSummary(await summarizeModel(model, await tableRecords(model, [], [])));
  const ids = await takeModelIds(tx, {
    tables: model.tables.length,
    columns: model.tables.reduce((sum, table) => sum + table.columns.length, 0),
    mappings: lines,
  });
  const [row] = await tx<{ id_lschma: number }[]>`
    insert into svc.logical_schema (id_sch, id_job, map_level, max_length, table_count, mapping_count, packed_plan, packed_mappings,
                                    packed_structure, model_hash, variant, table_ids, column_ids, mapping_ids,
                                    table_summaries, sequence_count, key_count)
    values (${idSch}, ${idJob}, ${model.mapLevel}, ${model.nameMaxLength}, ${model.tables.length}, ${lines}, ${plan!}, ${mappings!},
            ${own!}, ${modelHash}, ${variant}, ${JSON.stringify(ids.tables)}, ${JSON.stringify(ids.columns)}, ${JSON.stringify(ids.mappings)},
            ${summary.table_summaries}, ${summary.sequence_count}, ${summary.key_count})
    returning id_lschma`;
  if (row === undefined) throw new Error('the insert answered no row');
  return row.id_lschma;
}

/**
 * Returns the indexes of the lines that the model leaves out, and of those that were inactive in the map before: same path and same
 * kind of content.
 */
async function inactiveIndexes(
  tx: TransactionSql,
  before: number | null,
  mappings: readonly MappingEntry[],
  structure: readonly MapLine[],
): Promise<number[]> {
  const switchedOff = before === null ? new Set<string>() : await inactiveContent(tx, before);
  if (switchedOff.size === 0 && mappings.every(({ active }) => active !== false)) return [];
  return mapLines(mappings, structure).flatMap((line, index) =>
    line.active === false || (hasContent(line) && switchedOff.has(contentOf(line))) ? [index] : [],
  );
}

async function inactiveContent(tx: TransactionSql, idLschma: number): Promise<Set<string>> {
  const indexes = await readInactive(tx, idLschma);
  if (indexes.size === 0) return new Set();
  const [row] = await tx<MapColumns[]>`
    select packed_mappings, packed_structure from svc.logical_schema where id_lschma = ${idLschma}`;
  const lines = row === undefined ? [] : await readLines(row);
  return new Set(
    lines.flatMap((line, index) => (indexes.has(index) && hasContent(line) ? [contentOf(line)] : [])),
  );
}

/** Earlier versions stored a kind of content in lines of structure. None of these has a path. */
function hasContent({ xpath, nodeType }: MapLine): boolean {
  return xpath !== null && nodeType !== null;
}

function contentOf({ xpath, nodeType, sourceType }: MapLine): string {
  return JSON.stringify([xpath, nodeType, nodeType === 'any' ? sourceType : null]);
}

async function readInactive(sql: Sql | TransactionSql, idLschma: number): Promise<Set<number>> {
  const rows = await sql<{ place: number }[]>`
    select place from svc.inactive_mapping where id_lschma = ${idLschma}`;
  return new Set(rows.map(({ place }) => place));
}

async function switchOff(tx: TransactionSql, idLschma: number, indexes: readonly number[]): Promise<void> {
  if (indexes.length === 0) return;
  await tx`
    insert into svc.inactive_mapping (id_lschma, place)
    select ${idLschma}, json_array_elements_text(${JSON.stringify(indexes)}::text::json)::int
    on conflict do nothing`;
}

export async function setMappingsActive(
  sql: Sql,
  idOrg: number,
  idLschma: number,
  idMaps: readonly number[],
  active: boolean,
): Promise<{ readonly changed: number; readonly activeCount: number; readonly inactiveCount: number }> {
  return sql.begin(async (tx) => {
    const [schema] = isId(idLschma)
      ? await tx<{ mapping_ids: string; mapping_count: number }[]>`
          select l.mapping_ids, l.mapping_count
            from svc.logical_schema l join svc.origin s using (id_sch)
           where l.id_lschma = ${idLschma} and s.id_org = ${idOrg} for no key update of l`
      : [];
    const ids = JSON.parse(schema?.mapping_ids ?? '[]') as IdRuns;
    const wanted = new Map(idMaps.map((id) => [id, indexOfId(ids, id)]));
    for (const [id, index] of wanted)
      if (index < 0) throw new AppError('not_found', `there is no mapping ${id}`);
    const inactive = await readInactive(tx, idLschma);
    const changed = [...wanted.values()].filter((index) => inactive.has(index) === active);
    if (!active) await switchOff(tx, idLschma, changed);
    else if (changed.length > 0)
      await tx`
        delete from svc.inactive_mapping
         where id_lschma = ${idLschma}
           and place in (select json_array_elements_text(${JSON.stringify(changed)}::text::json)::int)`;
    const inactiveCount = inactive.size + (active ? -changed.length : changed.length);
    return {
      changed: changed.length,
      activeCount: (schema?.mapping_count ?? 0) - inactiveCount,
      inactiveCount,
    };
  });
}

export async function loadLogicalSchema(
  sql: Sql,
  idOrg: number,
  which: { readonly idLschma: number } | { readonly idSch: number; readonly mapLevel?: number },
): Promise<StoredLogicalSchema | null> {
  const chosen =
    'idLschma' in which
      ? sql`l.id_lschma = ${which.idLschma}`
      : sql`l.id_sch = ${which.idSch} and (${which.mapLevel ?? null}::int is null or l.map_level = ${which.mapLevel ?? null})`;
  if (!isId('idLschma' in which ? which.idLschma : which.idSch)) return null;
  const [row] = await sql<
    (ModelColumns & { id_sch: number; id_lschma: number; model_hash: string; variant: boolean })[]
  >`
    select l.id_sch, l.id_lschma, l.packed_plan, l.packed_mappings, l.model_hash, l.variant
      from svc.logical_schema l join svc.origin s using (id_sch)
     where s.id_org = ${idOrg} and ${chosen}
     order by l.variant, l.id_lschma desc limit 1`;
  if (row === undefined) return null;
  return {
    idSch: row.id_sch,
    idLschma: row.id_lschma,
    model: await readModel(row),
    modelHash: row.model_hash,
    variant: row.variant,
  };
}

export async function findLogicalSchemas(
  sql: Sql,
  idOrg: number,
  modelHashes: readonly string[],
): Promise<readonly Omit<StoredLogicalSchema, 'model'>[]> {
  if (modelHashes.length === 0) return [];
  return sql<Omit<StoredLogicalSchema, 'model'>[]>`
    select l.id_sch as "idSch", l.id_lschma as "idLschma", l.model_hash as "modelHash", l.variant
      from svc.logical_schema l join svc.origin s using (id_sch)
     where s.id_org = ${idOrg}
       and l.model_hash in (select json_array_elements_text(${JSON.stringify(modelHashes)}::text::json))`;
}

export async function listLogicalSchemas(
  sql: Sql,
  idOrg: number,
  idSch: number,
): Promise<readonly Pick<StoredLogicalSchema, 'idLschma' | 'variant'>[]> {
  if (!isId(idSch)) return [];
  return sql<{ idLschma: number; variant: boolean }[]>`
    select l.id_lschma as "idLschma", l.variant from svc.logical_schema l join svc.origin s using (id_sch)
     where l.id_sch = ${idSch} and s.id_org = ${idOrg} order by l.id_lschma desc`;
}

interface ModelColumns {
  readonly packed_plan: Uint8Array;
  readonly packed_mappings: Uint8Array;
}

interface MapColumns {
  readonly packed_mappings: Uint8Array;
  readonly packed_structure: Uint8Array;
}

/** Unpacks a model. Parts of its plan that are not used are not decoded, nor are its mappings. */
async function readModel({ packed_plan, packed_mappings }: ModelColumns): Promise<RelationalModel> {
  return unpackRelationalModel(await inflatedApart(packed_plan), () => inflated(packed_mappings));
}

async function readLines({ packed_mappings, packed_structure }: MapColumns): Promise<MapLine[]> {
  return mapLines(
    await entriesInSlices(await inflatedApart(packed_mappings)),
    await entriesInSlices(await inflatedApart(packed_structure)),
  );
}

export async function listModelHashes(
  sql: Sql,
  idOrg: number,
  idLschmas: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const rows = await sql<{ id: number; hash: string }[]>`
    select l.id_lschma as id, l.model_hash as hash from svc.logical_schema l join svc.origin s using (id_sch)
     where s.id_org = ${idOrg} and l.id_lschma in (select json_array_elements_text(${JSON.stringify(idLschmas.filter(isId))}::text::json)::bigint)`;
  return new Map(rows.map(({ id, hash }) => [id, hash]));
}

export async function listModels(
  sql: Sql,
  idOrg: number,
  idLschmas: readonly number[],
): ReturnType<CatalogStore['listModels']> {
  const rows = await sql<(ModelColumns & { id: number; table_ids: string; column_ids: string })[]>`
    select l.id_lschma as id, l.packed_plan, l.packed_mappings, l.table_ids, l.column_ids
      from svc.logical_schema l join svc.origin s using (id_sch)
     where s.id_org = ${idOrg} and l.id_lschma in (select json_array_elements_text(${JSON.stringify(idLschmas.filter(isId))}::text::json)::bigint)`;
  const models = new Map<number, { tables: readonly TableRecord[]; model: RelationalModel }>();
  for (const row of rows) {
    const model = await readModel(row);
    const tables = await tableRecords(
      model,
      idsOf(JSON.parse(row.table_ids) as IdRuns),
      idsOf(JSON.parse(row.column_ids) as IdRuns),
    );
    models.set(row.id, { tables, model });
  }
  return models;
}

export async function listTables(sql: Sql, idOrg: number, idLschma: number): Promise<readonly TableRecord[]> {
  if (!isId(idLschma)) return [];
  const [row] = await sql<(ModelColumns & { table_ids: string; column_ids: string })[]>`
    select l.packed_plan, l.packed_mappings, l.table_ids, l.column_ids
      from svc.logical_schema l join svc.origin s using (id_sch)
     where l.id_lschma = ${idLschma} and s.id_org = ${idOrg}`;
  if (row === undefined) return [];
  const { table_ids, column_ids } = row;
  return await tableRecords(
    await readModel(row),
    idsOf(JSON.parse(table_ids) as IdRuns),
    idsOf(JSON.parse(column_ids) as IdRuns),
  );
}

export async function listMappings(
  sql: Sql,
  idOrg: number,
  idLschma: number,
  which?: 'inactive',
): Promise<readonly MappingRecord[]> {
  if (!isId(idLschma)) return [];
  const [row] = await sql<
    (ModelColumns &
      MapColumns & { id_sch: number; table_ids: string; mapping_ids: string; inactive: string })[]
  >`
    select l.id_sch, l.packed_plan, l.packed_mappings, l.packed_structure, l.table_ids, l.mapping_ids,
           (select coalesce(json_agg(i.place), '[]')::text from svc.inactive_mapping i where i.id_lschma = l.id_lschma) as inactive
      from svc.logical_schema l join svc.origin s using (id_sch)
     where l.id_lschma = ${idLschma} and s.id_org = ${idOrg}`;
  if (row === undefined) return [];
  const inactive = new Set(JSON.parse(row.inactive) as number[]);
  // most maps have none, and reading a long map takes seconds
  if (which === 'inactive' && inactive.size === 0) return [];
  const lines = await mappingRecords(
    await readModel(row),
    await readLines(row),
    {
      idSch: row.id_sch,
      idLschma,
      tables: idsOf(JSON.parse(row.table_ids) as IdRuns),
      mappings: idsOf(JSON.parse(row.mapping_ids) as IdRuns),
    },
    inactive,
  );
  return which === 'inactive' ? lines.filter(({ active }) => !active) : lines;
}

/** SHA-256 of a model in packed form, plan before mappings. */
async function hashOf({ plan, mappings }: PackedRelationalModel): Promise<string> {
  const bytes = new Uint8Array(plan.length + mappings.length);
  bytes.set(plan);
  bytes.set(mappings, plan.length);
  const digest = await crypto.subtle.digest('SHA-256', bytes);
  return Buffer.from(digest).toString('hex');
}

// Catalogue lines of a relational model: its tables, its columns, and its source-to-target map.

/** The reference target for the document key of a root table's rows: a table beside the model (docs/decisions/model/side-tables.md). */
const documentReference = '_documents.document_key';

/** A line of the stored map. A line without a kind of content is that of a column of structure. */
type MapLine = Omit<MappingEntry, 'nodeType'> & { readonly nodeType: MappingEntry['nodeType'] | null };

/** Returns a line of the map for every column of structure that the model's mappings leave out. */
async function structureLines(model: RelationalModel): Promise<MapLine[]> {
  const covered = model.tables.map((): Set<number> => new Set());
  for (const { table, column } of await readMappings(model)) if (column !== null) covered[table]?.add(column);
  const lines = await mapInSlices(model.tables, (table, t) =>
    table.columns.flatMap((column, c): MapLine[] => {
      const line = covered[t]!.has(c) ? null : structureLine(column);
      if (line === null) return [];
      return [
        { ...line, nodeType: null, minOccurs: column.nullable ? 0 : 1, maxOccurs: 1, table: t, column: c },
      ];
    }),
  );
  return lines.flat();
}

/** The whole map: table by table, in column order. Lines are known by their place in it: never change the order. */
function mapLines(mappings: readonly MapLine[], structure: readonly MapLine[]): MapLine[] {
  return [...mappings, ...structure].toSorted(
    (a, b) => a.table - b.table || (a.column ?? -1) - (b.column ?? -1),
  );
}

/** `ids`: of the tables, and of the columns table by table. */
function tableRecords(
  model: RelationalModel,
  idsOfTables: readonly number[],
  idsOfColumns: readonly number[],
): Promise<TableRecord[]> {
  let nextColumn = 0;
  const roots = rootTables(model);
  const holders = keyHolders(model);
  return mapInSlices(model.tables, (table, t) => ({
    id_tab: idsOfTables[t]!,
    name: table.name,
    xpath: table.xpath,
    parent_table: parentTable(model, table, t, holders.get(t)?.[0]?.table),
    columns: table.columns.map((column, c) => ({
      id_col: idsOfColumns[nextColumn++]!,
      name: column.name,
      data_type: bareTypeName(column.type),
      length: column.type.length ?? null,
      precision: column.type.precision ?? null,
      scale: column.type.scale ?? null,
      nullable: column.nullable,
      ...keyOf(model, table, c, roots.has(t)),
      xpath: column.xpath,
    })),
  }));
}

interface LineIds {
  readonly idSch: number;
  readonly idLschma: number;
  readonly tables: readonly number[];
  readonly mappings: readonly number[];
}

/** `lines` as `mapLines` orders them; `inactive`: places of those that are switched off. */
function mappingRecords(
  model: Pick<RelationalModel, 'tables' | 'roots' | 'nodes'>,
  lines: readonly MapLine[],
  ids: LineIds,
  inactive: ReadonlySet<number>,
): Promise<MappingRecord[]> {
  const roots = rootTables(model);
  return mapInSlices(lines, (line, index) => {
    const table = model.tables[line.table]!;
    const column = line.column === null ? undefined : table.columns[line.column];
    return {
      id_map: ids.mappings[index]!,
      id_sch: ids.idSch,
      id_lschma: ids.idLschma,
      xpath: line.xpath,
      node_type: hasContent(line) ? line.nodeType : null,
      source_type: line.sourceType,
      min_occurs: line.minOccurs,
      max_occurs: line.maxOccurs,
      id_tab: ids.tables[line.table]!,
      table_name: table.name,
      column_name: column?.name ?? null,
      data_type: column === undefined ? null : bareTypeName(column.type),
      length: column?.type.length ?? null,
      nullable: column?.nullable ?? false,
      key: line.column === null ? null : keyKind(table, line.column, roots.has(line.table)),
      active: !inactive.has(index),
      documentation: line.documentation ?? null,
    };
  });
}

/**
 * `isRoot`: the table has rows of root elements; in other tables the keys of the parents lead to the document, and no foreign key
 * checks its own.
 */
function keyKind({ columns }: Table, column: number, isRoot: boolean): 'PK' | 'FK' | null {
  const { role, references } = columns[column] ?? { role: 'value', references: null };
  if (role === 'row_key') return 'PK';
  return (role === 'document' && isRoot) || references !== null ? 'FK' : null;
}

function keyOf(
  model: RelationalModel,
  table: Table,
  column: number,
  isRoot: boolean,
): { readonly key: 'PK' | 'FK' | null; readonly references: string | null } {
  const key = keyKind(table, column, isRoot);
  const { role, references } = table.columns[column] ?? { role: 'value', references: null };
  if (role === 'document') return { key, references: key === null ? null : documentReference };
  // in a table that continues the rows of another, the primary key is also a foreign key
  if (key === null || references === null) return { key, references: null };
  const parent = model.tables[references];
  const rowKey = parent?.columns.find((candidate) => candidate.role === 'row_key');
  return { key, references: rowKey === undefined ? null : `${parent!.name}.${rowKey.name}` };
}

/** Returns the first table whose key this one holds, or that holds keys of this one; the table itself only if there is no other. */
function parentTable(
  model: RelationalModel,
  table: Table,
  self: number,
  holder: number | undefined,
): string | null {
  const keys = table.columns.flatMap(({ role, references }) =>
    role === 'child_key' || references === null ? [] : [references],
  );
  const parents = holder === undefined ? keys : [...keys, holder];
  const parent = parents.find((index) => index !== self) ?? parents[0];
  return parent === undefined ? null : (model.tables[parent]?.name ?? null);
}

// Ids of the parts of a stored model.

/** `[first id, number of ids]`, in the order of the parts. */
type IdRuns = readonly (readonly [first: number, count: number])[];

/** The ids of all parts, in their order. */
function idsOf(runs: IdRuns): number[] {
  const ids: number[] = [];
  for (const [first, count] of runs) for (let id = first; id < first + count; id += 1) ids.push(id);
  return ids;
}

/** Place of the part with that id, from 0; -1 when there is none. */
function indexOfId(runs: IdRuns, id: number): number {
  let before = 0;
  for (const [first, count] of runs) {
    if (id >= first && id < first + count) return before + id - first;
    before += count;
  }
  return -1;
}

interface ModelIds {
  readonly tables: IdRuns;
  readonly columns: IdRuns;
  readonly mappings: IdRuns;
}

/** Takes ids nobody had. Who asks next waits until this transaction ends. */
async function takeModelIds(
  tx: TransactionSql,
  counts: { readonly tables: number; readonly columns: number; readonly mappings: number },
): Promise<ModelIds> {
  const { tables, columns, mappings } = counts;
  const [taken] = await tx<{ id_tab: number; id_col: number; id_map: number }[]>`
    update svc.next_model_id
       set id_tab = id_tab + ${tables}, id_col = id_col + ${columns}, id_map = id_map + ${mappings}
    returning id_tab, id_col, id_map`;
  if (taken === undefined) throw new Error('svc.next_model_id has no row');
  return {
    tables: [[taken.id_tab - tables, tables]],
    columns: [[taken.id_col - columns, columns]],
    mappings: [[taken.id_map - mappings, mappings]],
  };
}

// The form in which the summary of a model is stored.

type PackedTable = readonly [name: string, xpath: string, columnCount: number, rowKey: string | null];

/** The columns of `svc.logical_schema` that hold a summary. */
interface SummaryColumns {
  readonly table_summaries: string;
  readonly sequence_count: number;
  readonly key_count: number;
}

function packSummary(summary: ModelSummary): SummaryColumns {
  const tables = summary.tables.map(({ name, xpath, columnCount, rowKey }): PackedTable => [
    name,
    xpath,
    columnCount,
    rowKey,
  ]);
  return {
    table_summaries: JSON.stringify(tables),
    sequence_count: sequenceCount(summary),
    key_count: summary.keyCount,
  };
}

function unpackTables(text: string): TableSummary[] {
  return (JSON.parse(text) as PackedTable[]).map(([name, xpath, columnCount, rowKey]) => ({
    name,
    xpath,
    columnCount,
    rowKey,
  }));
}

// Summaries of stored models.

export async function listModelSummaries(
  sql: Sql,
  idOrg: number,
  idLschmas: readonly number[],
): Promise<Map<number, ModelSummary>> {
  const rows = await sql<{ id: number; tables: string; keys: number }[]>`
    select l.id_lschma as id, l.table_summaries as tables, l.key_count as keys
      from json_array_elements_text(${JSON.stringify(idLschmas.filter(isId))}::text::json) wanted
      join svc.logical_schema l on l.id_lschma = wanted::bigint join svc.origin s using (id_sch)
     where s.id_org = ${idOrg}`;
  return new Map(rows.map(({ id, tables, keys }) => [id, { tables: unpackTables(tables), keyCount: keys }]));
}

// The inputs that pruned models were drawn from: the same model is not drawn again.

/** limit for one logical schema: statistics of documents keep growing, so earlier ones do not recur */
const maxRemembered = 32;

/** Chooses among logical schemas with the same model like `createLogicalSchema`. */
export async function findDrawnSchema(
  sql: Sql,
  idOrg: number,
  idSch: number,
  fingerprint: string,
): Promise<number | null> {
  if (!isId(idSch)) return null;
  const [row] = await sql<{ id_lschma: number }[]>`
    select l.id_lschma from svc.logical_schema l join svc.origin s using (id_sch)
     where l.id_sch = ${idSch} and s.id_org = ${idOrg}
       and l.model_hash in (select d.model_hash from svc.logical_schema d
                             where d.id_sch = ${idSch} and ${fingerprint} = any(d.drawn_from))
     order by l.variant, l.id_lschma desc limit 1`;
  return row?.id_lschma ?? null;
}

/** A logical schema that is gone already is not remembered. */
export async function rememberDrawnSchema(
  sql: Sql,
  idOrg: number,
  idLschma: number,
  fingerprints: readonly string[],
): Promise<void> {
  if (!isId(idLschma)) return;
  await sql`
    update svc.logical_schema l
       set drawn_from = (
             select array_agg(known.print order by known.place)
               from (select given.print, given.place
                       from unnest(l.drawn_from || array(select json_array_elements_text(${JSON.stringify(fingerprints)}::text::json)))
                            with ordinality given (print, place)
                      order by given.place desc limit ${maxRemembered}) known)
      from svc.origin s
     where l.id_lschma = ${idLschma} and s.id_sch = l.id_sch and s.id_org = ${idOrg}`;
}
