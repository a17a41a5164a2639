/** Pages of lists: their parameters and their shape. */
import { z } from '@hono/zod-openapi';
import { fixedLimits } from '../../config/limits.ts';
import type { Page } from '../../ports/stores/jobs.ts';
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
