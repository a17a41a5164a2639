/** Organisations, keys and upload tokens in memory. */
import { AppError } from '../../../src/errors.ts';
import type { AccessStore, ApiKeyRecord, AuditRecord, OrgRecord } from '../../../src/ports/stores/access.ts';
import type { Clock } from '../../../src/ports/environment.ts';

export interface MemoryAccessStore extends AccessStore {
  addOrg(org: Pick<OrgRecord, 'id_org' | 'name'>): void;
  revokeKey(idKey: string, revokedAt: number): void;
}

/** `counts` answers how many schemas and jobs an organisation has. */
export function createMemoryAccessStore(
  clock: Clock,
  counts: (idOrg: number) => { readonly schemas: number; readonly jobs: number } = () => ({
    schemas: 0,
    jobs: 0,
  }),
): MemoryAccessStore {
  const orgs = new Map<number, Omit<OrgRecord, 'schema_count' | 'job_count'>>();
  const keys = new Map<string, ApiKeyRecord>();
  const about = new Map<string, { readonly name: string; readonly created: number }>();
  const tokens = new Map<
    string,
    {
      idOrg: number;
      idKey: string;
      kind: 'xml' | 'xsd';
      maxBytes: number;
      expiresAt: number;
      spent: boolean;
    }
  >();

  const audit: AuditRecord[] = [];

  return {
    addOrg: ({ id_org, name }) =>
      void orgs.set(id_org, { id_org, name, description: null, created: clock.nowMs() }),
    revokeKey(idKey, revokedAt) {
      const key = keys.get(idKey);
      if (key !== undefined) keys.set(idKey, { ...key, revokedAt });
    },
    findKey: async (idKey) => keys.get(idKey) ?? null,
    async createKey(key) {
      if (keys.has(key.idKey)) throw new AppError('conflict', `a key ${key.idKey} already exists`);
      if (!orgs.has(key.idOrg)) throw new AppError('not_found', `there is no organisation ${key.idOrg}`);
      const { idKey, idOrg, scopes, secretSha256, expiresAt, revokedAt } = key;
      about.set(idKey, { name: key.name, created: clock.nowMs() });
      keys.set(idKey, { idKey, idOrg, scopes, secretSha256, expiresAt, revokedAt });
    },
    hasNoKeys: async () => keys.size === 0,
    listKeys: async (idOrg) =>
      [...keys.values()]
        .filter((key) => idOrg === null || key.idOrg === idOrg)
        .map(({ idKey, idOrg: owner, scopes, expiresAt, revokedAt }) => {
          const { name, created } = about.get(idKey)!;
          return { idKey, idOrg: owner, name, scopes, created, expiresAt, revokedAt };
        }),
    async revoke(idOrg, idKey) {
      const key = keys.get(idKey);
      if (key === undefined || (idOrg !== null && key.idOrg !== idOrg)) return false;
      keys.set(idKey, { ...key, revokedAt: key.revokedAt ?? clock.nowMs() });
      return true;
    },
    async createOrg({ name, description }) {
      if ([...orgs.values()].some((org) => org.name === name))
        throw new AppError('conflict', `an organisation ${JSON.stringify(name)} already exists`);
      const org = { id_org: Math.max(0, ...orgs.keys()) + 1, name, description, created: clock.nowMs() };
      orgs.set(org.id_org, org);
      return { ...org, schema_count: 0, job_count: 0 };
    },
    listOrgs: async () =>
      [...orgs.values()].map((org) => {
        const { schemas, jobs } = counts(org.id_org);
        return { ...org, schema_count: schemas, job_count: jobs };
      }),
    async findOrg(idOrg) {
      const org = orgs.get(idOrg);
      if (org === undefined) return null;
      const { schemas, jobs } = counts(idOrg);
      return { ...org, schema_count: schemas, job_count: jobs };
    },
    async findOrgNamed(name) {
      const org = [...orgs.values()].find((one) => one.name === name);
      return org === undefined ? null : { idOrg: org.id_org };
    },
    recordAudit: async (event) =>
      void audit.unshift({ ...event, idAudit: audit.length + 1, at: clock.nowMs() }),
    async listAudit(idOrg, page, size) {
      const lines = audit.filter((line) => idOrg === null || line.idOrg === idOrg);
      return {
        content: lines.slice(page * size, (page + 1) * size),
        page,
        size,
        totalElements: lines.length,
      };
    },
    async saveUploadToken({ sha256, idOrg, idKey, kind, maxBytes, ttlMs }) {
      const expiresAt = clock.nowMs() + ttlMs;
      tokens.set(sha256, { idOrg, idKey, kind, maxBytes, expiresAt, spent: false });
      return { expiresAt };
    },
    async spendUploadToken(sha256, kind) {
      const token = tokens.get(sha256);
      if (token === undefined || token.spent || token.kind !== kind || token.expiresAt <= clock.nowMs())
        return null;
      const key = keys.get(token.idKey);
      if (Math.min(key?.revokedAt ?? Infinity, key?.expiresAt ?? Infinity) <= clock.nowMs()) return null;
      token.spent = true;
      return { idOrg: token.idOrg, maxBytes: token.maxBytes };
    },
  };
}
