/** Pages of lists: their parameters and their shape. */
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { fixedLimits } from '../../config/limits.ts';
import type { ListSlice } from '../../ports/stores/catalog.ts';
import type { Page } from '../../ports/stores/jobs.ts';
import type { AppEnv } from '../env.ts';
import { int32, integerBetween } from './parameters.ts';

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
