/** Options that say by which schema a tool works. */
import { isReservedName } from '../../ports/stores/schema-name.ts';
import type { RequestDraft } from '../request/tool-request.ts';
import { namePart } from './values.ts';

export const pathLength = 4096;

/** Digits only, exactly representable; null otherwise. */
export function integer(value: string): number | null {
  const parsed = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  return Number.isSafeInteger(parsed) ? parsed : null;
}

export function originName(value: string): string | null {
  if (value.includes('/')) return 'must not contain "/"';
  return isReservedName(value) ? 'is a reserved name' : namePart(value);
}

export function origin(
  draft: RequestDraft,
  value: string,
  rest: { readonly index: number } | null,
): string | null {
  if (rest !== null && value.startsWith('$')) {
    const ref = integer(value.slice(1));
    if (ref === null) return 'must be an id, or $N for execution N of this request';
    if (ref >= rest.index) return `must name an execution before this one, which is $${rest.index}`;
    draft.originId = { ref };
    return null;
  }
  const id = integer(value);
  if (id === 0 || value.startsWith('$')) return 'must be the id of an origin, its name, or auto';
  const fault = id === null ? namePart(value) : null;
  if (fault !== null) return fault;
  draft.originId = id !== null ? { id } : value === 'auto' ? { auto: true } : { name: value };
  return null;
}

export function logical(draft: RequestDraft, value: string): string | null {
  const id = integer(value);
  if (id === 0) return 'must be the id of a logical schema, or the name of its origin';
  const fault = id === null ? namePart(value) : null;
  if (fault !== null) return fault;
  if (id === null) draft.logicalName = value;
  else draft.logicalId = id;
  return null;
}

export function xsdSet(draft: RequestDraft, value: string): string | null {
  if (value.length > pathLength) return `is longer than ${pathLength} characters`;
  if (value === '-')
    return 'the standard input holds documents: name the file, folder or archive of the XSDs';
  draft.xsd = [...(draft.xsd ?? []), value];
  return null;
}

export function entry(draft: RequestDraft, value: string): string | null {
  if (value.length > pathLength) return `is longer than ${pathLength} characters`;
  draft.entry = [...(draft.entry ?? []), value];
  return null;
}

export function statistics(draft: RequestDraft, value: string): string | null {
  const ids = value.split(',').map((part) => integer(part.trim()));
  if (ids.some((id) => id === null || id < 1)) return 'must be job ids, separated by commas';
  draft.useStats = ids.filter((id) => id !== null);
  return null;
}
