/** How this service runs the migration program: the bundled one, or that of `svc.migration.binary`. */
import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createMigrationProgram } from '../adapters/node/migration-program.ts';
import type { LocalMigrationProgram } from '../adapters/node/migration-program.ts';
import type { MetadataDatabase } from '../ports/migration-program.ts';
import type { Environment } from './home.ts';
import type { OpenedHome } from './open.ts';
import { readWorkerIdentity } from './worker-identity.ts';

export function createServiceMigrations(opened: OpenedHome, environment: Environment): LocalMigrationProgram {
  const { config, home, databaseUrl } = opened;
  return createMigrationProgram({
    command: commandOf(config.migration.binary),
    workingDirectory: home.directory,
    scratchDirectory: join(home.directory, 'tmp'),
    ownDatabase: readAddress(databaseUrl),
    environmentPassword: environment['PGPASSWORD'] || null,
    identity: readWorkerIdentity(home.directory),
  });
}

/** A path starts from the installation's folder, a bare name is looked for in PATH. */
function commandOf(binary: string | null): readonly [string, ...string[]] {
  if (binary === null) {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    return [process.execPath, fileURLToPath(new URL(`../tools/migrate.${extension}`, import.meta.url))];
  }
  if (isAbsolute(binary) || !binary.includes('/')) return [binary];
  return [resolve(fileURLToPath(new URL('../../', import.meta.url)), binary)];
}

function readAddress(databaseUrl: string): MetadataDatabase {
  const url = new URL(databaseUrl);
  const user = decodeURIComponent(url.username);
  return {
    host: url.hostname.toLowerCase(),
    port: Number(url.port || 5432),
    user,
    database: decodeURIComponent(url.pathname.slice(1)) || user,
    password: decodeURIComponent(url.password) || null,
    // The service itself speaks TLS only where its address says so
    sslMode: url.searchParams.get('sslmode') ?? 'disable',
  };
}
