/** Parameters of requests with their exact forms (docs/decisions/service/request-forms.md), and pages of lists. */
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { fixedLimits } from '../config/limits.ts';
import type { ListSlice } from '../ports/stores/catalog.ts';
import type { Page } from '../ports/stores/jobs.ts';
import type { AppEnv } from './env.ts';
import { hasHiddenCharacters } from '../engine/hidden-characters.ts';
import { dialectNames } from '../engine/sql/dialects/every-dialect.ts';

const maxInt64 = 9223372036854775807n;
const maxInt32 = 2147483647n;
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
export function int64(meaning: string, example = 7) {
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
    .regex(controlFree, { error: 'must not hold control characters' });
}

/** A name that people read in lists, logs and terminals: plain text without hidden characters. */
export function displayName(maxCharacters: number) {
  return plainText(maxCharacters).refine((name) => !hasHiddenCharacters(name), {
    error: 'must not hold line ends, bidirectional marks or characters without width',
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

/** `?id_lschma=`: which logical schema of the origin; without it, the one that the last load used, or that was made since. */
export const logicalSchemaQuery = z.object({
  id_lschma: int64(
    'Logical schema of this schema to speak of; without it, the one that the last load used, or that was made since.',
    4,
  ).optional(),
});

export const dialectQuery = logicalSchemaQuery.extend({
  dialect: z
    .enum(dialectNames)
    .optional()
    .openapi({ description: 'SQL flavour; postgresql without it.', example: 'postgresql' }),
});

// Pages of lists: their parameters and their shape.

export const defaultPageSize = 20;

export const pageParam = z.object({ page: int32('Number of the page, from 0.') });

export const sizeQuery = z.object({
  size: integerBetween(
    1,
    fixedLimits.pageSize,
    `Records on a page, 1 … ${fixedLimits.pageSize}; ${defaultPageSize} without it.`,
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

/** Adds the link to the next page (RFC 8288), relative to the address of this one. */
export function linkNext(c: Context<AppEnv>, slice: ListSlice | undefined, more: boolean): void {
  if (slice === undefined || !more) return;
  const query = new URL(c.req.url).searchParams;
  query.set('page', String(slice.offset / slice.limit + 1));
  query.set('size', String(slice.limit));
  c.header('Link', `<?${query.toString()}>; rel="next"`);
}

/** Documents the header of answers with arrays that come in pages, for use beside `json`. */
export const linkHeader = {
  Link: {
    description:
      'Where the next page is (`rel="next"`), if there is one: a reference relative to this address.',
    schema: { type: 'string' as const, example: '<?page=1&size=20>; rel="next"' },
  },
};

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
export function toWirePage<T>(page: Page<T>) {
  return {
    content: page.content,
    page: page.page,
    size: page.size,
    total_elements: page.totalElements,
    total_pages: Math.ceil(page.totalElements / page.size),
  };
}
