/** `--rename`: other names of tables and columns. */
import type { RequestDraft } from '../request/tool-request.ts';
import { namePart } from './name-part.ts';
import { reservedName } from './reserved-names.ts';

/** Returns the fault of the value, or null if there is none. */
export function renames(draft: RequestDraft, value: string): string | null {
  const fault = namePart(value);
  if (fault !== null) return fault;
  const pairs: [string, string][] = [];
  for (const part of value.split(',')) {
    const equals = part.indexOf('=');
    const [from, to] = [part.slice(0, Math.max(equals, 0)).trim(), part.slice(equals + 1).trim()];
    if (from === '' || to === '') return 'must be OLD=NEW, several separated by commas';
    if (pairs.some(([known]) => known === from)) return `renames ${from} twice`;
    const fault = reservedName(to);
    if (fault !== null) return fault;
    pairs.push([from, to]);
  }
  draft.rename = [...(draft.rename ?? []), ...pairs];
  return null;
}
