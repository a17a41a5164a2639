/** Runs the program that moves packages for this service, `svc.migration.binary`. */
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installation } from '../installation.ts';
import { createTransferProgram, type LocalTransferProgram } from '../tools/transfer/program.ts';
import type { MetadataDatabase } from '../ports/processes.ts';
import type { Environment } from './home.ts';
import type { OpenedInstallation } from './open-installation.ts';
import { readWorkerIdentity } from './worker-identity.ts';

export function createServiceTransfers(
  opened: OpenedInstallation,
  environment: Environment,
): LocalTransferProgram {
  const { config, home, databaseUrl } = opened;
  return createTransferProgram({
    command: commandOf(config.migration.binary),
    workingDirectory: home.directory,
    scratchDirectory: join(home.directory, 'tmp'),
    files: opened.adapters.files,
    ownDatabase: readAddress(databaseUrl),
    environmentPassword: environment['PGPASSWORD'] || null,
    identity: readWorkerIdentity(home.directory),
  });
}

/** A module runs on the Node that runs the service: PATH may have none, or an older one. */
function commandOf(binary: string): readonly [string, ...string[]] {
  if (!binary.includes('/')) return [binary];
  const path = resolve(fileURLToPath(installation), binary);
  return /\.[cm]?js$/.test(path) ? [process.execPath, path] : [path];
}

/** The parts of a postgresql: address. */
export function readAddress(databaseUrl: string): MetadataDatabase {
  const url = new URL(databaseUrl);
  const user = decodeURIComponent(url.username);
  return {
    host: url.hostname.toLowerCase(),
    port: Number(url.port || 5432),
    user,
    database: decodeURIComponent(url.pathname.slice(1)) || user,
    password: decodeURIComponent(url.password) || null,
    // The service itself uses TLS only if its address requests it
    sslMode: url.searchParams.get('sslmode') ?? 'disable',
  };
}
