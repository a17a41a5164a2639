/** Packages to and from cloud storage with the program azcopy. Its argument holds the token: who must not have that uses `builtin`. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AppError } from '../../errors.ts';
import { fixedLimits } from '../../config/limits.ts';
import type { CheckedHost } from '../../ports/network.ts';
import type { PackageTransfer } from './local-package-folder.ts';
import { createPinnedHttp, createPinnedProxy } from '../../network/checked-http.ts';
import { trustEnvironment } from './program.ts';
import { baseEnvironment } from '../../process/tool-runner.ts';

/** A copy in which nothing arrives for so long is ended: azcopy itself tries for a quarter of an hour and more. */
const defaultSilenceMs = 120_000;
/** between two checks of the received bytes */
const checkIntervalMs = 1000;
/** time limit for one small request */
const answerMs = 30_000;
/** slower than any line that a package is sent over */
const leastBytesPerSecond = 128 * 1024;
const maxOutputBytes = 16 * 1024 * 1024;

export interface AzcopyOptions {
  readonly binary: string;
  readonly location: URL;
  /** the addresses that were checked */
  readonly checked: CheckedHost;
  /** goes up last */
  readonly manifestName: string;
  readonly silenceMs?: number;
  /** size of all that is downloaded, at most */
  readonly maxBytes?: number;
}

/** Whether a program of that name can be started. */
export async function isAzcopyInstalled(binary: string): Promise<boolean> {
  return withScratch(async (scratch) =>
    promisify(execFile)(binary, ['--version'], { env: environmentOf(scratch, null), timeout: 30_000 }).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'EACCES',
    ),
  );
}

export function createAzcopyTransfer(options: AzcopyOptions): PackageTransfer {
  const {
    location,
    manifestName,
    silenceMs = defaultSilenceMs,
    maxBytes = fixedLimits.packageBytes,
  } = options;
  const within = (name: string): string => {
    const url = new URL(location);
    url.pathname += name;
    return url.href;
  };
  return {
    async upload(folder) {
      await reach(options);
      const patienceMs = silenceMs + Math.ceil(((await sizeOf(folder)) / leastBytesPerSecond) * 1000);
      const signal = AbortSignal.timeout(patienceMs);
      const [from, to, kind] = [join(folder, '*'), location.href, '--from-to=LocalBlob'];
      // The manifest comes last: a copy that breaks off leaves nothing that looks whole
      await copy(options, [from, to, kind, `--exclude-pattern=${manifestName}`], signal);
      await copy(options, [join(folder, manifestName), within(manifestName), kind], signal);
    },
    async download(folder) {
      await reach(options);
      const growth = watchGrowth(folder, silenceMs, maxBytes);
      try {
        await copy(options, [within('*'), folder, '--from-to=BlobLocal'], growth.signal);
      } finally {
        growth.forget();
      }
      if ((await readdir(folder)).length === 0)
        throw new AppError('unprocessable_input', 'there is nothing at the cloud location');
    },
  };
}

/** Checks that a server answers, and in TLS, and reports failures at once: azcopy would retry again and again. */
async function reach({
  location,
  checked,
  manifestName,
  silenceMs = defaultSilenceMs,
}: AzcopyOptions): Promise<void> {
  const url = new URL(location);
  url.pathname += manifestName;
  try {
    const answer = await createPinnedHttp().send(checked, {
      method: 'HEAD',
      url,
      idleTimeoutMs: Math.min(silenceMs, answerMs),
    });
    await answer.body?.cancel();
  } catch (error) {
    const { code } = error as { code?: unknown };
    throw new AppError(
      'service_unavailable',
      `cloud storage does not answer (${String(code ?? 'no reason given')})`,
    );
  }
}

/** Aborts once the files of a folder have not grown for a while, or are more than a package may have. */
function watchGrowth(
  folder: string,
  silenceMs: number,
  maxBytes: number,
): { readonly signal: AbortSignal; forget(): void } {
  const controller = new AbortController();
  let size = -1;
  let sinceMs = performance.now();
  const timer = setInterval(
    () => {
      void sizeOf(folder).then((now) => {
        if (now > maxBytes)
          controller.abort(
            new AppError(
              'unprocessable_input',
              'the cloud location has more files or bytes than a package can have',
            ),
          );
        else if (now !== size) [size, sinceMs] = [now, performance.now()];
        else if (performance.now() - sinceMs >= silenceMs) controller.abort();
      });
    },
    Math.min(silenceMs, checkIntervalMs),
  );
  return { signal: controller.signal, forget: () => clearInterval(timer) };
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const sizes = names.map((name) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

async function copy(
  { binary, location, checked }: AzcopyOptions,
  words: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  // the proxy passes TLS only; plain http goes to loopback, by address
  const proxy = location.protocol === 'https:' ? await createPinnedProxy(checked) : null;
  try {
    await withScratch(async (scratch) => {
      const args = ['copy', ...words, '--overwrite=true', '--output-level=essential', '--log-level=NONE'];
      await promisify(execFile)(binary, args, {
        env: environmentOf(scratch, proxy?.url ?? null),
        signal,
        killSignal: 'SIGKILL',
        maxBuffer: maxOutputBytes,
      });
    });
  } catch (error) {
    if (signal.reason instanceof AppError) throw signal.reason;
    if (signal.aborted)
      throw new AppError('service_unavailable', 'the copy to or from cloud storage made no progress');
    // its message repeats the arguments, and with them the token
    const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string };
    const said = `${stdout ?? ''}\n${stderr ?? ''}`.trim().split('\n').slice(-12).join(' | ');
    throw new AppError(
      'service_unavailable',
      `azcopy could not copy to or from cloud storage (${String(code)}): ${said}`,
    );
  } finally {
    await proxy?.close();
  }
}

function environmentOf(scratch: string, proxy: string | null): Record<string, string> {
  return {
    ...baseEnvironment(),
    ...trustEnvironment(),
    HOME: scratch,
    AZCOPY_LOG_LOCATION: scratch,
    AZCOPY_JOB_PLAN_LOCATION: scratch,
    AZCOPY_DISABLE_SYSLOG: 'true',
    ...(proxy === null ? {} : { HTTPS_PROXY: proxy, https_proxy: proxy }),
  };
}

/** Its logs and plans hold the address: they end with the copy. */
async function withScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const scratch = await mkdtemp(join(tmpdir(), 'azcopy-'));
  try {
    return await work(scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
