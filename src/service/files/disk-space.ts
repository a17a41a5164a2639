/** Measures how much of the disk an organisation's files and logs use, and ends uploads that would exceed the limit. */
import { AppError } from '../../errors.ts';
import type { Clock } from '../../ports/environment.ts';
import type { FileStore, LogReader } from '../../ports/files.ts';
import type { JobStore } from '../../ports/stores/jobs.ts';

/** Time for which a count is valid, because jobs write files, too, and other processes accept uploads. */
const freshMs = 10_000;

export interface DiskSpace {
  /**
   * Stores a body that fits into the remaining space. AppError `payload_too_large` if less is left than was declared, or than the body
   * contains. Concurrent uploads count with their declared size, or with the received bytes if these are more.
   */
  within<T>(
    idOrg: number,
    declaredBytes: number,
    body: ReadableStream<Uint8Array>,
    store: (body: ReadableStream<Uint8Array>) => Promise<T>,
  ): Promise<T>;
  /** AppError `payload_too_large` if `bytes` more are too many now; 0 checks whether any are left. */
  check(idOrg: number, bytes: number): Promise<void>;
}

interface Usage {
  /** bytes of complete files */
  stored: number;
  countedMs: number | null;
  counting: Promise<void> | null;
  /** bytes of uploads that were completed during the count, which may have missed them */
  meanwhile: number;
  underWay: number;
}

/** The stores that disk usage is computed from. */
export interface DiskUsers {
  readonly files: Pick<FileStore, 'usedBytes'>;
  readonly logs: Pick<LogReader, 'logBytes'>;
  readonly jobs: Pick<JobStore, 'listIds'>;
}

/** `maxBytes`: limit for one organisation; if it is `Number.MAX_SAFE_INTEGER`, nothing is counted. */
export function createDiskSpace({ files, logs, jobs }: DiskUsers, clock: Clock, maxBytes: number): DiskSpace {
  const organisations = new Map<number, Usage>();

  function usageOf(idOrg: number): Usage {
    const known = organisations.get(idOrg);
    if (known !== undefined) return known;
    const usage = { stored: 0, countedMs: null, counting: null, meanwhile: 0, underWay: 0 };
    organisations.set(idOrg, usage);
    return usage;
  }

  async function count(idOrg: number, usage: Usage): Promise<void> {
    usage.meanwhile = 0;
    try {
      const ofLogs = await logs.logBytes(await jobs.listIds(idOrg));
      const ofFiles = await files.usedBytes(idOrg);
      usage.stored = ofFiles + ofLogs + usage.meanwhile;
      usage.countedMs = clock.nowMs();
    } finally {
      usage.counting = null;
    }
  }

  const isTooMuch = ({ stored, underWay }: Usage, bytes: number): boolean => {
    const sum = stored + underWay + bytes;
    return sum > maxBytes || (bytes === 0 && sum === maxBytes);
  };

  async function check(idOrg: number, bytes: number): Promise<void> {
    const usage = usageOf(idOrg);
    const age = usage.countedMs === null ? Infinity : clock.nowMs() - usage.countedMs;
    // files may have been removed since
    if (age >= freshMs || isTooMuch(usage, bytes)) await (usage.counting ??= count(idOrg, usage));
    if (isTooMuch(usage, bytes)) throw full(maxBytes);
  }

  if (maxBytes === Number.MAX_SAFE_INTEGER)
    return { check: async () => undefined, within: (_idOrg, _declaredBytes, body, store) => store(body) };
  return {
    check,
    async within(idOrg, declaredBytes, body, store) {
      await check(idOrg, declaredBytes);
      const usage = usageOf(idOrg);
      // between the check and here another one may have come in
      if (isTooMuch(usage, declaredBytes)) throw full(maxBytes);
      let own = 0;
      let reserved = declaredBytes;
      usage.underWay += reserved;
      const counted = body.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, controller) {
            own += chunk.byteLength;
            const more = Math.max(0, own - reserved);
            if (more > 0 && isTooMuch(usage, more)) throw full(maxBytes);
            reserved += more;
            usage.underWay += more;
            controller.enqueue(chunk);
          },
        }),
      );
      try {
        const stored = await store(counted);
        usage.stored += own;
        usage.meanwhile += own;
        return stored;
      } finally {
        usage.underWay -= reserved;
      }
    },
  };
}

function full(maxBytes: number): AppError {
  return new AppError(
    'payload_too_large',
    `the files of this organisation may have ${maxBytes} bytes together (svc.limits.disk), uploads, outputs and logs of jobs: remove some of them`,
  );
}
