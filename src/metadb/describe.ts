/** The database schema `svc` as sorted text, read from the catalogues: the same for every server version and order of creation. */
import type { Sql, TransactionSql } from '../postgres/connect.ts';

/** One block per table, then functions; ends with a line feed. */
export async function describeDatabase(pool: Sql): Promise<string> {
  return pool.begin('isolation level repeatable read read only', async (sql) => {
    // The catalogue's functions omit the names of schemas in the search path.
    await sql`set local search_path = ''`;
    return describeTables(sql);
  });
}

async function describeTables(sql: TransactionSql): Promise<string> {
  const tables = await sql<{ oid: number; name: string }[]>`
    select c.oid::int8 as oid, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'svc' and c.relkind in ('r', 'p', 'v', 'm') order by c.relname collate "C"`;
  const blocks: string[] = [];
  for (const table of tables)
    blocks.push(`table ${table.name}\n${(await describeTable(sql, table.oid)).join('\n')}\n`);
  const functions = await sql<{ text: string }[]>`
    select pg_get_functiondef(p.oid) as text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname = 'svc' order by p.proname collate "C", pg_get_function_identity_arguments(p.oid) collate "C"`;
  return [...blocks, ...functions.map(({ text }) => `function\n${text.trimEnd()}\n`)].join('\n');
}

async function describeTable(sql: TransactionSql, oid: number): Promise<string[]> {
  const columns = await sql<{ text: string }[]>`
    select format('  column %s %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' else '' end,
                  case a.attidentity when 'd' then ' identity by default' when 'a' then ' identity always' else '' end,
                  ' default ' || pg_get_expr(d.adbin, d.adrelid)) as text
      from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = ${oid}::oid and a.attnum > 0 and not a.attisdropped
     order by a.attname collate "C"`;
  // NOT NULL constraints are described with the columns: only newer servers store them as constraints too.
  const constraints = await sql<{ text: string }[]>`
    select format('  constraint %s %s', conname, pg_get_constraintdef(oid)) as text from pg_constraint
     where conrelid = ${oid}::oid and contype in ('p', 'u', 'f', 'c', 'x') order by conname collate "C"`;
  const indexes = await sql<{ text: string }[]>`
    select '  ' || pg_get_indexdef(i.indexrelid) as text from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = ${oid}::oid order by c.relname collate "C"`;
  const triggers = await sql<{ text: string }[]>`
    select '  ' || pg_get_triggerdef(oid) as text from pg_trigger where tgrelid = ${oid}::oid and not tgisinternal order by tgname collate "C"`;
  const policies = await sql<{ text: string }[]>`
    select format('  policy %s using %s', polname, pg_get_expr(polqual, polrelid)) as text from pg_policy
     where polrelid = ${oid}::oid order by polname collate "C"`;
  return [...columns, ...constraints, ...indexes, ...triggers, ...policies].map((line) => line.text);
}
