/** `--at`: a moment, as it is stored. */
import type { RequestDraft } from '../request/tool-request.ts';

/** ISO 8601; a time says its zone, a date alone is its beginning in UTC. */
export function moment(draft: RequestDraft, value: string): string | null {
  const isMoment = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/.test(value);
  if (value !== 'all' && (!isMoment || Number.isNaN(Date.parse(value))))
    return 'must be all, a date, or a moment with its time zone, such as 2026-11-25T08:00:00Z';
  draft.at = value === 'all' ? value : new Date(value).toISOString();
  return null;
}
