/** The entry `conversion-job-service/node`. It loads the service only on a Node that can run it. */
import type { OpenedService, OpenServiceOptions } from './open-service.ts';

export type { OpenedService, OpenServiceOptions } from './open-service.ts';

/** First release that runs the service, as in bin/launch.mjs and in `engines` of the published package. */
const oldestNode = [22, 18] as const;

/**
 * Opens a service in this process; several may live in one process, each in a home of its own. Rejects with Error if this Node is too
 * old, with ConfigError if a setting is wrong, and with AppError if there is no database.
 */
export async function openService(options: OpenServiceOptions): Promise<OpenedService> {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]))
    throw new Error(
      `conversion-job-service needs Node ${oldestNode.join('.')} or later. Running is ${node}.`,
    );
  const service = await import('./open-service.ts');
  return service.openService(options);
}
