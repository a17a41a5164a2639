/** The metadata database as a transfer of packages sees it: the catalog store's own functions, all within one transaction. */
import type { FamilyMember, TransferChanges, TransferState, TransferStore } from '../ports/stores/catalog.ts';
import { createPostgresCatalogStore } from './catalog-store.ts';
import { isId, type Sql, type TransactionSql } from '../postgres/connect.ts';

export function createPostgresTransferStore(sql: Sql): TransferStore {
  return {
    read: async (work) =>
      (await sql.begin('isolation level repeatable read read only', (tx) => work(stateOf(tx)))) as Awaited<
        ReturnType<typeof work>
      >,
    write: async (work) => (await sql.begin((tx) => work(changesOf(tx)))) as Awaited<ReturnType<typeof work>>,
  };
}

/** Wraps a transaction as a pool: a nested transaction becomes a savepoint. */
function asPool(tx: TransactionSql): Sql {
  return new Proxy(tx as unknown as Sql, {
    get: (target, member, receiver) =>
      member === 'begin'
        ? // options of a transaction, where there are any, are those of this one
          (...given: [...unknown[], (inner: TransactionSql) => Promise<unknown>]) =>
            tx.savepoint(given.at(-1) as (inner: TransactionSql) => Promise<unknown>)
        : (Reflect.get(target, member, receiver) as unknown),
  });
}

/** Microseconds as they are stored: a JavaScript date would cut them off. */
function moment(tx: TransactionSql, column: string) {
  return tx`to_char(${tx(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

function stateOf(tx: TransactionSql): TransferState {
  return {
    catalog: createPostgresCatalogStore(asPool(tx)),

    async listFamily(idOrg, idSch) {
      if (!isId(idSch)) return [];
      return tx<FamilyMember[]>`
        select id_sch as "idSch", id_parent_sch as "idParentSch", name, version, ${moment(tx, 'created')} as created
          from svc.origin
         where id_org = ${idOrg}
           and id_family = (select id_family from svc.origin where id_sch = ${idSch} and id_org = ${idOrg})
         order by version`;
    },

    async listLogicalSchemas(idSch) {
      return tx<{ idLschma: number; created: string }[]>`
        select id_lschma as "idLschma", ${moment(tx, 'created')} as created
          from svc.logical_schema where id_sch = ${idSch} order by id_lschma`;
    },

    async listJobStatistics(idSch) {
      const rows = await tx<{ created: string; statistics: string }[]>`
        select ${moment(tx, 'created')} as created, statistics
          from svc.job_statistics where id_sch = ${idSch} order by id_statistics`;
      return rows.map(({ created, statistics }) => ({
        created,
        statistics: JSON.parse(statistics) as unknown,
      }));
    },

    async diagramSaved(idLschma) {
      const [row] = await tx<{ saved: string }[]>`
        select ${moment(tx, 'saved')} as saved from svc.diagram where id_lschma = ${idLschma}`;
      return row?.saved ?? null;
    },
  };
}

function changesOf(tx: TransactionSql): TransferChanges {
  return {
    ...stateOf(tx),

    async placeOrigin(idSch, { idParentSch, version, created }) {
      await tx`
        update svc.origin set id_parent_sch = ${idParentSch}, version = ${version}, created = ${created}::text::timestamptz
         where id_sch = ${idSch}`;
    },

    async setStatistics(idSch, merged) {
      await tx`update svc.origin set statistics = ${JSON.stringify(merged)} where id_sch = ${idSch}`;
    },

    async addJobStatistics(idSch, statistics, created) {
      // The jobs stay in the database where they ran
      await tx`
        insert into svc.job_statistics (id_sch, id_job, statistics, created)
        values (${idSch}, null, ${JSON.stringify(statistics)}, ${created}::text::timestamptz)`;
    },

    async setLogicalSchemaCreated(idLschma, created) {
      await tx`update svc.logical_schema set created = ${created}::text::timestamptz where id_lschma = ${idLschma}`;
    },

    async setDiagramSaved(idLschma, saved) {
      await tx`update svc.diagram set saved = ${saved}::text::timestamptz where id_lschma = ${idLschma}`;
    },

    async completeJob(idJob, idSch) {
      const done = await tx`
        update svc.job
           set status = 'C', end_date = clock_timestamp(), lease_until = null, progress = 1, failure = null, id_sch = ${idSch}
         where id_job = ${idJob} and status = 'R'`;
      return done.count === 1;
    },

    async hasOrganisation(idOrg) {
      return (await tx`select 1 from svc.org where id_org = ${idOrg}`).length === 1;
    },
  };
}
