/** Save mode `o`: the model's tables lose their rows, and the tables beside the data what belonged to those. */
import { doubleQuoted, standardLiteral } from '../../engine/dialects/dialect.ts';
import { sideTableNames } from '../../engine/model/side-tables.ts';
import { relation, runAll, type Publication } from './postgres-row-sink-publication.ts';

/**
 * Tables on which nothing hangs are dropped, to be made anew; others (with views, grants, triggers …) are emptied and stay.
 * `oldDocuments`: quoted name for a table of this transaction.
 */
export async function clearTables(publication: Publication, oldDocuments: string): Promise<void> {
  const { tx, target, tables, present } = publication;
  const existing = tables.filter((table) => target.tables.has(table.name));
  if (existing.length === 0) return;
  await noteDocuments(publication, oldDocuments);
  const dropped = new Set<string>();
  for (const { name } of existing) if (target.tables.get(name)!.plain) dropped.add(name);
  const ours = new Set(tables.map((table) => table.name));
  const loosened = target.foreignKeys.filter((key) => !dropped.has(key.table) && ours.has(key.parent));
  await runAll(
    tx,
    loosened.map(
      (key) => `ALTER TABLE ${relation(publication, key.table)} DROP CONSTRAINT ${doubleQuoted(key.name)}`,
    ),
  );
  for (const key of loosened) publication.rekeyed.add(key.table);
  target.foreignKeys = target.foreignKeys.filter((key) => !dropped.has(key.table) && !loosened.includes(key));
  if (dropped.size > 0) {
    await tx.unsafe(`DROP TABLE ${[...dropped].map((name) => relation(publication, name)).join(', ')}`);
  }
  for (const name of dropped) present.delete(name);
  const emptied = existing.filter(({ name }) => !dropped.has(name));
  // TRUNCATE refuses a table that others refer to, even where none of their rows does
  await runAll(
    tx,
    emptied.map(({ name }) =>
      target.tables.get(name)!.referredToBy.length === 0
        ? `TRUNCATE ${relation(publication, name)}`
        : `DELETE FROM ${relation(publication, name)}`,
    ),
  );
  await removeDocuments(publication, oldDocuments);
}

/** Remembers which documents the rows came from: those that roots name, and those that earlier jobs of this model loaded. */
async function noteDocuments(publication: Publication, oldDocuments: string): Promise<void> {
  const { tx, plan, target, tables } = publication;
  const documents = relation(publication, sideTableNames.documents);
  const sources = [
    ...(plan.idLschma === null
      ? []
      : [
          `SELECT d.document_key FROM ${documents} d JOIN ${relation(publication, sideTableNames.loads)} l ON l.job = d.job
            WHERE l.id_lschma = ${plan.idLschma}`,
        ]),
    ...tables.flatMap((table, index) => {
      const at = plan.model.tables[index]!.columns.findIndex((column) => column.role === 'document');
      const name = table.columns[at]?.name;
      if (name === undefined || target.tables.get(table.name)?.columns.has(name) !== true) return [];
      return [`SELECT ${doubleQuoted(name)} FROM ${relation(publication, table.name)}`];
    }),
  ];
  const query = sources.length === 0 ? 'SELECT NULL::bigint' : sources.join(' UNION ');
  await tx.unsafe(`CREATE UNLOGGED TABLE ${oldDocuments} (document_key) AS ${query}`);
}

/** A document stays while rows of other models refer to it. */
async function removeDocuments(publication: Publication, oldDocuments: string): Promise<void> {
  const { tx, tables } = publication;
  const [documents, unmapped, lexical, keys] = [
    sideTableNames.documents,
    sideTableNames.unmapped,
    sideTableNames.lexical,
    sideTableNames.keys,
  ].map((name) => relation(publication, name));
  const referring = (await tx.unsafe(`
    SELECT k.conrelid::regclass::text AS table, quote_ident(a.attname) AS column
      FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
     WHERE k.contype = 'f' AND k.confrelid = ${standardLiteral(documents!)}::regclass`)) as unknown as {
    table: string;
    column: string;
  }[];
  const names = tables.map((table) => standardLiteral(table.name)).join(', ');
  await runAll(tx, [
    ...referring.map(
      ({ table, column }) =>
        `DELETE FROM ${oldDocuments} o WHERE EXISTS (SELECT FROM ${table} t WHERE t.${column} = o.document_key)`,
    ),
    ...[lexical, unmapped, documents].map(
      (table) => `DELETE FROM ${table} WHERE document_key IN (SELECT document_key FROM ${oldDocuments})`,
    ),
    `DELETE FROM ${keys} WHERE table_name IN (${names})`,
    `DROP TABLE ${oldDocuments}`,
  ]);
}
