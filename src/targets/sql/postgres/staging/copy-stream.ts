/** COPY … FROM STDIN on one connection. */
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { Sql, TransactionSql } from '../../../../postgres/connect.ts';

export interface CopyStream {
  /** Resolves when the bytes have been handed to the system; rejects with the server's error. Takes ownership of the buffer. */
  write(bytes: Uint8Array): Promise<void>;
  /** Ends the data; returns the number of rows that the server received. */
  finish(): Promise<number>;
}

/** A connection that copies into staging. `Table`: the table that it fills. */
export interface Lane<Table> {
  readonly sql: Sql;
  /** the socket to which the server's input is written */
  socket: Socket | null;
  table: Table | null;
  copy: CopyStream | null;
  running: boolean;
  /** its session has been set up */
  isSetUp: boolean;
}

/** The internals of a query of postgres.js, which settles these promises when the server responds. */
interface QueryInternals {
  active: boolean;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/**
 * Begins a COPY. The driver answers a COPY with its stream and then has no way to report how the statement ended: an error after the last
 * byte would be lost. So this function replaces the query's two callbacks before it is sent. The driver's stream copies all data that it
 * gets; if the connection's `socket` is given, messages are written there instead.
 */
export async function startCopy(
  sql: Sql | TransactionSql,
  statement: string,
  socket: Socket | null = null,
): Promise<CopyStream> {
  const query = sql.unsafe(statement);
  const internals = query as unknown as QueryInternals;
  const started = Promise.withResolvers<Writable>();
  const ended = Promise.withResolvers<number>();
  // callers that await these promises get the failure; a promise that nobody awaits yet must not end the process
  started.promise.catch(() => undefined);
  ended.promise.catch(() => undefined);
  internals.resolve = (result) => {
    if (isStream(result)) {
      result.on('error', (error) => ended.reject(error));
      started.resolve(result);
      return;
    }
    internals.active = false;
    ended.resolve((result as { count: number }).count);
  };
  internals.reject = (error) => {
    internals.active = false;
    started.reject(error);
    ended.reject(error);
  };
  query.execute();
  const stream = await started.promise;
  // one listener for all writes: a long COPY makes many
  const waiting = new Set<(error: unknown) => void>();
  let failure: { readonly error: unknown } | null = null;
  ended.promise.catch((error: unknown) => {
    failure = { error };
    for (const reject of waiting) reject(error);
  });
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => {
        if (failure !== null) {
          reject(failure.error);
          return;
        }
        waiting.add(reject);
        const written = (error?: Error | null): void => {
          // the server's error arrives through the other callback
          if (error) return;
          waiting.delete(reject);
          resolve();
        };
        if (socket === null) stream.write(bytes, written);
        else writeCopyData(socket, bytes, written);
      }),
    finish: () => {
      stream.end();
      return ended.promise;
    },
  };
}

/** A CopyData message (PostgreSQL manual §54.7). */
function writeCopyData(socket: Socket, bytes: Uint8Array, written: (error?: Error | null) => void): void {
  const header = Buffer.allocUnsafe(5);
  header.writeUInt8(0x64);
  header.writeUInt32BE(bytes.length + 4, 1);
  socket.cork();
  socket.write(header);
  socket.write(bytes, written);
  socket.uncork();
}

function isStream(result: unknown): result is Writable {
  return typeof (result as Writable | null)?.write === 'function';
}
