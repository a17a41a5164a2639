/** Checks of the shape of values that came from outside. Members that a shape does not name may hold anything. */
import { z } from 'zod';
import { AppError } from '../../errors.ts';

/** Wraps the check of a Zod schema: it reports the first fault. */
export function shapeOf(schema: z.ZodType): Shape {
  return (value, at) => {
    const { error } = schema.safeParse(value);
    if (error === undefined) return;
    const [issue] = error.issues;
    throw shapeFault([at, ...issue!.path].join('/'), issue!.message);
  };
}

/** A text that PostgreSQL can hold, as it is. */
export function storableText(form?: RegExp): z.ZodString {
  const fault = { error: 'is not such a text' };
  const stored = z.string(fault).refine((value) => !value.includes('\0') && value.isWellFormed(), fault);
  return form === undefined ? stored : stored.regex(form, fault);
}

export const sha256Text = storableText(/^[0-9a-f]{64}$/);

export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): z.ZodInt {
  const fault = { error: 'is not such a whole number' };
  return z.int(fault).min(min, fault).max(max, fault);
}

/** Throws AppError `unprocessable_input` naming the place; `at` is the place of the value, for people. */
export type Shape = (value: unknown, at: string) => void;

/** The error for a faulty package: the import fails, and nothing is changed. */
export function packageFault(detail: string): AppError {
  return new AppError('unprocessable_input', `the package cannot be imported: ${detail}`);
}

export function shapeFault(at: string, detail: string): AppError {
  return packageFault(`${at} ${detail}`);
}

/** A text that PostgreSQL can hold, as it is. */
export function text(form?: RegExp): Shape {
  return (value, at) => {
    if (
      typeof value !== 'string' ||
      value.includes('\0') ||
      !value.isWellFormed() ||
      form?.test(value) === false
    )
      throw shapeFault(at, 'is not such a text');
  };
}

export function integer(min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER): Shape {
  return (value, at) => {
    if (!Number.isSafeInteger(value) || (value as number) < min || (value as number) > max)
      throw shapeFault(at, 'is not such a whole number');
  };
}

export const flag: Shape = (value, at) => {
  if (typeof value !== 'boolean') throw shapeFault(at, 'is neither true nor false');
};

export function oneOf(...known: readonly (string | number | boolean)[]): Shape {
  const values = new Set<unknown>(known);
  return (value, at) => {
    if (!values.has(value)) throw shapeFault(at, 'is not one of the known values');
  };
}

export function nullable(shape: Shape): Shape {
  return (value, at) => {
    if (value !== null) shape(value, at);
  };
}

export function array(shape: Shape): Shape {
  return (value, at) => {
    if (!Array.isArray(value)) throw shapeFault(at, 'is not a list');
    for (const [index, item] of value.entries()) shape(item, `${at}/${index}`);
  };
}

/** An object of any names, as a map. */
export function record(shape: Shape): Shape {
  return (value, at) => {
    for (const [name, member] of Object.entries(asObject(value, at))) {
      if (name.includes('\0')) throw shapeFault(at, 'has an impossible name');
      shape(member, `${at}/${name}`);
    }
  };
}

/** An object with at least these members; `optional` ones may be absent. `T` ties the names to a type. */
export function object<T = Record<string, unknown>>(
  required: { readonly [Member in keyof T]?: Shape },
  optional: { readonly [Member in keyof T]?: Shape } = {},
): Shape {
  const needed = Object.entries(required) as [string, Shape][];
  const others = Object.entries(optional) as [string, Shape][];
  return (value, at) => {
    const members = asObject(value, at);
    for (const [name, shape] of needed) {
      if (!Object.hasOwn(members, name)) throw shapeFault(at, `is without ${name}`);
      shape(members[name], `${at}/${name}`);
    }
    for (const [name, shape] of others) {
      if (Object.hasOwn(members, name)) shape(members[name], `${at}/${name}`);
    }
  };
}

function asObject(value: unknown, at: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw shapeFault(at, 'is not an object');
  return value as Record<string, unknown>;
}
