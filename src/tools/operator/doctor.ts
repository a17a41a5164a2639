/**
 * `conversion-job-service doctor`: looks at everything that the service and the tools need on this machine, changes nothing, and says
 * for each thing that is wrong what to do.
 */
import { constants } from 'node:fs';
import { access, readFile, stat, statfs } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { mergeSettings, parseProperties, unknownSettings } from '../../config/java-properties.ts';
import { readConfig } from '../../config/properties.ts';
import type { Config } from '../../config/shape.ts';
import { ConfigError } from '../../config/wrong-settings.ts';
import { versionFault, appliedAsJson } from '../../metadb/migrations.ts';
import { connectPostgres } from '../../postgres/connect.ts';
import { createSocketOpener } from '../../postgres/checked-socket.ts';
import { findPostgresBinaries } from '../../process/embedded-postgres/process.ts';
import { readBuildInfo } from '../../runtime/build-info.ts';
import { type Environment, locateHome, readIfExists } from '../../runtime/home.ts';
import { maskSecrets } from '../../service/jobs/mask-secrets.ts';
import { textTable } from '../cli/terminal.ts';

/** The result of one check. `remedy` is empty if nothing has to be done. */
export interface Finding {
  readonly check: string;
  /** `warning`: it works now, and may fail later */
  readonly state: 'ok' | 'warning' | 'failed';
  /** the observation, without secrets */
  readonly found: string;
  readonly remedy: string;
}

const standardPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'sftp:': 22 };

/** time after which a host, a port or a database counts as unreachable */
const patienceMs = 3000;
/** free bytes below which loads and sorting may run out of room */
const littleRoomBytes = 1024 ** 3;
/** open files that a service with its connections and tools may need */
const fewFiles = 1024;
/** difference between two clocks that is worth a warning */
const clockDifferenceMs = 5000;

/** Runs all checks. Rejects never: a check that cannot run is a finding. */
export async function examine(environment: Environment): Promise<readonly Finding[]> {
  const home = locateHome(environment);
  const findings: Finding[] = [await programVersions(), await homeFolder(home), ...(await room(home))];
  const { config, finding } = await settings(home, environment);
  findings.push(finding, await openFiles(), await servicePort(environment));
  if (config === null) return findings;
  findings.push(...(await database(config, home)));
  for (const root of config.fileRoots) findings.push(await fileRoot(root));
  for (const [purpose, address] of addressesOf(config, environment))
    findings.push(await reachable(purpose, address));
  return findings;
}

/** Returns the findings as a table for people, each remedy below its line. */
export function findingsAsText(findings: readonly Finding[]): string {
  const marks = { ok: 'ok', warning: 'warning', failed: 'FAILED' } as const;
  const lines = textTable(
    null,
    findings.map(({ check, state, found }) => [marks[state], check, found]),
  ).split('\n');
  const withRemedies = lines.flatMap((line, at) => {
    const remedy = findings[at]?.remedy ?? '';
    return remedy === '' ? [line] : [line, `         ${remedy}`];
  });
  const wrong = findings.filter(({ state }) => state === 'failed').length;
  const doubtful = findings.filter(({ state }) => state === 'warning').length;
  const summary =
    wrong + doubtful === 0
      ? `All ${findings.length} checks passed.`
      : `${findings.length} checks: ${wrong} failed, ${doubtful} with a warning.`;
  return [...withRemedies, '', summary].join('\n');
}

function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found, remedy: '' };
}

function failed(check: string, found: string, remedy: string): Finding {
  return { check, state: 'failed', found, remedy };
}

function warning(check: string, found: string, remedy: string): Finding {
  return { check, state: 'warning', found, remedy };
}

function codeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}

/** The program itself runs on a Node that is new enough, because the launcher looks for one. */
async function programVersions(): Promise<Finding> {
  const { name, version } = await readBuildInfo();
  return ok(
    'versions',
    `${name} ${version} on Node ${process.versions.node}, ${process.platform} ${process.arch}`,
  );
}

async function homeFolder(home: string): Promise<Finding> {
  const found = await stat(home).catch((error: unknown) => codeOf(error));
  if (typeof found === 'string') {
    if (found !== 'ENOENT')
      return failed(
        'home',
        `${home} cannot be read (${found})`,
        'Run as the user who owns it, or name another folder in SVC_HOME.',
      );
    let parent = dirname(home);
    while ((await stat(parent).catch(() => null)) === null && parent !== dirname(parent))
      parent = dirname(parent);
    const writable = await access(parent, constants.W_OK | constants.X_OK).then(
      () => true,
      () => false,
    );
    return writable
      ? ok('home', `${home} is created at the first start`)
      : failed(
          'home',
          `${home} does not exist, and ${parent} is not writable`,
          'Name a folder that you can write in SVC_HOME, or create this one for your user.',
        );
  }
  if (!found.isDirectory()) return failed('home', `${home} is not a folder`, 'Name a folder in SVC_HOME.');
  const fault = await access(home, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => null,
    (error: unknown) => codeOf(error),
  );
  if (fault !== null)
    return failed(
      'home',
      `${home} is not writable (${fault})`,
      'Run as the user who owns it, or name another folder in SVC_HOME.',
    );
  if ((found.mode & 0o077) !== 0)
    return warning(
      'home',
      `${home} can be read by other users`,
      `It holds keys and passwords: chmod 700 ${home}`,
    );
  return ok('home', home);
}

async function room(home: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [check, folder] of [
    ['disk', home],
    ['temporary disk', tmpdir()],
  ] as const) {
    let place = folder;
    while ((await stat(place).catch(() => null)) === null && place !== dirname(place)) place = dirname(place);
    try {
      const { bavail, bsize } = await statfs(place);
      const free = bavail * bsize;
      const found = `${(free / 1024 ** 3).toFixed(1)} GiB free at ${place}`;
      findings.push(
        free < littleRoomBytes
          ? warning(check, found, 'Free some room: staged rows need about the size of the documents.')
          : ok(check, found),
      );
    } catch (error) {
      findings.push(
        failed(check, `${place} cannot be examined (${codeOf(error)})`, 'Check that the disk is mounted.'),
      );
    }
  }
  return findings;
}

async function settings(
  home: string,
  environment: Environment,
): Promise<{ readonly config: Config | null; readonly finding: Finding }> {
  const file = join(home, 'conf', 'backend.properties');
  try {
    const config = readConfig(mergeSettings(parseProperties((await readIfExists(file)) ?? ''), environment));
    const unknown = unknownSettings(environment);
    return {
      config,
      finding:
        unknown.length === 0
          ? ok('settings', `${file} and the environment are valid`)
          : warning(
              'settings',
              `unknown variables: ${unknown.join(', ')}`,
              'Correct their names (docs/reference/properties.md lists them), or remove them: they have no effect.',
            ),
    };
  } catch (error) {
    const reason = error instanceof ConfigError ? error.message : `${file} cannot be read (${codeOf(error)})`;
    return {
      config: null,
      finding: failed(
        'settings',
        maskSecrets(reason.replaceAll('\n', '; ')),
        `Correct ${file} or the environment.`,
      ),
    };
  }
}

/** Linux tells the limit of this process; other systems are not examined. */
async function openFiles(): Promise<Finding> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const text = /^Max open files\s+(\S+)/m.exec(limits)?.[1];
  if (text === undefined) return ok('open files', 'not examined on this system');
  const found = `at most ${text}`;
  return Number(text) < fewFiles
    ? warning('open files', found, 'Raise the limit (ulimit -n 65536, or LimitNOFILE= of the systemd unit).')
    : ok('open files', found);
}

async function servicePort(environment: Environment): Promise<Finding> {
  const host = environment['HOST'] || '127.0.0.1';
  const text = environment['PORT'] || '8080';
  const port = /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : null;
  if (port === null) return failed('port', `PORT is ${text}`, 'Set PORT to a number from 0 to 65535.');
  const fault = await new Promise<string | null>((settle) => {
    const server = createServer();
    server.once('error', (error) => settle(codeOf(error)));
    server.listen(port, host, () => server.close(() => settle(null)));
  });
  if (fault === null) return ok('port', `${host}:${port} is free`);
  if (fault === 'EADDRINUSE') {
    const running = await isOurService(host, port);
    return running
      ? ok('port', `a service of this program runs on ${host}:${port}`)
      : failed(
          'port',
          `another program uses ${host}:${port}`,
          'Set PORT to another port, for example PORT=8081.',
        );
  }
  const remedy =
    fault === 'EACCES'
      ? 'This user may not use ports below 1024: set PORT to a higher port, and let a proxy forward to it.'
      : 'Set HOST to an address of this machine (ip addr lists them).';
  return failed('port', `${host}:${port} cannot be used (${fault})`, remedy);
}

async function isOurService(host: string, port: number): Promise<boolean> {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  try {
    const answer = await fetch(
      `http://${name.includes(':') ? `[${name}]` : name}:${port}/actuator/health/liveness`,
      {
        signal: AbortSignal.timeout(patienceMs),
      },
    );
    return ((await answer.json()) as { readonly status?: unknown }).status === 'UP';
  } catch {
    // a program that does not speak HTTP or JSON is not ours
    return false;
  }
}

/** The metadata database: that of the settings or of a running service, otherwise the programs of the embedded one. */
async function database(config: Config, home: string): Promise<Finding[]> {
  const recorded = (await readIfExists(join(home, 'metadb.url')).catch(() => null))?.trim() ?? '';
  const url = config.metadbUrl ?? (recorded === '' ? null : recorded);
  const answer = url === null ? null : await askDatabase(url);
  if (answer !== null && !('fault' in answer)) return databaseFindings(answer);
  if (config.metadbUrl !== null && answer !== null)
    return [
      failed(
        'database',
        maskSecrets(`${config.metadbUrl} does not answer: ${answer.fault}`),
        'Start the database, or correct svc.metadb.url (SVC_METADB_URL); check its address, user, password and firewall.',
      ),
    ];
  try {
    await findPostgresBinaries();
    return [ok('database', 'the embedded PostgreSQL starts when it is needed')];
  } catch (error) {
    return [
      failed(
        'database',
        `the embedded PostgreSQL cannot start: ${(error as Error).message}`,
        'Run npm ci again without --omit=optional, or name a PostgreSQL of yours in SVC_METADB_URL.',
      ),
    ];
  }
}

interface DatabaseAnswer {
  readonly version: string;
  readonly clockMs: number;
  readonly askedMs: number;
  /** why this program must not work on the database; null if it may */
  readonly versionFault: string | null;
}

async function askDatabase(url: string): Promise<DatabaseAnswer | { readonly fault: string }> {
  const sql = connectPostgres(url, {
    applicationName: 'conversion-job-service doctor',
    max: 1,
    openSocket: createSocketOpener(patienceMs),
  });
  try {
    const asked = sql<{ version: string; clock: string; known: string | null }[]>`
      select current_setting('server_version') as version,
             (extract(epoch from clock_timestamp()) * 1000)::bigint::text as clock,
             to_regclass('svc.migration')::text as known`;
    const late = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error(`no answer within ${patienceMs / 1000} s`)), patienceMs).unref();
    });
    const [row] = await Promise.race([asked, late]);
    const askedMs = Date.now();
    let fault: string | null = null;
    if (row!.known !== null) {
      const [applied] = await sql<
        { migrations: string | null }[]
      >`select ${appliedAsJson(sql)} as migrations`;
      fault = versionFault(applied?.migrations ?? null);
    }
    return { version: row!.version, clockMs: Number(row!.clock), askedMs, versionFault: fault };
  } catch (error) {
    return { fault: (error as Error).message };
  } finally {
    await sql.end({ timeout: 1 });
  }
}

function databaseFindings(answer: DatabaseAnswer): Finding[] {
  const differenceMs = Math.abs(answer.clockMs - answer.askedMs);
  return [
    answer.versionFault === null
      ? ok('database', `PostgreSQL ${answer.version} answers`)
      : failed(
          'database',
          answer.versionFault,
          'Run the version of this program that migrated the database, or a later one.',
        ),
    differenceMs > clockDifferenceMs
      ? warning(
          'clock',
          `it differs by ${Math.round(differenceMs / 1000)} s from the clock of the database`,
          'Synchronise both machines (chrony, systemd-timesyncd): tokens and signed requests depend on the time.',
        )
      : ok('clock', `${new Date(answer.askedMs).toISOString()}, as the clock of the database`),
  ];
}

async function fileRoot(root: string): Promise<Finding> {
  const folder = root.split('{org}')[0]!;
  const fault = await access(folder, constants.R_OK | constants.X_OK).then(
    () => null,
    (error: unknown) => codeOf(error),
  );
  return fault === null
    ? ok('files', `${root} can be read`)
    : failed(
        'files',
        `${root} cannot be read (${fault})`,
        'Create it, or let the user of the service read it; svc.files.roots names it.',
      );
}

/** Addresses of the settings that the service connects to, each with its purpose. */
function addressesOf(
  config: Config,
  environment: Environment,
): readonly (readonly [purpose: string, address: URL])[] {
  const found: [string, URL][] = [];
  const add = (purpose: string, text: string | null | undefined): void => {
    const address = text === null || text === undefined ? null : URL.parse(text);
    if (address !== null && address.hostname !== '') found.push([purpose, address]);
  };
  add('object store', config.objectStore?.endpoint);
  for (const { name, access: way } of config.sources ?? []) {
    if ('endpoint' in way) add(`source ${name}`, way.endpoint);
    else add(`source ${name}`, `${way.kind}://${way.host}`);
  }
  add('identity provider', config.oidc?.jwks);
  add('webhook', config.events.webhook?.url);
  add('OpenLineage', config.events.openLineage?.url);
  add('collector of spans', environment['OTEL_EXPORTER_OTLP_ENDPOINT']);
  return found;
}

async function reachable(purpose: string, { hostname, protocol, port }: URL): Promise<Finding> {
  const number = Number(port) || (standardPorts[protocol] ?? 443);
  const host = hostname.replace(/^\[|\]$/g, '');
  const fault = await new Promise<string | null>((settle) => {
    const socket = connect({ host, port: number, timeout: patienceMs });
    const end = (found: string | null): void => {
      socket.destroy();
      settle(found);
    };
    socket.once('connect', () => end(null));
    socket.once('timeout', () => end(`no answer within ${patienceMs / 1000} s`));
    socket.once('error', (error) => end(codeOf(error)));
  });
  return fault === null
    ? ok(purpose, `${host}:${number} is reachable`)
    : failed(
        purpose,
        `${host}:${number} is not reachable (${fault})`,
        'Check the name, the firewall and the proxy between here and there.',
      );
}
