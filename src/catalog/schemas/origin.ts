/** Reading origins (source schemas). */
import { AppError } from '../../errors.ts';
import type { CatalogStore, OriginRecord } from '../../ports/stores/catalog.ts';

/** The origin with its newest logical schema, or the selected one. Absent or another organisation's: `not_found`. */
export async function findOrigin(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  idLschma?: number,
): Promise<OriginRecord> {
  const origin = await catalog.findOrigin(idOrg, idSch, idLschma);
  if (origin === null) throw new AppError('not_found', 'there is no such schema');
  return origin;
}

/** AppError `not_found`; `conflict` while a job uses it. */
export async function removeOrigin(catalog: CatalogStore, idOrg: number, idSch: number): Promise<void> {
  if (!(await catalog.removeOrigin(idOrg, idSch))) throw new AppError('not_found', 'there is no such schema');
}

/** Every version that shares the first ancestor of this origin, itself included, oldest first. */
export async function originFamily(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
): Promise<readonly OriginRecord[]> {
  const families = familiesOf(await catalog.listOrigins(idOrg));
  const family = families.find((origins) => origins.some((origin) => origin.id_sch === idSch));
  if (family === undefined) throw new AppError('not_found', 'there is no such schema');
  return family;
}

/** Origins that share an ancestor, or a name, which one family alone may bear; each family oldest first, the oldest family first. */
export function familiesOf<T extends Pick<OriginRecord, 'id_sch' | 'id_parent_sch' | 'name' | 'version'>>(
  origins: readonly T[],
): readonly (readonly T[])[] {
  const families = new Map<number, T[]>();
  const byName = new Map<string, T[]>();
  for (const origin of origins.toSorted((a, b) => a.id_sch - b.id_sch)) {
    // a parent is always older; only the name identifies one that was removed
    const parent = origin.id_parent_sch === null ? undefined : families.get(origin.id_parent_sch);
    const family = parent ?? byName.get(origin.name) ?? [];
    family.push(origin);
    families.set(origin.id_sch, family);
    byName.set(origin.name, family);
  }
  return [...new Set(families.values())].map((family) => family.toSorted((a, b) => a.version - b.version));
}
