/**
 * The sockets of a pool, none of which outlives it. The driver (3.4.9) forgets a connection that is being opened while its pool ends:
 * it is opened all the same, is never used, and keeps the process alive.
 */
/** The part of a Node socket that is needed. */
export interface PoolSocket {
  /** the driver has said goodbye on it */
  readonly writableEnded: boolean;
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

interface Endable {
  /** `timeout`: seconds that queries may take */
  end(options?: { readonly timeout?: number }): Promise<void>;
}

export interface PoolSockets {
  /** The socket; one that comes when its pool has ended is closed, and CONNECTION_DESTROYED thrown. */
  add<Opened extends PoolSocket>(socket: Opened): Opened;
  /** The pool, changed: with its end, all its sockets end. */
  endWith<Ended extends Endable>(pool: Ended): Ended;
}

const openSockets = new WeakMap<object, () => number>();

/** Returns the number of open connections of a pool; 0 for other objects. */
export function openConnections(pool: object): number {
  return openSockets.get(pool)?.() ?? 0;
}

export function createPoolSockets(): PoolSockets {
  const open = new Set<PoolSocket>();
  let hasEnded = false;
  return {
    add(socket) {
      if (hasEnded) {
        socket.destroy();
        throw Object.assign(new Error('the pool has ended'), { code: 'CONNECTION_DESTROYED' });
      }
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      return socket;
    },
    endWith(pool) {
      const end = pool.end.bind(pool);
      openSockets.set(pool, () => open.size);
      return Object.assign(pool, {
        async end(options?: { readonly timeout?: number }): Promise<void> {
          // queries that are under way may need a connection until then
          if (options?.timeout === 0) hasEnded = true;
          try {
            await end(options);
          } finally {
            hasEnded = true;
            for (const socket of open) if (!socket.writableEnded) socket.destroy();
          }
        },
      });
    },
  };
}
