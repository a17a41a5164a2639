/** Origins: source models, their names and versions, their statistics. */
import {
  maySchemaBeCalled,
  type ListSlice,
  type NewOrigin,
  type OriginFile,
  type OriginRecord,
  type OriginVersion,
  type StoredOrigin,
  type NewOriginFile,
  type OriginFileContent,
  type CachedSet,
} from '../ports/stores/catalog.ts';
import type { DocumentStatistics } from '../engine/infer/statistics.ts';
import { packSourceModel, unpackSourceModel, unpackRelationalModel } from '../engine/model/packed/models.ts';
import type { SourceModel } from '../engine/model/source-model.ts';
import { AppError } from '../errors.ts';
import { isId, type Sql, type TransactionSql, storable } from '../postgres/connect.ts';
import { deflated, inflated } from '../postgres/row-tap.ts';
import type { Diagnostic } from '../engine/diagnostics.ts';

export async function createOrigin(sql: Sql, origin: NewOrigin): Promise<OriginRecord> {
  const { idOrg, name, idParentSch } = origin;
  if (!maySchemaBeCalled(name)) {
    throw new AppError('invalid_parameter', `a schema cannot be called ${JSON.stringify(name)}`);
  }
  const model = await deflated(packSourceModel(origin.model));
  return sql.begin(async (tx) => {
    const family = idParentSch === null ? null : await lockFamily(tx, idOrg, idParentSch);
    const taken = (): AppError =>
      new AppError(
        'conflict',
        `a schema called ${JSON.stringify(name)} already exists: choose another name, or make the next version of that schema (--parent)`,
      );
    // asked first, so that a name that is tried in vain costs no id; the insert below decides between two at once
    const [known] = await tx<{ id_family: number }[]>`
      select id_family from svc.origin_name where id_org = ${idOrg} and name = ${name}`;
    if (known !== undefined && known.id_family !== family) throw taken();
    const [row] = await tx<{ id_sch: number }[]>`
      with next as (select nextval(pg_get_serial_sequence('svc.origin', 'id_sch')) as id)
      insert into svc.origin (id_sch, id_org, id_family, id_parent_sch, id_job, name, version, source_type, root_elements, target_namespace,
                              namespaces, packed_model)
      select id, ${idOrg}, coalesce(${family}::bigint, id), ${idParentSch}, ${origin.idJob}, ${name},
             coalesce((select max(version) from svc.origin where id_family = ${family}), 0) + 1, ${origin.sourceType},
             ${JSON.stringify(rootElements(origin.model))}, ${origin.model.targetNamespace}, ${JSON.stringify(origin.model.namespaces)},
             ${model}
        from next
      returning id_sch`;
    if (row === undefined) throw new Error('the insert answered no row');
    const owner = family ?? row.id_sch;
    const [kept] = await tx<{ id_family: number }[]>`
      insert into svc.origin_name (id_org, name, id_family) values (${idOrg}, ${name}, ${owner})
      on conflict (id_org, name) do update set id_family = svc.origin_name.id_family
      returning id_family`;
    if (kept?.id_family !== owner) throw taken();
    await insertOriginFiles(tx, idOrg, row.id_sch, origin.files);
    const [record] = await selectOrigins(tx, idOrg, row.id_sch, null);
    if (record === undefined) throw new Error('the new origin cannot be read');
    return record;
  });
}

/** The parent's family, locked so that versions are numbered one after the other. */
async function lockFamily(tx: TransactionSql, idOrg: number, idParentSch: number): Promise<number> {
  const [parent] = isId(idParentSch)
    ? await tx<
        { id_family: number }[]
      >`select id_family from svc.origin where id_sch = ${idParentSch} and id_org = ${idOrg}`
    : [];
  if (parent === undefined) throw new AppError('not_found', `there is no schema ${idParentSch}`);
  await tx`select 1 from svc.origin_name where id_family = ${parent.id_family} order by name for no key update`;
  return parent.id_family;
}

/** Returns local names, with a prefix if the namespace is not the target's. */
function rootElements(model: SourceModel): string[] {
  const prefixes = new Map(Object.entries(model.namespaces).map(([prefix, uri]) => [uri, prefix]));
  const roots = model.primaryRoots > 0 ? model.roots.slice(0, model.primaryRoots) : model.roots;
  return roots.flatMap((index) => {
    const name = model.elements[index]?.name;
    if (name === undefined) return [];
    const prefix =
      model.targetNamespace === null || name.namespaceUri === model.targetNamespace
        ? undefined
        : prefixes.get(name.namespaceUri);
    return [prefix === undefined ? name.localName : `${prefix}:${name.localName}`];
  });
}

interface OriginRow extends Omit<OriginRecord, 'root_elements' | 'namespaces' | 'files'> {
  readonly root_elements: string;
  readonly namespaces: string;
  readonly files: readonly OriginFile[];
}

/** A query for the logical schema that is shown of the origin `s`, or the one named. */
function defaultSchema(sql: Sql | TransactionSql, idLschma: number | null) {
  return sql`
    select * from svc.logical_schema x
     where x.id_sch = s.id_sch and (${idLschma}::bigint is null or x.id_lschma = ${idLschma})
     order by x.id_lschma = s.loaded_lschma desc nulls last, x.variant, x.id_lschma desc limit 1`;
}

/** Every origin of the organisation, or one; with its default logical schema, or the one named. Newest first. */
async function selectOrigins(
  sql: Sql | TransactionSql,
  idOrg: number,
  idSch: number | null,
  idLschma: number | null,
  slice: ListSlice | null = null,
): Promise<OriginRecord[]> {
  const rows = await sql<OriginRow[]>`
    select s.id_sch, s.id_org, s.id_parent_sch, l.id_lschma, s.id_job, s.name, s.version, s.source_type, s.root_elements,
           s.target_namespace, s.namespaces,
           coalesce((select json_agg(json_build_object('name', f.name, 'bytes', f.bytes, 'sha256', f.sha256) order by f.position)
                       from svc.origin_file f where f.id_sch = s.id_sch), '[]') as files,
           coalesce(l.map_level, 0) as map_level, coalesce(l.max_length, 63) as max_length,
           coalesce(l.table_count, 0) as table_count, coalesce(l.mapping_count, 0) as mapping_count,
           svc.epoch_ms(s.created) as created
      from svc.origin s
      left join lateral (${defaultSchema(sql, idLschma)}) l on true
     where s.id_org = ${idOrg} and (${idSch}::bigint is null or s.id_sch = ${idSch})
       and (${idLschma}::bigint is null or l.id_lschma is not null)
     order by s.id_sch desc limit ${slice?.limit ?? null} offset ${slice?.offset ?? 0}`;
  return rows.map((row) => ({
    ...row,
    root_elements: JSON.parse(row.root_elements) as string[],
    namespaces: JSON.parse(row.namespaces) as Record<string, string>,
  }));
}

export async function listOrigins(
  sql: Sql,
  idOrg: number,
  slice?: ListSlice,
): Promise<readonly OriginRecord[]> {
  return selectOrigins(sql, idOrg, null, null, slice);
}

export async function listOriginVersions(sql: Sql, idOrg: number): Promise<readonly OriginVersion[]> {
  return sql<OriginVersion[]>`
    select s.id_sch, s.id_parent_sch, s.name, s.version, l.id_lschma, coalesce(l.table_count, 0) as table_count, l.sequence_count, l.key_count
      from svc.origin s left join lateral (${defaultSchema(sql, null)}) l on true
     where s.id_org = ${idOrg}
     order by s.id_sch desc`;
}

export async function findOrigin(
  sql: Sql,
  idOrg: number,
  idSch: number,
  idLschma?: number,
): Promise<OriginRecord | null> {
  if (!isId(idSch) || (idLschma !== undefined && !isId(idLschma))) return null;
  const [record] = await selectOrigins(sql, idOrg, idSch, idLschma ?? null);
  return record ?? null;
}

export async function loadOrigin(sql: Sql, idOrg: number, idSch: number): Promise<StoredOrigin | null> {
  if (!isId(idSch)) return null;
  // both on their way at once: every job begins with them
  const [record, [row]] = await Promise.all([
    findOrigin(sql, idOrg, idSch),
    sql<
      { packed_model: Uint8Array; statistics: string | null }[]
    >`select packed_model, statistics from svc.origin where id_sch = ${idSch} and id_org = ${idOrg}`,
  ]);
  if (record === null || row === undefined) return null;
  return {
    record,
    model: unpackSourceModel(inflated(row.packed_model)),
    statistics: row.statistics === null ? null : (JSON.parse(row.statistics) as unknown),
  };
}

export async function saveStatistics(
  sql: Sql,
  idOrg: number,
  idSch: number,
  idJob: number | null,
  statistics: unknown,
  merge: (earlier: readonly unknown[]) => unknown,
): Promise<void> {
  await sql.begin(async (tx) => {
    // locked until the end: jobs that end at once are merged one after the other
    const [origin] = isId(idSch)
      ? await tx<{ statistics: string | null; again: boolean }[]>`
          select s.statistics,
                 exists (select from svc.job_statistics t where t.id_job = ${idJob} and t.id_sch = s.id_sch) as again
            from svc.origin s where s.id_sch = ${idSch} and s.id_org = ${idOrg} for no key update`
      : [];
    if (origin === undefined) throw new AppError('not_found', `there is no schema ${idSch}`);
    const earlier = origin.again
      ? await tx<{ statistics: string }[]>`
          select statistics from svc.job_statistics
           where id_sch = ${idSch} and id_job is distinct from ${idJob} order by id_statistics`
      : [origin];
    const merged = merge(
      earlier.flatMap(({ statistics: text }) => (text === null ? [] : [JSON.parse(text) as unknown])),
    );
    await tx`update svc.origin set statistics = ${JSON.stringify(merged)} where id_sch = ${idSch}`;
    // A later attempt of the same job replaces the statistics of an earlier one.
    await tx`
      insert into svc.job_statistics (id_sch, id_job, statistics) values (${idSch}, ${idJob}, ${JSON.stringify(statistics)})
      on conflict (id_job) do update set id_sch = excluded.id_sch, statistics = excluded.statistics, created = clock_timestamp()`;
  });
}

export async function loadStatistics(
  sql: Sql,
  idOrg: number,
  idJobs: readonly number[],
): Promise<readonly unknown[]> {
  const wanted = idJobs.filter(isId);
  const rows = await sql<{ id_job: number; statistics: string }[]>`
    select t.id_job, t.statistics from svc.job_statistics t join svc.origin s using (id_sch)
     where s.id_org = ${idOrg} and t.id_job in (select json_array_elements_text(${JSON.stringify(wanted)}::text::json)::bigint)`;
  const found = new Map(rows.map((row) => [row.id_job, row.statistics]));
  return idJobs.map((idJob) => {
    const statistics = found.get(idJob);
    if (statistics === undefined)
      throw new AppError('not_found', `there are no statistics of a job ${idJob}`);
    return JSON.parse(statistics) as unknown;
  });
}

export async function refineOrigin(
  sql: Sql,
  idOrg: number,
  idSch: number,
  model: SourceModel,
): Promise<void> {
  if (!isId(idSch)) throw new AppError('not_found', `there is no schema ${idSch}`);
  const packed = await deflated(packSourceModel(model));
  await sql.begin(async (tx) => {
    const changed = await tx`
      update svc.origin
         set packed_model = ${packed}, root_elements = ${JSON.stringify(rootElements(model))},
             namespaces = ${JSON.stringify(model.namespaces)}
       where id_sch = ${idSch} and id_org = ${idOrg}`;
    if (changed.count !== 1) throw new AppError('not_found', `there is no schema ${idSch}`);
    // the model no longer matches the compiled XSD set, nor the inputs that models were drawn from
    await tx`update svc.logical_schema set drawn_from = '{}' where id_sch = ${idSch}`;
    await tx`
      delete from svc.compiled_set
       where id_org = ${idOrg} and id_lschma in (select id_lschma from svc.logical_schema where id_sch = ${idSch})`;
  });
}

export async function loadJobStatistics(
  sql: Sql,
  idOrg: number,
  idSch: number,
  idJob: number,
): Promise<unknown> {
  if (!isId(idSch) || !isId(idJob)) return null;
  const [row] = await sql<{ statistics: string }[]>`
    select t.statistics from svc.job_statistics t join svc.origin s using (id_sch)
     where s.id_org = ${idOrg} and t.id_sch = ${idSch} and t.id_job = ${idJob}`;
  return row === undefined
    ? importedStatistics(sql, idOrg, idSch, idJob)
    : (JSON.parse(row.statistics) as unknown);
}

/**
 * Returns statistics that came with a package. They have no other job here than the import, whose number returns all of them together.
 */
async function importedStatistics(sql: Sql, idOrg: number, idSch: number, idJob: number): Promise<unknown> {
  const rows = await sql<{ statistics: string }[]>`
    select t.statistics
      from svc.job_statistics t join svc.origin s using (id_sch) join svc.job j on j.id_job = s.id_job
     where s.id_org = ${idOrg} and s.id_sch = ${idSch} and j.id_job = ${idJob} and j.job_type = 'Import' and t.id_job is null
     order by t.id_statistics`;
  const parts = rows.map(({ statistics }) => JSON.parse(statistics) as DocumentStatistics);
  if (parts.length === 0) return null;
  const { mergeStatistics } = await import('../engine/infer/merge-statistics.ts');
  return parts.reduce(mergeStatistics);
}

// The files of origins: their names, and the content of the files of XSD sets.

/** compressed bytes that one statement carries; a set of hundreds of files takes one or two */
const bytesPerStatement = 8 * 1024 * 1024;

/** Within the transaction that makes the origin. */
async function insertOriginFiles(
  tx: TransactionSql,
  idOrg: number,
  idSch: number,
  files: readonly NewOriginFile[],
): Promise<void> {
  const kept = new Map(
    files.flatMap(({ sha256, content }) => (content === undefined ? [] : [[sha256, content]])),
  );
  await keepContents(tx, idOrg, kept);
  const rows = files.map(({ name, bytes, sha256, content, entry }, position) => ({
    position,
    name: storable(name),
    bytes,
    sha256,
    kept: content !== undefined,
    entry: entry ?? null,
  }));
  await tx`
    insert into svc.origin_file (id_sch, position, name, bytes, sha256, id_content, entry)
    select ${idSch}, f.position, f.name, f.bytes, f.sha256, c.id_content, f.entry
      from json_to_recordset(${JSON.stringify(rows)}::text::json)
        as f(position int, name text, bytes bigint, sha256 text, kept boolean, entry boolean)
      left join svc.file_content c on f.kept and c.id_org = ${idOrg} and c.sha256 = f.sha256`;
}

/** Stores content that does not exist yet. Existing content is locked until the origin that refers to it is stored. */
async function keepContents(
  tx: TransactionSql,
  idOrg: number,
  contents: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  if (contents.size === 0) return;
  const known = await tx<{ sha256: string }[]>`
    select sha256 from svc.file_content
     where id_org = ${idOrg} and sha256 in (select json_array_elements_text(${JSON.stringify([...contents.keys()])}::text::json))
     order by sha256 for key share`;
  const missing = new Set(contents.keys());
  for (const { sha256 } of known) missing.delete(sha256);
  let batch: { sha256: string; content: string }[] = [];
  let bytes = 0;
  // in the same order everywhere, so that two origins with the same new files cannot deadlock
  for (const sha256 of [...missing].toSorted()) {
    const content = Buffer.from(await deflated(contents.get(sha256)!)).toString('base64');
    batch.push({ sha256, content });
    bytes += content.length;
    if (bytes < bytesPerStatement) continue;
    await insertContents(tx, idOrg, batch);
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) await insertContents(tx, idOrg, batch);
}

async function insertContents(
  tx: TransactionSql,
  idOrg: number,
  batch: readonly { readonly sha256: string; readonly content: string }[],
): Promise<void> {
  await tx`
    insert into svc.file_content (id_org, sha256, content)
    select ${idOrg}, sha256, decode(content, 'base64')
      from json_to_recordset(${JSON.stringify(batch)}::text::json) as f(sha256 text, content text)
    on conflict (id_org, sha256) do update set sha256 = excluded.sha256`;
}

/** The XSD files of an origin in their order; empty if it has none. */
export async function loadOriginFiles(
  sql: Sql | TransactionSql,
  idOrg: number,
  idSch: number,
): Promise<readonly OriginFileContent[]> {
  if (!isId(idSch)) return [];
  const rows = await sql<{ name: string; entry: boolean | null; content: Uint8Array }[]>`
    select f.name, f.entry, c.content
      from svc.origin_file f join svc.origin s using (id_sch) join svc.file_content c using (id_content)
     where f.id_sch = ${idSch} and s.id_org = ${idOrg} and s.source_type <> 'xml'
     order by f.position`;
  const files: OriginFileContent[] = [];
  for (const { name, entry, content } of rows) files.push({ name, entry, content: await inflated(content) });
  return files;
}

/** Removes contents that no origin refers to any more, except those of an origin that is being made. */
export async function dropUnusedContents(tx: TransactionSql, contents: readonly number[]): Promise<void> {
  if (contents.length === 0) return;
  const locked = await tx<{ id_content: number }[]>`
    select id_content from svc.file_content
     where id_content in (select json_array_elements_text(${JSON.stringify(contents)}::text::json)::bigint)
     order by sha256 for update skip locked`;
  const ids = JSON.stringify(locked.map(({ id_content: id }) => id));
  await tx`
    delete from svc.file_content c
     where c.id_content in (select json_array_elements_text(${ids}::text::json)::bigint)
       and not exists (select from svc.origin_file f where f.id_content = c.id_content)`;
}

// The cache of compiled XSD sets: the same set with the same options is not compiled again.

export async function findCompiledSet(
  sql: Sql,
  idOrg: number,
  fingerprint: string,
): Promise<CachedSet | null> {
  const [row] = await sql<
    { packed_model: Uint8Array; packed_plan: Uint8Array; packed_mappings: Uint8Array; diagnostics: string }[]
  >`
    select s.packed_model, l.packed_plan, l.packed_mappings, c.diagnostics
      from svc.compiled_set c join svc.logical_schema l using (id_lschma) join svc.origin s using (id_sch)
     where c.id_org = ${idOrg} and c.fingerprint = ${fingerprint} and s.id_org = ${idOrg}`;
  if (row === undefined) return null;
  return {
    source: unpackSourceModel(inflated(row.packed_model)),
    model: unpackRelationalModel(inflated(row.packed_plan), () => inflated(row.packed_mappings)),
    diagnostics: JSON.parse(row.diagnostics) as Diagnostic[],
  };
}

/** A logical schema that is gone already is not remembered. */
export async function rememberCompiledSet(
  sql: Sql,
  idOrg: number,
  fingerprint: string,
  idLschma: number,
  diagnostics: readonly Diagnostic[],
): Promise<void> {
  await sql`
    insert into svc.compiled_set (id_org, fingerprint, id_lschma, diagnostics)
    select s.id_org, ${fingerprint}, l.id_lschma, ${JSON.stringify(diagnostics)}
      from svc.logical_schema l join svc.origin s using (id_sch)
     where l.id_lschma = ${idLschma} and s.id_org = ${idOrg}
    on conflict (id_org, fingerprint) do update set id_lschma = excluded.id_lschma, diagnostics = excluded.diagnostics`;
}
