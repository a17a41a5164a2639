/** Parameters of requests with their exact forms (docs/decisions/service/request-forms.md), and pages of lists. */
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { fixedLimits } from '../config/limits.ts';
import type { ListSlice } from '../ports/stores/catalog.ts';
import type { ListPosition, Page } from '../ports/stores/jobs.ts';
import type { AppEnv } from './env.ts';
import { wire } from './problem.ts';
import { hasHiddenCharacters } from '../engine/hidden-characters.ts';
import { dialectNames } from '../engine/sql/dialects/every-dialect.ts';

const maxInt64 = 9223372036854775807n;
const maxInt32 = 2147483647n;
/** the last millisecond of the year 9999, which the database can still add to */
const latestTime = 253_402_300_799_999n;
const digits = /^[0-9]+$/;
// oxlint-disable-next-line no-control-regex -- they are what it is about
const controlFree = /^[^\u0000-\u001f\u007f]*$/;

function integerUpTo(max: bigint, detail: string) {
  return z
    .string({ error: detail })
    .refine((text) => digits.test(text) && BigInt(text) <= max, { error: detail })
    .transform((text) => {
      const value = BigInt(text);
      // Ids start at 1 and stay below 2^53: a number that a double cannot represent exactly names nothing, like 0.
      return value > BigInt(Number.MAX_SAFE_INTEGER) ? 0 : Number(value);
    });
}

/** An id in a path or query: decimal digits, 0 … 2^63-1. Ids that cannot exist come out as 0, which no record has. */
export function int64(meaning: string, example = 2) {
  return integerUpTo(maxInt64, 'must be an integer from 0 to 9223372036854775807').openapi({
    type: 'integer',
    format: 'int64',
    minimum: 0,
    description: meaning,
    example: example as unknown as string,
  });
}

/** Decimal digits, 0 … 2^31-1. */
export function int32(meaning: string, example = 0) {
  return integerUpTo(maxInt32, 'must be an integer from 0 to 2147483647').openapi({
    type: 'integer',
    format: 'int32',
    minimum: 0,
    maximum: Number(maxInt32),
    description: meaning,
    example: example as unknown as string,
  });
}

/** Accepts decimal digits of any length; a number that cannot be an id becomes 0, which no record has. */
export function bigDigits(meaning: string, example = 7) {
  const detail = 'must be an integer from 0 on';
  return z
    .string({ error: detail })
    .refine((text) => digits.test(text), { error: detail })
    .transform((text) => (BigInt(text) > BigInt(Number.MAX_SAFE_INTEGER) ? 0 : Number(text)))
    .openapi({
      type: 'integer',
      minimum: 0,
      description: meaning,
      example: example as unknown as string,
    });
}

/** A byte offset or count: digits, 0 … 2^63-1. No file is longer than 2^53-1 bytes; larger numbers are reduced to that. */
export function byteCount(meaning: string, example = 0) {
  const detail = 'must be an integer from 0 to 9223372036854775807';
  return z
    .string({ error: detail })
    .refine((text) => digits.test(text) && BigInt(text) <= maxInt64, { error: detail })
    .transform((text) => Math.min(Number(text), Number.MAX_SAFE_INTEGER))
    .openapi({
      type: 'integer',
      format: 'int64',
      minimum: 0,
      description: meaning,
      example: example as unknown as string,
    });
}

/** Text in a body without control characters, some of which the database cannot store and no log can show. */
export function plainText(maxCharacters: number, minCharacters = 1) {
  return z
    .string()
    .min(minCharacters)
    .max(maxCharacters)
    .regex(controlFree, { error: 'must not contain control characters' });
}

/** A name that people read in lists, logs and terminals: plain text without hidden characters. */
export function displayName(maxCharacters: number) {
  return plainText(maxCharacters).refine((name) => !hasHiddenCharacters(name), {
    error: 'must not contain line ends, bidirectional marks or zero-width characters',
  });
}

/** An id in a body, 0 … 2^63-1. A number that JSON cannot represent exactly becomes 0, which no record has. */
export function bodyId() {
  const detail = 'must be an integer from 0 to 9223372036854775807';
  return z
    .number({ error: detail })
    .refine((value) => Number.isInteger(value) && value >= 0 && value <= 2 ** 63, { error: detail })
    .transform((value) => (Number.isSafeInteger(value) ? value : 0))
    .openapi({ type: 'integer', format: 'int64', minimum: 0 });
}

/** A time in epoch milliseconds, up to the end of the year 9999. */
export function epochMs(meaning: string) {
  return integerUpTo(latestTime, `must be a time in epoch milliseconds, from 0 to ${latestTime}`).openapi({
    type: 'integer',
    format: 'int64',
    minimum: 0,
    maximum: Number(latestTime),
    description: meaning,
    example: 1790000000000 as unknown as string,
  });
}

/** Decimal digits within a range. */
export function integerBetween(min: number, max: number, meaning: string, example = min) {
  const detail = `must be an integer from ${min} to ${max}`;
  return z
    .string({ error: detail })
    .refine((text) => digits.test(text) && BigInt(text) >= BigInt(min) && BigInt(text) <= BigInt(max), {
      error: detail,
    })
    .transform(Number)
    .openapi({
      type: 'integer',
      format: 'int32',
      minimum: min,
      maximum: max,
      description: meaning,
      example: example as unknown as string,
    });
}

/** `?id_lschma=`: which logical schema of the origin; default: the one that the last load used or that was made since. */
export const logicalSchemaQuery = z.object({
  id_lschma: int64(
    'Logical schema of this schema to speak of; default: the one that the last load used or that was made since.',
    4,
  ).optional(),
});

export const dialectQuery = logicalSchemaQuery.extend({
  dialect: z
    .enum(dialectNames)
    .optional()
    .openapi({ description: 'SQL dialect; default postgresql.', example: 'postgresql' }),
});

// Pages of lists: their parameters and their shape.

export const defaultPageSize = 20;

export const pageParam = z.object({ page: int32('Number of the page, from 0.') });

export const sizeQuery = z.object({
  size: integerBetween(
    1,
    fixedLimits.pageSize,
    `Records on a page, 1 … ${fixedLimits.pageSize}; default ${defaultPageSize}.`,
    defaultPageSize,
  ).optional(),
});

/** Query parameters for lists that are arrays: without `page` and `size`, the answer has all records. */
export const sliceQuery = z.object({
  page: int32(
    'Number of the page, from 0; without `page` and `size`, the answer has all records.',
  ).optional(),
  size: sizeQuery.shape.size,
});

export function sliceOf({ page, size }: z.infer<typeof sliceQuery>): ListSlice | undefined {
  if (page === undefined && size === undefined) return undefined;
  const limit = size ?? defaultPageSize;
  return { offset: (page ?? 0) * limit, limit };
}

/** Adds the links of a part of a list that is an array; `more`: there are records behind it. */
export function linkSlice(c: Context<AppEnv>, slice: ListSlice | undefined, more: boolean): void {
  if (slice === undefined) return;
  const page = slice.offset / slice.limit;
  const at = (number: number): string => reference(c, { page: String(number), size: String(slice.limit) });
  link(c, { first: at(0), next: more ? at(page + 1) : null, prev: page > 0 ? at(page - 1) : null });
}

/** Documents the header of answers that come in pages, for use beside `json`. */
export const linkHeader = {
  Link: {
    description:
      'Other pages of the list (RFC 8288): `first`, and `next` and `prev` if there are such pages; references relative to this address.',
    schema: { type: 'string' as const },
    example: '<?page=0&size=20>; rel="first", <?page=2&size=20>; rel="next", <?page=0&size=20>; rel="prev"',
  },
};

type PageRelation = 'first' | 'next' | 'prev';

/** Sets `Link` (RFC 8288). */
function link(c: Context<AppEnv>, references: Readonly<Record<PageRelation, string | null>>): void {
  const links = Object.entries(references).flatMap(([relation, target]) =>
    target === null ? [] : [`<${target}>; rel="${relation}"`],
  );
  c.header('Link', links.join(', '));
}

/** Returns a relative reference to the path of the request, or to `path` beside it, with these query parameters changed (null: removed). */
function reference(
  c: Context<AppEnv>,
  changes: Readonly<Record<string, string | null>>,
  path?: string,
): string {
  const query = new URL(c.req.url).searchParams;
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  const text = query.size === 0 ? '' : `?${query.toString()}`;
  // an empty reference would keep the query of the request
  const own = text === '' ? c.req.path.split('/').at(-1)! : '';
  return `${path ?? own}${text}`;
}

/**
 * The place of the number of a page in its address: the last step of the path, a step that is added to the path, or the query parameter
 * `page`.
 */
type PagePlace = 'step' | 'further step' | 'query';

/** A page as it goes over the wire; sets the links to the others. */
export function linkedPage<T>(c: Context<AppEnv>, place: PagePlace, found: Page<T>) {
  const { page } = found;
  const wired = wire(toWirePage(found));
  const lastStep = c.req.path.split('/').at(-1)!;
  const at = (number: number): string => {
    if (place === 'query') return reference(c, { page: String(number) });
    return reference(c, {}, place === 'step' ? String(number) : `${lastStep}/${number}`);
  };
  link(c, {
    first: at(0),
    next: page + 1 < wired.total_pages ? at(page + 1) : null,
    // a page past the end is followed by the last one
    prev: page > 0 ? at(Math.max(0, Math.min(page, wired.total_pages) - 1)) : null,
  });
  return wired;
}

/** The lists that can be continued from a cursor; a cursor of one list is refused by the others. */
type CursorList = 'jobs' | 'workflows' | 'runs';

export interface ListCursor {
  readonly position: ListPosition;
  /** number of the page that the cursor leads to */
  readonly page: number;
}

/** `?cursor=`, as the links of the list have it: a place between two records, which stays the same while records are added. */
export function cursorParam(list: CursorList) {
  return z
    .string()
    .max(200)
    .transform((text, context): ListCursor => {
      const cursor = parseCursor(list, text);
      if (cursor !== null) return cursor;
      context.issues.push({
        code: 'custom',
        message: 'must be a cursor from a Link header of this list',
        input: text,
      });
      return z.NEVER;
    })
    .optional()
    .openapi({
      type: 'string',
      description: 'Continues the list at this place: a value from the `Link` header of an answer.',
      example: cursorText(list, { position: { side: 'after', id: 7 }, page: 1 }) as unknown as ListCursor,
    });
}

function cursorText(list: CursorList, { position: { side, id }, page }: ListCursor): string {
  return btoa(`${list} ${side} ${id} ${page}`).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function parseCursor(list: CursorList, text: string): ListCursor | null {
  if (!/^[\w-]+$/.test(text)) return null;
  let plain: string;
  try {
    plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  } catch {
    return null;
  }
  const found = /^([a-z]+) (after|before) (\d{1,15}) (\d{1,10})$/.exec(plain);
  if (found === null || found[1] !== list) return null;
  return { position: { side: found[2] as 'after' | 'before', id: Number(found[3]) }, page: Number(found[4]) };
}

/**
 * A page of a list that is ordered by id, newest first, as it goes over the wire: the first page, or the one that the cursor leads to.
 * The links lead on by cursors, so that records which are added meanwhile move none from one page to the next.
 */
export async function cursorPage<T>(
  c: Context<AppEnv>,
  list: CursorList,
  { size = defaultPageSize, cursor }: { readonly size?: number; readonly cursor?: ListCursor },
  idOf: (record: T) => number,
  read: (page: number, size: number, position?: ListPosition) => Promise<Page<T>>,
) {
  // one record more than the page has shows that the list has another page
  const found = await read(cursor?.page ?? 0, size + 1, cursor?.position);
  const isLonger = found.content.length > size;
  const isBackwards = cursor?.position.side === 'before';
  const content = isBackwards ? found.content.slice(isLonger ? 1 : 0) : found.content.slice(0, size);
  const wired = wire(toWirePage({ ...found, content, size }));
  const at = (side: 'after' | 'before', record: T | undefined, page: number): string | null =>
    record === undefined
      ? null
      : reference(c, { cursor: cursorText(list, { position: { side, id: idOf(record) }, page }) });
  link(c, {
    first: reference(c, { cursor: null }),
    next: isBackwards || isLonger ? at('after', content.at(-1), found.page + 1) : null,
    prev:
      cursor !== undefined && (!isBackwards || isLonger)
        ? at('before', content[0], Math.max(0, found.page - 1))
        : null,
  });
  return wired;
}

/** The Zod form of a page of records. */
export function pageOf<T extends z.ZodType>(record: T) {
  return z.object({
    content: z.array(record),
    page: z.int(),
    size: z.int(),
    total_elements: z.int(),
    total_pages: z.int(),
  });
}

/** The same page of other records. */
export function mapPage<T, U>(page: Page<T>, map: (record: T) => U): Page<U> {
  return { ...page, content: page.content.map((record) => map(record)) };
}

/** A page as it goes over the wire. */
function toWirePage<T>(page: Page<T>) {
  return {
    content: page.content,
    page: page.page,
    size: page.size,
    total_elements: page.totalElements,
    total_pages: Math.ceil(page.totalElements / page.size),
  };
}
