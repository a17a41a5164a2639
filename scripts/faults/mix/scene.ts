/**
 * Two installations with homes of their own on one metadata database, and all that they use: a PostgreSQL, which one of them reaches through a proxy, and jobs
 * that load it as a target through PgBouncer; a MariaDB behind another proxy; and a small disk for files.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writeLargeDocument, type LargeDocument } from '../../../test/support/documents/large.ts';
import { isHere, libfaketime } from '../../../test/support/needs.ts';
import {
  mariadbParts,
  startDurableMariadb,
  type TestMariadb,
} from '../../../test/support/servers/mariadb.ts';
import { startPgBouncer, type TestPgBouncer } from '../../../test/support/servers/pgbouncer.ts';
import {
  createSwallowingProxy,
  type SwallowingProxy,
} from '../../../test/support/servers/swallowing-proxy.ts';
import {
  freePort,
  startExternalPostgres,
  type ExternalPostgres,
} from '../../../test/support/service/external-postgres.ts';
import { freightXsdFolder } from '../../../test/support/service/fixtures.ts';
import { shortLeases } from '../../../test/support/service/leases.ts';
import { createServiceHome } from '../../../test/support/service/start.ts';
import { convert } from '../../../test/support/service/tools.ts';
import { startInstallation, type Installation } from '../processes.ts';
import type { TargetPlaces } from './targets.ts';

export interface MixScene {
  readonly installations: readonly Installation[];
  readonly postgres: ExternalPostgres;
  readonly places: TargetPlaces;
  /** null: not installed */
  readonly pgbouncer: TestPgBouncer | null;
  readonly mariadb: TestMariadb | null;
  /** in front of the metadata database of one home, and of MariaDB */
  readonly proxies: readonly SwallowingProxy[];
  /** file systems of their own: of the targets, and of the logs of one home; empty: this process may not mount */
  readonly disks: readonly string[];
  /** the file that sets the clock of one installation; null: libfaketime is not installed */
  readonly clock: string | null;
  /** a folder of documents, the input of each job */
  readonly input: string;
  readonly documents: ReadonlyMap<string, LargeDocument>;
  readonly origin: number;
  close(): Promise<void>;
}

const documentBytes = [30_000, 60_000, 1_000_000];
const diskSizes = { targets: '768m', logs: '16m' };

export async function openMixScene(folder: string): Promise<MixScene> {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const one of closing.splice(0).toReversed()) await one().catch(() => undefined);
  };
  try {
    return await build(folder, closing, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function build(
  folder: string,
  closing: (() => Promise<unknown>)[],
  close: () => Promise<void>,
): Promise<MixScene> {
  const keep = <T>(one: T, end: (one: T) => Promise<unknown>): T => {
    closing.push(() => end(one));
    return one;
  };
  const input = join(folder, 'documents');
  await mkdir(input);
  const documents = new Map<string, LargeDocument>();
  for (const [at, bytes] of documentBytes.entries())
    documents.set(`${at}.xml`, await writeLargeDocument(join(input, `${at}.xml`), bytes));

  const disks: string[] = [];
  const mountDisk = async (path: string, size: string): Promise<void> => {
    await mkdir(path, { recursive: true });
    const mounted = await promisify(execFile)('mount', [
      '-t',
      'tmpfs',
      '-o',
      `size=${size}`,
      'tmpfs',
      path,
    ]).then(
      () => true,
      () => false,
    );
    if (!mounted) return;
    disks.push(path);
    closing.push(() => promisify(execFile)('umount', ['-l', path]));
  };
  const targets = join(folder, 'targets');
  await mountDisk(targets, diskSizes.targets);

  const postgres = keep(await startExternalPostgres(), (one) => one.stop());
  const pgbouncer = isHere('pgbouncer')
    ? keep(
        await startPgBouncer(postgres, {
          pool_mode: 'session',
          default_pool_size: 80,
          server_login_retry: 1,
        }),
        (one) => one.stop(),
      )
    : null;
  const database = keep(await createSwallowingProxy(postgres.port), (one) => one.close());
  const proxies = [database];
  let mariadb: TestMariadb | null = null;
  let mariadbPort = 0;
  if (mariadbParts.every(isHere)) {
    const port = await freePort();
    mariadb = keep(await startDurableMariadb(port), (one) => one.stop());
    const proxy = keep(await createSwallowingProxy(port), (one) => one.close());
    proxies.push(proxy);
    mariadbPort = Number(new URL(proxy.through('mysql://127.0.0.1')).port);
  }

  const homes = [];
  for (const url of [postgres.url, database.through(postgres.url)])
    homes.push(
      keep(
        await createServiceHome({
          ...shortLeases,
          'metadb.url': url,
          'svc.secret.key': Buffer.alloc(32, 7).toString('base64'),
          'svc.files.roots': folder,
          'svc.allow.hosts': '127.0.0.1',
          'svc.limits.attempts': '5',
          // longer than a cycle, so that its jobs start few processes
          'svc.worker.idle': '60 s',
          'svc.limits.running_jobs': '8',
        }),
        (home) => home.remove(),
      ),
    );
  const [first, second] = homes as [(typeof homes)[number], (typeof homes)[number]];
  await mountDisk(join(first.directory, 'logs'), diskSizes.logs);
  const { origin } = await convert(first, 'xsd2er', freightXsdFolder, '-g', '1');
  const installations = [keep(await startInstallation(first, 1), (one) => one.end())];
  // the database gives its first key to the first home only
  await copyFile(join(first.directory, 'admin.key'), join(second.directory, 'admin.key'));
  const library = libfaketime();
  const clock = library === null ? null : join(folder, 'clock');
  if (clock !== null) await writeFile(clock, '+0');
  const environment: Readonly<Record<string, string>> =
    library === null || clock === null
      ? {}
      : {
          LD_PRELOAD: library,
          FAKETIME_TIMESTAMP_FILE: clock,
          FAKETIME_NO_CACHE: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
          NO_FAKE_STAT: '1',
        };
  installations.push(keep(await startInstallation(second, 1, environment), (one) => one.end()));
  return {
    installations,
    postgres,
    places: {
      sql: postgres.sql,
      pooled: pgbouncer?.url ?? null,
      mariadb: mariadb === null ? null : { server: mariadb, port: mariadbPort },
      folder: targets,
    },
    pgbouncer,
    mariadb,
    proxies,
    disks,
    clock,
    input,
    documents,
    origin: origin!,
    close,
  };
}
