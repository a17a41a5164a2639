/**
 * Parses JSON of unknown origin, and checks names in it, as in manifests, journals and logs of tables: any user with write access to a
 * target may have written it.
 */
import { AppError } from '../../errors.ts';

/** Parses JSON; returns null if the text is invalid. */
export function parsed<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}

/** Returns whether the name is a plain file name. Hidden files are excluded: they are locks, journals and staging folders. */
export function isOwnName(name: unknown): name is string {
  return (
    typeof name === 'string' && /^[^./\\\p{Cc}][^/\\\p{Cc}]*$/u.test(name) && Buffer.byteLength(name) <= 255
  );
}

/**
 * Returns the path if it is below the table's folder. A user who may write there must not make this program read elsewhere. AppError
 * `conflict` for any other path.
 */
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

/** JSON with 64-bit integers: identifiers of snapshots that other programs choose exceed the range of exact doubles. */
type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

const reviver: Reviver = (_, value, context) =>
  typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
    ? BigInt(context!.source!)
    : value;

/** Parses JSON; integers that a number cannot hold exactly become bigint. */
export function parseExact(text: string): unknown {
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown);
}

const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

export function exactText(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'bigint' ? rawJSON(String(member)) : member,
  );
}
