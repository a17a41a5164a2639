/** Packages to and from cloud storage with the program azcopy. Its argument holds the token: who must not have that uses `builtin`. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AppError } from '../../errors.ts';
import type { OutgoingPlace } from '../../ports/outgoing.ts';
import type { PackageTransfer } from './package-transfer.ts';
import { createPinnedProxy } from './pinned-proxy.ts';
import { baseEnvironment } from './process-runner.ts';

/** A copy that takes longer is ended: azcopy itself tries for hours. */
const timeoutMs = 6 * 60 * 60 * 1000;
const maxOutputBytes = 16 * 1024 * 1024;

/** Whether a program of that name can be started. */
export async function isAzcopyThere(binary: string): Promise<boolean> {
  return withScratch(async (scratch) =>
    promisify(execFile)(binary, ['--version'], { env: environmentOf(scratch, null), timeout: 30_000 }).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'EACCES',
    ),
  );
}

/** `place`: the addresses that were checked; null by hand, where nothing binds. */
export function createAzcopyTransfer(
  binary: string,
  location: URL,
  place: OutgoingPlace | null,
  manifestName: string,
): PackageTransfer {
  const within = (name: string): string => {
    const url = new URL(location);
    url.pathname += name;
    return url.href;
  };
  return {
    async upload(folder) {
      const to = location.href;
      const from = join(folder, '*');
      // The manifest comes last: a copy that breaks off leaves nothing that looks whole
      await copy(binary, place, [from, to, '--from-to=LocalBlob', `--exclude-pattern=${manifestName}`]);
      await copy(binary, place, [join(folder, manifestName), within(manifestName), '--from-to=LocalBlob']);
    },
    async download(folder) {
      await copy(binary, place, [within('*'), folder, '--from-to=BlobLocal']);
      if ((await readdir(folder)).length === 0)
        throw new AppError('unprocessable_input', 'there is nothing at the cloud location');
    },
  };
}

/** `--check-length` and MD5 are azcopy's own; what arrived is held against the manifest anyway. */
async function copy(binary: string, place: OutgoingPlace | null, words: readonly string[]): Promise<void> {
  // the proxy passes TLS only; plain http goes to loopback, where there is no name to be resolved again
  const proxy =
    place !== null && place.port !== 80 && words.some((word) => word.startsWith('https:'))
      ? await createPinnedProxy(place)
      : null;
  try {
    await withScratch(async (scratch) => {
      const args = ['copy', ...words, '--overwrite=true', '--output-level=essential', '--log-level=NONE'];
      await promisify(execFile)(binary, args, {
        env: environmentOf(scratch, proxy?.url ?? null),
        timeout: timeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: maxOutputBytes,
      });
    });
  } catch (error) {
    // its message repeats the arguments, and with them the token
    const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string };
    const said = `${stdout ?? ''}\n${stderr ?? ''}`.trim().split('\n').slice(-12).join(' | ');
    throw new AppError('service_unavailable', `azcopy ended with ${String(code ?? 'a signal')}: ${said}`);
  } finally {
    await proxy?.close();
  }
}

function environmentOf(scratch: string, proxy: string | null): Record<string, string> {
  return {
    ...baseEnvironment(),
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
