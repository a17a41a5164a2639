/** Idempotency keys on PostgreSQL: `svc.idempotency`, which job submissions write in their own transaction. */
import { AppError } from '../errors.ts';
import type { IdempotencyStore } from '../ports/stores/idempotency.ts';
import type { Sql, TransactionSql } from '../postgres/connect.ts';
import { withinOrganisation } from '../postgres/organisation-pools.ts';

/** Forgets a key whose time has passed: it is new again. */
export async function forgetOldKey(
  sql: Sql | TransactionSql,
  idOrg: number,
  key: string,
  keepMs: number,
): Promise<void> {
  await sql`
    delete from svc.idempotency
     where id_org = ${idOrg} and key = ${key} and created < statement_timestamp() - ${keepMs} * interval '1 millisecond'`;
}

/** The end of a lease that begins now. */
function leaseEnd(tx: Sql, leaseMs: number) {
  return tx`clock_timestamp() + ${leaseMs} * interval '1 millisecond'`;
}

/** `keepMs`: time for which an answer is given again. */
export function createPostgresIdempotencyStore(sql: Sql, keepMs: number): IdempotencyStore {
  return {
    begin: ({ idOrg, key, requestHash }, leaseMs) =>
      withinOrganisation(sql, idOrg, async (tx) => {
        await forgetOldKey(tx, idOrg, key, keepMs);
        const holder = crypto.randomUUID();
        const taken = await tx`
          insert into svc.idempotency as i (id_org, key, body_hash, holder, held_until)
          values (${idOrg}, ${key}, ${requestHash}, ${holder}, ${leaseEnd(tx, leaseMs)})
          on conflict (id_org, key) do update set holder = excluded.holder, held_until = excluded.held_until
            where i.body_hash = excluded.body_hash and i.held_until <= clock_timestamp()
          returning key`;
        if (taken.length > 0) return { hold: { idOrg, key, holder } };
        const [known] = await tx<{ body_hash: string; answer: string | null }[]>`
          select body_hash, answer from svc.idempotency where id_org = ${idOrg} and key = ${key}`;
        if (known !== undefined && known.body_hash !== requestHash) throw idempotencyKeyReused();
        if (known === undefined || known.answer === null) throw idempotencyKeyInUse();
        return { answer: known.answer };
      }),

    extend: ({ idOrg, key, holder }, leaseMs) =>
      withinOrganisation(sql, idOrg, async (tx) => {
        await tx`
          update svc.idempotency set held_until = ${leaseEnd(tx, leaseMs)}
           where id_org = ${idOrg} and key = ${key} and holder = ${holder}`;
      }),

    settle: ({ idOrg, key, holder }, answer) =>
      withinOrganisation(sql, idOrg, async (tx) => {
        await tx`
          update svc.idempotency set answer = ${answer}, holder = null, held_until = null
           where id_org = ${idOrg} and key = ${key} and holder = ${holder}`;
      }),

    release: ({ idOrg, key, holder }) =>
      withinOrganisation(sql, idOrg, async (tx) => {
        await tx`delete from svc.idempotency where id_org = ${idOrg} and key = ${key} and holder = ${holder}`;
      }),
  };
}

export function idempotencyKeyReused(): AppError {
  return new AppError('idempotency_key_reused', 'this idempotency key was used for another request');
}

export function idempotencyKeyInUse(): AppError {
  return new AppError(
    'conflict',
    'the first request with this idempotency key is still being processed: send it again in a second',
    { headers: { 'Retry-After': '1' } },
  );
}
