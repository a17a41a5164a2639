/** The context that the parts of a schema's view share. */
import type { OriginRecord } from '../../ports/stores/catalog.ts';

export interface PartContext {
  readonly schema: OriginRecord;
  /** all versions of the schema, oldest first */
  readonly family: readonly OriginRecord[];
  /** null: the newest */
  readonly idLschma: number | null;
  /** segments of the address after the part's name */
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
