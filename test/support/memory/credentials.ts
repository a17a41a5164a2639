/** Credentials of organisations in memory. */
import { AppError } from '../../../src/errors.ts';
import type { Clock } from '../../../src/ports/environment.ts';
import type { CredentialRecord, CredentialStore } from '../../../src/ports/stores/access.ts';

const keyOf = (idOrg: number, name: string): string => `${idOrg} ${name}`;

export function createMemoryCredentialStore(clock: Clock): CredentialStore {
  const stored = new Map<string, { idOrg: number; record: CredentialRecord; sealed: string }>();
  return {
    async create(idOrg, { name, kind, sealed }) {
      if (stored.has(keyOf(idOrg, name)))
        throw new AppError('conflict', `a credential ${name} already exists: remove it first`);
      const record = { name, kind, created: clock.nowMs() };
      stored.set(keyOf(idOrg, name), { idOrg, record, sealed });
      return record;
    },
    list: async (idOrg) =>
      [...stored.values()]
        .filter((one) => one.idOrg === idOrg)
        .map(({ record }) => record)
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    async find(idOrg, name) {
      const found = stored.get(keyOf(idOrg, name));
      return found === undefined ? null : { kind: found.record.kind, sealed: found.sealed };
    },
    remove: async (idOrg, name) => stored.delete(keyOf(idOrg, name)),
  };
}
