/**
 * Identifies the progress of loads of rows (`--after`): the same for the jobs that load, and for the schedulers that check for new
 * rows.
 */
import { createHash } from 'node:crypto';
import { maskSecrets } from '../../jobs/mask-secrets.ts';
import type { QueryMark } from '../../ports/stores/query-marks.ts';
import type { ToolRequest } from '../../jobs/request/tool-request.ts';

/**
 * Returns the identity of a mark: the query and the destination of its rows; a watch has marks of its own. `place`: name for messages.
 */
export function markSourceOf(
  { query, xmlColumn, after, out = '', watched }: ToolRequest,
  place: string,
): string {
  const asked = [place, query ?? null, xmlColumn ?? null, after!.column, maskSecrets(out)];
  const own = watched?.watch === undefined ? [] : [`watch ${watched.watch}`];
  return createHash('sha256')
    .update(JSON.stringify([...asked, ...own]))
    .digest('hex');
}

/**
 * The newest mark whose rows are in the target; null: none are. `isLoaded`: of a job that ended before it could say so itself, asked
 * from the newest on.
 */
export async function lastLoaded(
  all: readonly QueryMark[],
  isLoaded: (mark: QueryMark) => Promise<boolean>,
): Promise<QueryMark | null> {
  for (const mark of all) if (mark.settled || (await isLoaded(mark))) return mark;
  return null;
}

/** Returns a digest that distinguishes a row from others with the same value in the column of `--after`. */
export function rowDigest(name: string, document: string | Uint8Array | null): string {
  return createHash('sha256')
    .update(`${name}\0`)
    .update(document ?? '')
    .digest('base64url');
}
