/** The files of origins: their names, and the content of the files of XSD sets. */
import type { NewOriginFile, OriginFileContent } from '../../../../ports/stores/catalog.ts';
import { isId, storable } from '../../client/connect.ts';
import type { Sql, TransactionSql } from '../../client/connect.ts';
import { deflated, inflated } from '../../client/deflate.ts';

/** compressed bytes that one statement carries; a set of hundreds of files takes one or two */
const bytesPerStatement = 8 * 1024 * 1024;

/** Within the transaction that makes the origin. */
export async function insertOriginFiles(
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
