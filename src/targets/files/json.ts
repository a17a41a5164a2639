/** JSON of unknown origin, and names in it, as in manifests, journals and logs of tables: anybody who may write into a target may have written it. */
import { AppError } from '../../errors.ts';

/** Returns null for what is no JSON. */
export function parsed<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}

/** A plain name, which no hidden file has: those are the locks, journals and staging folders. */
export function isOwnName(name: unknown): name is string {
  return (
    typeof name === 'string' && /^[^./\\\p{Cc}][^/\\\p{Cc}]*$/u.test(name) && Buffer.byteLength(name) <= 255
  );
}

/** Below the table's folder: whoever may write there must not make us read elsewhere. AppError `conflict` for another one. */
export function pathBelow(path: string | null, label: string): string {
  const steps = path?.split('/') ?? [''];
  if (
    path === null ||
    /^[a-z][a-z0-9+.-]*:/i.test(path) ||
    steps.some((step) => /^\.{0,2}$|\p{Cc}/u.test(step))
  )
    throw new AppError('conflict', `${label}: its log names a file outside of the table's folder.`);
  return path;
}

export function isList(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON with whole numbers of 64 bits: identifiers of snapshots that other programs draw are longer than a number of JavaScript. */
type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

const reviver: Reviver = (_, value, context) =>
  typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
    ? BigInt(context!.source!)
    : value;

/** Whole numbers that a number cannot hold exactly are bigint. */
export function parseExact(text: string): unknown {
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown);
}

const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

export function exactText(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'bigint' ? rawJSON(String(member)) : member,
  );
}
