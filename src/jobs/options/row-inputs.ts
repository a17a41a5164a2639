/** `--from` and `--after`: rows with documents in a column. */
import { rowSourceOf } from '../request/row-source.ts';
import type { RequestDraft } from '../request/tool-request.ts';

/** Returns the fault of the text of `--from`, or null if there is none. */
export function rowSourceFault(text: string): string | null {
  const source = rowSourceOf(text);
  return 'fault' in source ? source.fault : null;
}

/** `COLUMN` or `COLUMN=VALUE`. */
export function after(draft: RequestDraft, value: string): string | null {
  const at = value.indexOf('=');
  const column = at < 0 ? value : value.slice(0, at);
  if (column === '') return 'must be COLUMN or COLUMN=VALUE';
  draft.after = at < 0 ? { column } : { column, mark: value.slice(at + 1) };
  return null;
}
