/** Sends answers in the media types of Spring Boot's actuator. */
import type { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { AppError } from '../../errors.ts';
import { negotiate } from '../answers/problem.ts';
import { actuatorTypes, type ActuatorType } from './health.ts';
import type { AppEnv } from '../env.ts';

export function inEveryType<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: Object.fromEntries(actuatorTypes.map((type) => [type, { schema }])) };
}

export function typeFor(c: Context<AppEnv>): ActuatorType {
  const type = negotiate(c.req.header('Accept'), actuatorTypes);
  if (type === null) throw new AppError('not_acceptable', `one of ${actuatorTypes.join(', ')} can be given`);
  return type;
}

export function answer(
  c: Context<AppEnv>,
  type: ActuatorType,
  body: unknown,
  status: 200 | 503 = 200,
): Response {
  return c.body(JSON.stringify(body), status, { 'Content-Type': type, Vary: 'Accept' });
}
