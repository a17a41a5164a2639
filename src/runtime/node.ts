/** The entry `conversion-job-service/node`. It loads the service only on a runtime that can run it and its tools. */
import type { OpenedService, OpenServiceOptions } from './open-service.ts';
import { runtimeFault } from './unfit-runtime.ts';

export type { OpenedService, OpenServiceOptions } from './open-service.ts';

/**
 * Opens a service in this process; several may live in one process, each in a home of its own. Rejects with Error if this runtime cannot
 * run it or its tools, with ConfigError if a setting is wrong, and with AppError if there is no database.
 */
export async function openService(options: OpenServiceOptions): Promise<OpenedService> {
  const { adapters } = options;
  const hasRunner = typeof adapters === 'object' && adapters.runner !== undefined;
  const fault = await runtimeFault(globalThis.process?.versions ?? {}, hasRunner);
  if (fault !== null) throw new Error(fault);
  const service = await import('./open-service.ts');
  return service.openService(options);
}
