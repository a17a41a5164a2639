/** A service whose files are in memory, and whose jobs run in threads of its process. */
import { openService } from 'conversion-job-service/node';
import { createMemoryStore } from './memory-store.ts';
import { createThreadRunner } from './thread-runner.ts';

/** `home`: a folder for the settings and the database of the service; `write` takes the lines of its log. */
export async function openHost(home: string, write: (line: string) => void) {
  const files = createMemoryStore();
  const service = await openService({
    environment: { SVC_HOME: home, SVC_CMD_ENABLED: 'true' },
    adapters: { files, runner: createThreadRunner() },
    write,
  });
  await service.start();
  return { service, files };
}
