/** Credentials of organisations on PostgreSQL. */
import { AppError } from '../../../errors.ts';
import type { CredentialRecord, CredentialStore } from '../../../ports/stores/credentials.ts';
import { sqlState, storable, type Sql } from '../client/connect.ts';
import { withinOrganisation } from '../client/organisation-pools.ts';

export function createPostgresCredentialStore(sql: Sql): CredentialStore {
  return {
    async create(idOrg, { name, kind, sealed }) {
      try {
        const [row] = await withinOrganisation(
          sql,
          idOrg,
          (tx) => tx<CredentialRecord[]>`
            insert into svc.credential (id_org, name, kind, sealed) values (${idOrg}, ${name}, ${kind}, ${sealed})
            returning name, kind, svc.epoch_ms(created) as created`,
        );
        return row!;
      } catch (error) {
        if (sqlState(error) === '23505')
          throw new AppError('conflict', `there is a credential ${name} already: remove it first`, {
            cause: error,
          });
        if (sqlState(error) === '23503')
          throw new AppError('not_found', `there is no organisation ${idOrg}`, { cause: error });
        throw error;
      }
    },

    list: (idOrg) =>
      withinOrganisation(
        sql,
        idOrg,
        (tx) => tx<CredentialRecord[]>`
          select name, kind, svc.epoch_ms(created) as created from svc.credential
           where id_org = ${idOrg} order by name collate "C"`,
      ),

    async find(idOrg, name) {
      const [row] = await withinOrganisation(
        sql,
        idOrg,
        (tx) => tx<{ kind: string; sealed: string }[]>`
          select kind, sealed from svc.credential where id_org = ${idOrg} and name = ${storable(name)}`,
      );
      return row ?? null;
    },

    async remove(idOrg, name) {
      const removed = await withinOrganisation(
        sql,
        idOrg,
        async (tx) => tx`delete from svc.credential where id_org = ${idOrg} and name = ${storable(name)}`,
      );
      return removed.count === 1;
    },
  };
}
