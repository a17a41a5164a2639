/**
 * Answers of a target that never come: where something between swallows what is sent both ways, the connection lives for either
 * side, and each waits for the other. Another connection then shows that the server waits for us, too.
 */
import type { Socket } from 'node:net';
import type { Sql } from '../../client/connect.ts';
import { connectTarget, type TargetAddress } from './open.ts';

/** Time between two probes of a silent connection. */
export const probeIntervalMs = 10_000;
/** Probes in a row that must find the same before a connection counts as cut. */
const enough = 3;

export interface SilenceWatch {
  /** every socket of the work that is watched */
  readonly sockets: Set<Socket>;
  /** Watches while `work`, which waits for nothing but the target, has not settled. Its sockets are closed when nothing will come. */
  during<T>(work: () => Promise<T>): Promise<T>;
}

export interface SilenceOptions {
  readonly address: TargetAddress;
  /** process ids of the server's ends */
  readonly backends: () => readonly number[];
  readonly everyMs?: number;
}

export function createSilenceWatch(options: SilenceOptions): SilenceWatch {
  const { backends, everyMs = probeIntervalMs } = options;
  // what the server is doing is shown to the login, not to the role it takes on
  const { setRole: _, ...address } = options.address;
  const sockets = new Set<Socket>();
  let working = 0;
  let timer: ReturnType<typeof setInterval> | null = null;
  let silent = 0;
  let looking = false;
  let moved = -1;

  async function look(): Promise<void> {
    const now = bytesMoved(sockets);
    if (now !== moved || sockets.size === 0) {
      moved = now;
      silent = 0;
      return;
    }
    silent =
      (await serverWaits(address, backends(), everyMs)) && bytesMoved(sockets) === moved ? silent + 1 : 0;
    // Without an error: the driver forgets queries that come between the error of a socket and its end
    if (silent >= enough && working > 0) for (const socket of sockets) socket.destroy();
  }

  function start(): void {
    silent = 0;
    moved = -1;
    timer = setInterval(() => {
      if (looking) return;
      looking = true;
      void look().finally(() => (looking = false));
    }, everyMs);
    timer.unref();
  }

  return {
    sockets,
    async during(work) {
      working += 1;
      if (working === 1) start();
      try {
        return await work();
      } finally {
        working -= 1;
        if (working === 0) clearInterval(timer!);
      }
    },
  };
}

function bytesMoved(sockets: ReadonlySet<Socket>): number {
  let sum = 0;
  for (const socket of sockets) sum += socket.bytesRead + socket.bytesWritten - socket.writableLength;
  return sum;
}

/** Whether all these sessions wait for their client, or are gone. A server that cannot be asked is waited for: it may be busy. */
async function serverWaits(
  address: TargetAddress,
  backends: readonly number[],
  everyMs: number,
): Promise<boolean> {
  const sql: Sql = connectTarget(address);
  // an answer that is swallowed, too
  const giveUp = setTimeout(() => void sql.end({ timeout: 0 }), Math.max(everyMs, 2000));
  try {
    const busy = await sql.unsafe(
      `SELECT FROM pg_stat_activity WHERE pid IN (${[0, ...backends].join(', ')})
         AND state = 'active' AND wait_event_type IS DISTINCT FROM 'Client'`,
    );
    return busy.length === 0;
  } catch (error) {
    return unreachable(error);
  } finally {
    clearTimeout(giveUp);
    await sql.end({ timeout: 0 });
  }
}

/** Nobody answers there any more; a server that refuses is there. */
function unreachable(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^(?:CONNECT_TIMEOUT|CONNECTION_|ECONN|EHOST|ENET|ETIMEDOUT)/.test(code);
}
