/** The whole service in this process, behind an HTTP server of its own. */
import { ConfigError } from '../config/wrong-settings.ts';
import type { Environment } from './home.ts';
import { closeServer, listen } from './listen.ts';
import { openService } from './open-service.ts';
import type { OpenedInstallation } from './open-installation.ts';
import { AppError } from '../errors.ts';

interface ServiceOptions {
  /** settings, SVC_HOME, HOST and PORT */
  readonly environment: Environment;
  /** takes the lines for the person who starts it, without line ends */
  readonly print: (line: string) => void;
  /** takes the lines of the log, their ends included */
  readonly write: (line: string) => void;
}

interface Service {
  /** `http://HOST:PORT` */
  readonly url: string;
  readonly opened: OpenedInstallation;
  /** Drains: readiness 503, running jobs finish or are handed back, then everything is closed. Idempotent. */
  close(): Promise<void>;
}

/** Resolves once requests are answered. ConfigError for wrong settings; AppError when there is no database. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { environment, print, write } = options;
  const { host, port } = readAddress(environment);
  const service = await openService({ environment, write });
  try {
    const { server, url } = await listen(service.fetch, { host, port, ...service.config.limits });
    await service.start();
    for (const notice of service.notices) print(notice);
    print(`listening on ${url}`);
    let closed: Promise<void> | null = null;
    const close = async (): Promise<void> => {
      await service.drain();
      await closeServer(server);
      await service.close();
    };
    return { url, opened: service.opened, close: () => (closed ??= close()) };
  } catch (error) {
    await service.close();
    throw error;
  }
}

/** HOST and PORT. */
function readAddress(environment: Environment): { readonly host: string; readonly port: number } {
  const host = environment['HOST'] || '127.0.0.1';
  const text = environment['PORT'] || '8080';
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new ConfigError(['PORT: must be a number from 0 to 65535']);
  return { host, port };
}

// Runs a process that serves until it is asked to end.

const repeatMs = 1000;

/**
 * Starts, waits for SIGTERM or SIGINT, closes, exits 0; a second signal, a second or more later, exits at once. Exits 1, with the
 * reason in one line each, when it cannot start.
 */
export async function runUntilSignal(start: () => Promise<{ close(): Promise<void> }>): Promise<void> {
  const signalled = new Promise<void>((resolve) => {
    let first: number | null = null;
    const onSignal = (): void => {
      const now = performance.now();
      // a terminal's Ctrl-C reaches us twice if npm forwards it: both count as one
      if (first !== null && now - first > repeatMs) process.exit(1);
      first ??= now;
      resolve();
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
  try {
    const started = await start();
    await signalled;
    await started.close();
    process.exit(0);
  } catch (error) {
    const known = error instanceof ConfigError || error instanceof AppError;
    process.stderr.write(`${known ? error.message : String((error as Error).stack ?? error)}\n`);
    process.exit(1);
  }
}
