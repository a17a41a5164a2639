/** Documents out of a MySQL target, in one transaction: each row names its document. */
import { everyRowNamesDocument } from '../../engine/model/key-columns.ts';
import { fileKeyName, sideTableNames } from '../../engine/model/side-tables.ts';
import { standardLiteral } from '../../engine/sql/dialect.ts';
import { mysql } from '../../engine/sql/dialects/mysql.ts';
import { withListTables } from '../../engine/sql/list-tables.ts';
import { documentColumns } from '../../engine/sql/loaded-documents.ts';
import { doubleForReal } from '../../engine/sql/mysql-values.ts';
import { physicalTables } from '../../engine/sql/physical-model.ts';
import { AppError } from '../../errors.ts';
import type { RemovalPlan, Removed, RowRemover } from '../../ports/rows/remover.ts';
import { mysqlFault, openMysql, type Mysql, type MysqlAddress } from './connection.ts';
import { readMysqlLoads } from './ledger.ts';
import { takeTargetLock } from './staging.ts';
import { foldedName, readTables } from './tables.ts';

const { quote } = mysql;

export function createMysqlRowRemover(address: MysqlAddress): RowRemover {
  let opened: Promise<Mysql> | null = null;
  const guarded = async <T>(work: (database: Mysql) => Promise<T>): Promise<T> => {
    try {
      return await work(await (opened ??= openMysql(address)));
    } catch (error) {
      throw mysqlFault(error, address.label);
    }
  };
  return {
    label: address.label,
    loads: () => guarded(readMysqlLoads),
    removeDocuments: (plan, fence) => guarded((database) => removeDocuments(database, address, plan, fence)),
    close: async () => {
      // one that was never opened has nothing to close
      await (await opened?.catch(() => null))?.close();
    },
  };
}

async function removeDocuments(
  database: Mysql,
  address: MysqlAddress,
  plan: RemovalPlan,
  fence: (removed: Removed) => Promise<boolean>,
): Promise<Removed> {
  const { model, documentName, idJob, installation, idSch, idLschma } = plan;
  const { label } = address;
  const { documents, loads, unmapped, lexical } = sideTableNames;
  await takeTargetLock(database, address);
  const known = await readTables(database);
  if (!known.has(documents)) throw new AppError('not_found', `${label}: no documents were loaded there.`);
  if (!everyRowNamesDocument(model))
    throw new AppError(
      'conflict',
      `${label}: the schema is of a release whose rows do not name their documents; load the documents anew (-S o).`,
    );
  const done = await database.rows(
    `SELECT 1 FROM ${quote(loads)} WHERE job = ${idJob} AND installation = ${standardLiteral(installation)}`,
  );
  if (done.length > 0) return { documents: 0, rows: {}, already: true };
  const doubles = {
    ...model,
    tables: model.tables.map((table) => ({ ...table, columns: table.columns.map(doubleForReal) })),
  };
  const { model: drawn, lists } = withListTables(doubles, mysql);
  const tables = physicalTables(drawn, mysql, doubles);
  const isThere = (name: string): boolean => known.has(foldedName(name));
  const roots = documentColumns(model, tables).flatMap(({ table, column }) =>
    isThere(table) ? [`SELECT ${quote(column)} FROM ${quote(table)}`] : [],
  );
  roots.push(`SELECT document_key FROM ${quote(unmapped)} WHERE parent_table = '${documents}'`);
  await database.run('START TRANSACTION');
  try {
    const found = await database.rows(
      `SELECT document_key FROM ${quote(documents)} WHERE name = ${mysql.literal(documentName)} AND document_key IN (${roots.join(' UNION ALL ')}) FOR UPDATE`,
    );
    if (found.length === 0)
      throw new AppError(
        'not_found',
        `${label}: no document called ${documentName} was loaded with logical schema ${idLschma}.`,
      );
    const keys = `(${found.map(([key]) => key!).join(', ')})`;
    const rows: Record<string, number> = {};
    const documentOf = (index: number): string =>
      quote(
        tables[index]!.columns[model.tables[index]!.columns.findIndex(({ role }) => role === 'document')]!
          .name,
      );
    for (const { owner, table } of lists) {
      if (table === null || !isThere(tables[table]!.name) || !isThere(tables[owner]!.name)) continue;
      const key = quote(tables[owner]!.primaryKey[0]!);
      await database.run(
        `DELETE i FROM ${quote(tables[table]!.name)} i JOIN ${quote(tables[owner]!.name)} o ON o.${key} = i.${quote(tables[table]!.columns[1]!.name)} WHERE o.${documentOf(owner)} IN ${keys}`,
      );
    }
    for (const index of model.tables.keys()) {
      const { name } = tables[index]!;
      if (!isThere(name)) continue;
      const count = await database.run(`DELETE FROM ${quote(name)} WHERE ${documentOf(index)} IN ${keys}`);
      if (count > 0) rows[name] = count;
    }
    const named = [...model.tables.map(({ name }) => name), documents]
      .map((name) => mysql.literal(name))
      .join(', ');
    await database.run(
      `DELETE FROM ${quote(lexical)} WHERE document_key IN ${keys} AND table_name IN (${named})`,
    );
    await database.run(
      `DELETE FROM ${quote(unmapped)} WHERE document_key IN ${keys} AND parent_table IN (${named})`,
    );
    // a document that another schema's rows name stays
    const ours = new Set([...tables.map(({ name }) => foldedName(name)), ...Object.values(sideTableNames)]);
    const still = [...known].flatMap(([folded, { name, isView, columns }]) =>
      !ours.has(folded) && !isView && columns.has(fileKeyName)
        ? [
            ` AND document_key NOT IN (SELECT document_key FROM ${quote(name)} WHERE document_key IS NOT NULL)`,
          ]
        : [],
    );
    await database.run(`DELETE FROM ${quote(documents)} WHERE document_key IN ${keys}${still.join('')}`);
    const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
    // the ledger's sums go on telling what the target holds
    await database.run(
      `INSERT INTO ${quote(loads)} (job, installation, id_sch, id_lschma, published_at, documents, ${quote('rows')})
       VALUES (${idJob}, ${standardLiteral(installation)}, ${idSch}, ${idLschma}, UTC_TIMESTAMP(6), ${-found.length}, ${-total})`,
    );
    const removed: Removed = { documents: found.length, rows, already: false };
    if (!plan.dryRun && !(await fence(removed)))
      throw new AppError('conflict', 'The job is another worker’s by now: nothing was removed.');
    await database.run(plan.dryRun ? 'ROLLBACK' : 'COMMIT');
    return removed;
  } catch (error) {
    // the first fault is the one to tell; a connection that is lost has rolled back
    await database.run('ROLLBACK').catch(() => 0);
    throw error;
  }
}
