/** Organisations, API keys, upload tokens, the audit log and credentials on PostgreSQL. */
import type {
  AccessStore,
  ApiKeyInfo,
  ApiKeyRecord,
  AuditRecord,
  OrgRecord,
  UploadTokenClaim,
  CredentialRecord,
  CredentialStore,
} from '../ports/stores/access.ts';
import { isId, sqlState, storable, type Sql } from '../postgres/connect.ts';
import { AppError } from '../errors.ts';
import { withinOrganisation } from '../postgres/organisation-pools.ts';

/** Spent and expired tokens stay this long, then the next token's creation removes them. */
const keepTokensMs = 24 * 3_600_000;

export function createPostgresAccessStore(sql: Sql): AccessStore {
  return {
    async findKey(idKey) {
      const [row] = await sql<ApiKeyRecord[]>`
        select id_key as "idKey", id_org as "idOrg", to_json(scopes) as scopes, secret_sha256 as "secretSha256",
               svc.epoch_ms(expires) as "expiresAt", svc.epoch_ms(revoked) as "revokedAt"
          from svc.api_key where id_key = ${idKey}`;
      return row ?? null;
    },

    async createKey(key) {
      try {
        await sql`
          insert into svc.api_key (id_key, id_org, name, scopes, secret_sha256, expires, revoked)
          values (${key.idKey}, ${key.idOrg}, ${key.name},
                  array(select json_array_elements_text(${JSON.stringify(key.scopes)}::text::json)), ${key.secretSha256},
                  svc.from_epoch_ms(${key.expiresAt}), svc.from_epoch_ms(${key.revokedAt}))`;
      } catch (error) {
        if (sqlState(error) === '23505')
          throw new AppError('conflict', `a key ${key.idKey} already exists`, { cause: error });
        if (sqlState(error) === '23503')
          throw new AppError('not_found', `there is no organisation ${key.idOrg}`, { cause: error });
        throw error;
      }
    },

    async hasNoKeys() {
      const [row] = await sql<{ none: boolean }[]>`select not exists (select from svc.api_key) as none`;
      return row?.none === true;
    },

    async listKeys(idOrg) {
      return sql<ApiKeyInfo[]>`
        select id_key as "idKey", id_org as "idOrg", name, to_json(scopes) as scopes, svc.epoch_ms(created) as created,
               svc.epoch_ms(expires) as "expiresAt", svc.epoch_ms(revoked) as "revokedAt"
          from svc.api_key k where ${idOrg}::bigint is null or id_org = ${idOrg}
         order by k.created, id_key`;
    },

    async revoke(idOrg, idKey) {
      const revoked = await sql`
        update svc.api_key set revoked = coalesce(revoked, clock_timestamp())
         where id_key = ${idKey} and (${idOrg}::bigint is null or id_org = ${idOrg})`;
      return revoked.count === 1;
    },

    async createOrg({ name, description }) {
      try {
        const [row] = await sql<OrgRecord[]>`
          insert into svc.org (name, description) values (${name}, ${description})
          returning id_org, name, description, svc.epoch_ms(created) as created, 0::bigint as schema_count, 0::bigint as job_count`;
        if (row === undefined) throw new Error('the insert answered no row');
        return row;
      } catch (error) {
        if (sqlState(error) === '23505')
          throw new AppError('conflict', `an organisation ${JSON.stringify(name)} already exists`, {
            cause: error,
          });
        throw error;
      }
    },

    async listOrgs() {
      return sql<OrgRecord[]>`
        select id_org, name, description, svc.epoch_ms(created) as created,
               (select count(*) from svc.origin s where s.id_org = o.id_org) as schema_count,
               (select count(*) from svc.job j where j.id_org = o.id_org) as job_count
          from svc.org o order by id_org`;
    },

    async findOrg(idOrg) {
      if (!isId(idOrg)) return null;
      const [row] = await sql<OrgRecord[]>`
        select id_org, name, description, svc.epoch_ms(created) as created,
               (select count(*) from svc.origin s where s.id_org = o.id_org) as schema_count,
               (select count(*) from svc.job j where j.id_org = o.id_org) as job_count
          from svc.org o where id_org = ${idOrg}`;
      return row ?? null;
    },

    async findOrgNamed(name) {
      const [row] = await sql<{ idOrg: number }[]>`
        select id_org as "idOrg" from svc.org where name = ${storable(name)}`;
      return row ?? null;
    },

    async recordAudit({ idOrg, actor, action, subject, status, requestId }) {
      await sql`
        insert into svc.audit (id_org, actor, action, subject, status, request_id)
        values (${idOrg}, ${storable(actor)}, ${action}, ${subject === null ? null : storable(subject)}, ${status}, ${requestId})`;
    },

    async listAudit(idOrg, page, size) {
      const [content, [total]] = await Promise.all([
        sql<AuditRecord[]>`
          select id_audit as "idAudit", svc.epoch_ms(at) as at, id_org as "idOrg", actor, action, subject, status, request_id as "requestId"
            from svc.audit where ${idOrg}::bigint is null or id_org = ${idOrg}
           order by id_audit desc offset ${page * size} limit ${size}`,
        sql<{ n: number }[]>`
          select count(*) as n from svc.audit where ${idOrg}::bigint is null or id_org = ${idOrg}`,
      ]);
      return { content, page, size, totalElements: total?.n ?? 0 };
    },

    async saveUploadToken(token) {
      const [row] = await sql<{ expiresAt: number }[]>`
        with removed as (
          delete from svc.upload_token where expires < statement_timestamp() - ${keepTokensMs} * interval '1 millisecond'
        )
        insert into svc.upload_token (token_sha256, id_org, id_key, kind, max_bytes, expires)
        values (${token.sha256}, ${token.idOrg}, ${storable(token.idKey)}, ${token.kind}, ${token.maxBytes}, clock_timestamp() + ${token.ttlMs} * interval '1 millisecond')
        returning svc.epoch_ms(expires) as "expiresAt"`;
      if (row === undefined) throw new Error('the insert answered no row');
      return row;
    },

    async spendUploadToken(sha256, kind) {
      const [row] = await sql<UploadTokenClaim[]>`
        update svc.upload_token set spent = clock_timestamp()
         where token_sha256 = ${sha256} and kind = ${kind} and spent is null and expires > statement_timestamp()
           and not exists (
             select from svc.api_key k
              where k.id_key = upload_token.id_key and least(k.expires, k.revoked) <= statement_timestamp()
           )
        returning id_org as "idOrg", max_bytes as "maxBytes"`;
      return row ?? null;
    },
  };
}

// Credentials of organisations for remote inputs.

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
          throw new AppError('conflict', `a credential ${name} already exists: remove it first`, {
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
