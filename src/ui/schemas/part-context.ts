/** What the parts of a schema's view are made of. */
import type { OriginRecord } from '../../ports/stores/catalog.ts';

export interface PartContext {
  readonly schema: OriginRecord;
  /** all versions of it, oldest first */
  readonly family: readonly OriginRecord[];
  /** null: the newest */
  readonly idLschma: number | null;
  /** what stands behind the part's name in the address */
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
  readonly signal: AbortSignal;
}

/** Query of calls that take a logical schema. */
export function logicalQuery(
  { idLschma }: Pick<PartContext, 'idLschma'>,
  more: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams({
    ...(idLschma === null ? {} : { id_lschma: String(idLschma) }),
    ...more,
  }).toString();
  return query === '' ? '' : `?${query}`;
}
