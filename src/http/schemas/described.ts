/** Descriptions of the members of a structure, in one list beside it. */
import type { z } from '@hono/zod-openapi';

/** The members with what they are; those that have a description of their own are left as they are. */
export function described<Shape extends z.ZodRawShape>(
  shape: Shape,
  texts: { readonly [Member in keyof Shape]?: string },
): Shape {
  const members = Object.entries(shape).map(([name, type]) => {
    const description = texts[name];
    return [name, description === undefined ? type : (type as z.ZodType).openapi({ description })];
  });
  return Object.fromEntries(members) as Shape;
}
