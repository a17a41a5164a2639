/**
 * Finds connections on which answers never come. If a firewall or a router in between drops the bytes of both directions, both sides
 * consider the connection alive, and each waits for the other. Another connection then shows that the server waits for the client, too.
 */
import type { Socket } from 'node:net';

/** Time between two checks of a silent connection, in milliseconds. */
const usualIntervalMs = 10_000;
/** Consecutive checks with the same result before a connection counts as cut. */
const looksUntilCut = 3;

export interface SilenceWatch {
  /** the sockets of the work that is watched */
  readonly sockets: Set<Socket>;
  /**
   * Watches the sockets until `work`, which waits only for the server, has settled. Closes them without an error if no answer will come,
   * because drivers forget queries that are sent between the error of a socket and its end.
   */
  during<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Creates a watch. `serverWaits`: checks over another connection, within that time, whether the server waits for the client, or is out of
 * reach. A server that refuses the connection may be busy.
 */
export function createSilenceWatch(
  serverWaits: (withinMs: number) => Promise<boolean>,
  everyMs: number = usualIntervalMs,
): SilenceWatch {
  const sockets = new Set<Socket>();
  let pending = 0;
  let timer: ReturnType<typeof setInterval> | null = null;
  let silentLooks = 0;
  let isLooking = false;
  let lastMoved = -1;

  async function look(): Promise<void> {
    if (pending === 0) {
      clearInterval(timer!);
      timer = null;
      return;
    }
    const moved = bytesMoved(sockets);
    if (moved !== lastMoved || sockets.size === 0) {
      lastMoved = moved;
      silentLooks = 0;
      return;
    }
    const isSilent = (await serverWaits(Math.max(everyMs, 2000))) && bytesMoved(sockets) === lastMoved;
    silentLooks = isSilent ? silentLooks + 1 : 0;
    if (silentLooks >= looksUntilCut && pending > 0) for (const socket of sockets) socket.destroy();
  }

  function start(): void {
    silentLooks = 0;
    lastMoved = -1;
    timer = setInterval(() => {
      if (isLooking) return;
      isLooking = true;
      void look().finally(() => (isLooking = false));
    }, everyMs);
    timer.unref();
  }

  return {
    sockets,
    async during(work) {
      pending += 1;
      if (timer === null) start();
      try {
        return await work();
      } finally {
        pending -= 1;
      }
    },
  };
}

function bytesMoved(sockets: ReadonlySet<Socket>): number {
  let sum = 0;
  for (const socket of sockets) sum += socket.bytesRead + socket.bytesWritten - socket.writableLength;
  return sum;
}
