/** Reading origins (source schemas). */
import { AppError } from '../errors.ts';
import type { CatalogStore, OriginRecord } from '../ports/catalog-store.ts';

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

/** Every version that shares the first ancestor of this origin, itself included, oldest first. */
export async function originFamily(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
): Promise<readonly OriginRecord[]> {
  const origins = new Map((await catalog.listOrigins(idOrg)).map((origin) => [origin.id_sch, origin]));
  const firstAncestor = (start: number): number => {
    let at = start;
    // A parent is always the older one, so the way up ends.
    for (;;) {
      const parent = origins.get(at)?.id_parent_sch ?? null;
      if (parent === null || !origins.has(parent)) return at;
      at = parent;
    }
  };
  if (!origins.has(idSch)) throw new AppError('not_found', 'there is no such schema');
  const ancestor = firstAncestor(idSch);
  return [...origins.values()]
    .filter((origin) => firstAncestor(origin.id_sch) === ancestor)
    .toSorted((a, b) => a.version - b.version || a.id_sch - b.id_sch);
}
