/** Kinds of targets that a host application brings (docs/embedding.md). */
import { AppError } from '../../errors.ts';
import type { RegisteredTarget } from '../../ports/rows/registered.ts';

/** A process may hold the package more than once, bundled and not: all of them share one registry. */
const key = Symbol.for('conversion-job-service.targets');
const everywhere = globalThis as { [key]?: Map<string, RegisteredTarget> };
const registered = (everywhere[key] ??= new Map<string, RegisteredTarget>());

const ownSchemes: ReadonlySet<string> = new Set([
  'metadb',
  'postgres',
  'postgresql',
  'mysql',
  'mariadb',
  'iceberg',
  'duckdb',
  'sqlite',
  's3',
  'az',
  'http',
  'https',
  'sftp',
  'file',
]);

/**
 * Makes `-o SCHEME:…` and `-i SCHEME:…` mean this kind of targets, in this process. Jobs run in processes of their own: the modules that the property
 * `svc.targets.modules` names register their targets there. AppError `invalid_option` for a scheme that is the product's own or no word. A kind registered later under
 * the same scheme takes its place.
 */
export function registerTarget(target: RegisteredTarget): void {
  if (!/^[a-z][a-z0-9-]*$/.test(target.scheme) || ownSchemes.has(target.scheme))
    throw new AppError(
      'invalid_option',
      `registerTarget: ${JSON.stringify(target.scheme)} cannot be the scheme of a target: take a word of lower-case letters, digits and - that has no meaning yet`,
    );
  registered.set(target.scheme, target);
}

/** Returns null if no such kind is registered in this process. */
export function registeredTarget(scheme: string): RegisteredTarget | null {
  return registered.get(scheme) ?? null;
}

/** Returns the forms of targets of all registered kinds. */
export function registeredForms(): readonly string[] {
  return [...registered.values()].map(({ form }) => form);
}
