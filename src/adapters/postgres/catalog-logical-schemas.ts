/** Logical schemas: the relational model as JSON, and its tables, columns and mappings as rows. */
import type {
  ColumnType,
  MappingEntry,
  RelationalModel,
  Table,
} from '../../engine/model/relational-model.ts';
import { AppError } from '../../errors.ts';
import type { MappingRecord, StoredLogicalSchema, TableRecord } from '../../ports/catalog-store.ts';
import { isId } from './connect.ts';
import type { Sql, TransactionSql } from './connect.ts';

/** What the document key of a root table's rows refers to: a table beside the model (engine.md §11). */
const documentReference = '_documents.document_key';

/** Columns that hold no source content, yet belong to the source-to-target map: the key and position of the row. */
const ownMappingRoles: ReadonlySet<string> = new Set([
  'row_key',
  'parent_key',
  'position',
  'document',
  'folded_position',
]);

export async function createLogicalSchema(
  sql: Sql,
  idOrg: number,
  idSch: number,
  model: RelationalModel,
  idJob: number | null,
): Promise<StoredLogicalSchema> {
  const json = JSON.stringify(model);
  const modelHash = await sha256(json);
  return sql.begin(async (tx) => {
    const [origin] = isId(idSch)
      ? await tx`select 1 from svc.origin where id_sch = ${idSch} and id_org = ${idOrg} for no key update`
      : [];
    if (origin === undefined) throw new AppError('not_found', `there is no schema ${idSch}`);
    const [newest] = await tx<{ id_lschma: number; model_hash: string }[]>`
      select id_lschma, model_hash from svc.logical_schema where id_sch = ${idSch} order by id_lschma desc limit 1`;
    if (newest?.model_hash === modelHash) return { idSch, idLschma: newest.id_lschma, model, modelHash };
    const mappings = mappingRows(model);
    const [made] = await tx<{ id_lschma: number }[]>`
      insert into svc.logical_schema (id_sch, id_job, map_level, max_length, table_count, mapping_count, model, model_hash)
      values (${idSch}, ${idJob}, ${model.mapLevel}, ${model.nameMaxLength}, ${model.tables.length}, ${mappings.length}, ${json}, ${modelHash})
      returning id_lschma`;
    if (made === undefined) throw new Error('the insert answered no row');
    await insertTables(tx, made.id_lschma, model);
    await insertMappings(tx, made.id_lschma, mappings);
    if (newest !== undefined) await carryActivationOver(tx, newest.id_lschma, made.id_lschma);
    return { idSch, idLschma: made.id_lschma, model, modelHash };
  });
}

async function insertTables(tx: TransactionSql, idLschma: number, model: RelationalModel): Promise<void> {
  const tables = model.tables.map((table, position) => ({
    position,
    name: table.name,
    xpath: table.xpath,
    parent_table: parentTable(model, table, position),
  }));
  await tx`
    insert into svc.logical_table (id_lschma, position, name, xpath, parent_table)
    select ${idLschma}, position, name, xpath, parent_table
      from json_to_recordset(${JSON.stringify(tables)}::text::json) as t(position int, name text, xpath text, parent_table text)
     order by position`;
  const columns = model.tables.flatMap((table, t) =>
    table.columns.map((column, position) => ({
      t,
      position,
      name: column.name,
      role: column.role,
      data_type: typeName(column.type),
      length: column.type.length,
      precision: column.type.precision,
      scale: column.type.scale,
      nullable: column.nullable,
      xpath: column.xpath,
      ...keyOf(model, table, position),
    })),
  );
  await tx`
    insert into svc.logical_column (id_tab, position, name, role, data_type, length, precision, scale, nullable, key, refers_to, xpath)
    select l.id_tab, c.position, c.name, c.role, c.data_type, c.length, c.precision, c.scale, c.nullable, c.key, c.refers_to, c.xpath
      from json_to_recordset(${JSON.stringify(columns)}::text::json) as c(
             t int, position int, name text, role text, data_type text, length int, precision int, scale int, nullable boolean,
             key text, refers_to text, xpath text)
      join svc.logical_table l on l.id_lschma = ${idLschma} and l.position = c.t
     order by c.t, c.position`;
}

async function insertMappings(
  tx: TransactionSql,
  idLschma: number,
  mappings: readonly MappingEntry[],
): Promise<void> {
  const rows = mappings.map((entry, position) => ({
    position,
    t: entry.table,
    c: entry.column,
    xpath: entry.xpath,
    node_type: entry.nodeType,
    source_type: entry.sourceType,
    min_occurs: entry.minOccurs,
    max_occurs: entry.maxOccurs,
    documentation: entry.documentation,
    active: entry.active ?? true,
  }));
  await tx`
    insert into svc.mapping (id_lschma, id_tab, id_col, xpath, node_type, source_type, min_occurs, max_occurs, documentation, active)
    select ${idLschma}, l.id_tab, k.id_col, m.xpath, m.node_type, m.source_type, m.min_occurs, m.max_occurs, m.documentation, m.active
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as m(
             position int, t int, c int, xpath text, node_type text, source_type text, min_occurs bigint, max_occurs bigint, documentation text,
             active boolean)
      join svc.logical_table l on l.id_lschma = ${idLschma} and l.position = m.t
      left join svc.logical_column k on k.id_tab = l.id_tab and k.position = m.c
     order by m.position`;
}

interface MappedContent {
  readonly xpath: string;
  readonly node_type: string;
  readonly source_type: string;
}

/**
 * What was switched off stays off: the same path, and the same kind of content there. Both maps may be long and are new to the
 * planner, which would compare each line with each: they are matched here, and only where something was switched off at all.
 */
async function carryActivationOver(tx: TransactionSql, from: number, to: number): Promise<void> {
  const inactive = await tx<MappedContent[]>`
    select xpath, node_type, source_type from svc.mapping where id_lschma = ${from} and not active and xpath is not null`;
  if (inactive.length === 0) return;
  const contentOf = ({ xpath, node_type, source_type }: MappedContent): string =>
    JSON.stringify([xpath, node_type, node_type === 'any' ? source_type : null]);
  const known = new Set(inactive.map(contentOf));
  const made = await tx<(MappedContent & { readonly id_map: number })[]>`
    select id_map, xpath, node_type, source_type from svc.mapping where id_lschma = ${to} and xpath is not null`;
  const ids = made.filter((entry) => known.has(contentOf(entry))).map((entry) => entry.id_map);
  await tx`
    update svc.mapping set active = false
     where id_map in (select json_array_elements_text(${JSON.stringify(ids)}::text::json)::bigint)`;
}

export async function setMappingsActive(
  sql: Sql,
  idOrg: number,
  idLschma: number,
  idMaps: readonly number[],
  active: boolean,
): Promise<{ readonly changed: number; readonly activeCount: number; readonly inactiveCount: number }> {
  return sql.begin(async (tx) => {
    const wanted = [...new Set(idMaps)];
    const lines = isId(idLschma)
      ? await tx<{ id_map: number; active: boolean }[]>`
          select m.id_map, m.active
            from svc.mapping m join svc.logical_schema l using (id_lschma) join svc.origin s using (id_sch)
           where m.id_lschma = ${idLschma} and s.id_org = ${idOrg}
           order by m.id_map for update of m`
      : [];
    const known = new Map(lines.map((line) => [line.id_map, line.active]));
    const missing = wanted.find((id) => !known.has(id));
    if (missing !== undefined) throw new AppError('not_found', `there is no mapping ${missing}`);
    const changed = wanted.filter((id) => known.get(id) !== active);
    await tx`
      update svc.mapping set active = ${active}
       where id_map in (select json_array_elements_text(${JSON.stringify(changed)}::text::json)::bigint)`;
    for (const id of changed) known.set(id, active);
    const activeCount = [...known.values()].filter(Boolean).length;
    return { changed: changed.length, activeCount, inactiveCount: known.size - activeCount };
  });
}

/** The model's mappings, and one for every key and position column they leave out; table by table, in column order. */
function mappingRows(model: RelationalModel): MappingEntry[] {
  const covered = new Set(model.mappings.map((entry) => `${entry.table}/${entry.column}`));
  const own = model.tables.flatMap((table, t) =>
    table.columns.flatMap((column, c): MappingEntry[] =>
      ownMappingRoles.has(column.role) && !covered.has(`${t}/${c}`)
        ? [
            {
              xpath: null,
              nodeType: 'element',
              sourceType: '',
              minOccurs: column.nullable ? 0 : 1,
              maxOccurs: 1,
              table: t,
              column: c,
            },
          ]
        : [],
    ),
  );
  return [...model.mappings, ...own].toSorted(
    (a, b) => a.table - b.table || (a.column ?? -1) - (b.column ?? -1),
  );
}

function keyOf(
  model: RelationalModel,
  table: Table,
  column: number,
): { readonly key: 'PK' | 'FK' | null; readonly refers_to: string | null } {
  const { role, references } = table.columns[column] ?? { role: 'value', references: null };
  if (role === 'row_key') return { key: 'PK', refers_to: null };
  if (role === 'document') return { key: 'FK', refers_to: documentReference };
  const parent = references === null ? undefined : model.tables[references];
  if (role !== 'parent_key' || parent === undefined) return { key: null, refers_to: null };
  const rowKey = parent.columns.find((candidate) => candidate.role === 'row_key');
  return { key: 'FK', refers_to: rowKey === undefined ? null : `${parent.name}.${rowKey.name}` };
}

/** The first table whose key this one holds; itself only when there is no other. */
function parentTable(model: RelationalModel, table: Table, self: number): string | null {
  const parents = table.columns.flatMap((column) =>
    column.role === 'parent_key' && column.references !== null ? [column.references] : [],
  );
  const parent = parents.find((index) => index !== self) ?? parents[0];
  return parent === undefined ? null : (model.tables[parent]?.name ?? null);
}

function typeName(type: ColumnType): string {
  return type.list === true ? `${type.kind}[]` : type.kind;
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
  const [row] = await sql<{ id_sch: number; id_lschma: number; model: string; model_hash: string }[]>`
    select l.id_sch, l.id_lschma, l.model, l.model_hash
      from svc.logical_schema l join svc.origin s using (id_sch)
     where s.id_org = ${idOrg} and ${chosen}
     order by l.id_lschma desc limit 1`;
  if (row === undefined) return null;
  return {
    idSch: row.id_sch,
    idLschma: row.id_lschma,
    model: JSON.parse(row.model) as RelationalModel,
    modelHash: row.model_hash,
  };
}

export async function listTables(sql: Sql, idOrg: number, idLschma: number): Promise<readonly TableRecord[]> {
  if (!isId(idLschma)) return [];
  return sql<TableRecord[]>`
    select t.id_tab, t.name, t.xpath, t.parent_table,
           (select coalesce(json_agg(json_build_object(
                     'id_col', c.id_col, 'name', c.name, 'data_type', c.data_type, 'length', c.length, 'precision', c.precision,
                     'scale', c.scale, 'nullable', c.nullable, 'key', c.key, 'references', c.refers_to, 'xpath', c.xpath) order by c.position), '[]')
              from svc.logical_column c where c.id_tab = t.id_tab) as columns
      from svc.logical_table t join svc.logical_schema l using (id_lschma) join svc.origin s using (id_sch)
     where t.id_lschma = ${idLschma} and s.id_org = ${idOrg}
     order by t.position`;
}

export async function listMappings(
  sql: Sql,
  idOrg: number,
  idLschma: number,
): Promise<readonly MappingRecord[]> {
  if (!isId(idLschma)) return [];
  return sql<MappingRecord[]>`
    select m.id_map, l.id_sch, m.id_lschma, m.xpath, m.node_type, m.source_type, m.min_occurs, m.max_occurs, m.id_tab,
           t.name as table_name, c.name as column_name, c.data_type, c.length, coalesce(c.nullable, false) as nullable, c.key, m.active,
           m.documentation
      from svc.mapping m
      join svc.logical_schema l using (id_lschma) join svc.origin s using (id_sch)
      join svc.logical_table t on t.id_tab = m.id_tab
      left join svc.logical_column c on c.id_col = m.id_col
     where m.id_lschma = ${idLschma} and s.id_org = ${idOrg}
     order by m.id_map`;
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
