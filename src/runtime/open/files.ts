/** The file store and the logs of an installation: folders of the home, or a store that several machines share. */
import { join } from 'node:path';
import { createLocalFileStore } from '../../adapters/local-files/file-store.ts';
import { openLocalLog } from '../../adapters/processes/tool-process.ts';
import { boundedLog } from '../../jobs/bounded-log.ts';
import type { Config } from '../../config/shape.ts';
import type { HealthComponent } from '../../ports/health-probe.ts';
import type { FileStore } from '../../ports/files/organisation-files.ts';
import type { LogAppender } from '../../ports/files/log-appender.ts';
import type { Home } from '../home.ts';

export interface OpenedFiles {
  readonly files: FileStore;
  /** for a worker: opens the log for the output of an attempt */
  openLog(idJob: number, epoch: number): Promise<LogAppender>;
  /** health of the file store, if it is shared */
  readonly storeHealth: (() => Promise<HealthComponent>) | null;
}

/** The code of a store that is not used is not loaded: each tool starts here. */
export async function openFiles(config: Config, home: Home): Promise<OpenedFiles> {
  const { filesDirectory, logsDirectory } = home;
  const folders = createLocalFileStore({ filesDirectory, logsDirectory, roots: config.fileRoots });
  if (config.objectStore === null) {
    return withBoundedLogs(folders, config, (idJob) => openLocalLog(logsDirectory, idJob), null);
  }
  const { prefix, bucket } = config.objectStore;
  const [{ createS3ObjectStore }, { createObjectFileStore }, { openObjectLog }, { createObjectStoreHealth }] =
    await Promise.all([
      import('../../adapters/object-store/s3.ts'),
      import('../../adapters/object-store/file-store.ts'),
      import('../../adapters/object-store/job-log.ts'),
      import('../../adapters/object-store/health.ts'),
    ]);
  const objects = createS3ObjectStore(config.objectStore);
  return withBoundedLogs(
    createObjectFileStore({ objects, prefix, roots: config.fileRoots.length === 0 ? null : folders }),
    config,
    (idJob, epoch) => openObjectLog(objects, prefix, idJob, epoch),
    createObjectStoreHealth({ objects, prefix, location: `s3://${bucket}/${prefix}` }),
  );
}

function withBoundedLogs(
  files: FileStore,
  { limits }: Config,
  open: OpenedFiles['openLog'],
  storeHealth: OpenedFiles['storeHealth'],
): OpenedFiles {
  return {
    files,
    storeHealth,
    async openLog(idJob, epoch) {
      const size = (await files.logSize(idJob)) ?? 0;
      return boundedLog(await open(idJob, epoch), size, limits.jobLogBytes);
    },
  };
}

/** Returns the folder for local files of a running job whose permanent files are stored elsewhere. */
export function jobFolder(home: Pick<Home, 'directory'>, idJob: number): string {
  return join(home.directory, 'tmp', `job-${idJob}`);
}
