/** Serves a file store to tools: the service's side of src/storage/relay/protocol.ts. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { AppError, type ErrorCode } from '../../errors.ts';
import type { JobFiles } from '../../ports/files.ts';
import { endOfList, type RelayAddress, type RelayFault } from './protocol.ts';

export interface StoreServer {
  /** Opens the store to one run: its organisation's files, until `end`. */
  admit(idOrg: number): Promise<{ readonly address: RelayAddress; readonly end: () => void }>;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** longest path of a Unix socket that Linux and macOS accept, in bytes */
const longestSocketPath = 100;
const longestQuestion = 64 * 1024;

/** A run that may use the store. */
interface Admitted {
  readonly token: Buffer;
  readonly idOrg: number;
  /** locations that the run may use, with all below them: those that the store has resolved or listed for it */
  readonly locations: Set<string>;
}

/** `directory`: private folder, made when needed, for the socket. */
export function createStoreServer(files: JobFiles, directory: string): StoreServer {
  const admitted = new Map<string, Admitted>();
  let listening: Promise<{
    readonly server: Server;
    readonly socket: string;
    readonly folder: string;
  }> | null = null;

  const listen = async () => {
    const folder = await socketFolder(directory);
    const socket = join(folder, 'socket');
    const server = createServer((request, response) => void answer(request, response));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(socket, resolve);
    });
    server.unref();
    return { server, socket, folder };
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const run = runOf(request);
    try {
      if (run === null) throw new AppError('unauthorized', 'the run of this token has ended');
      await operations[operationOf(request)](run, request, response);
    } catch (error) {
      // a body that has begun can only be broken off
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, faultOf(error));
      request.resume();
    }
  }

  function runOf({ headers }: IncomingMessage): Admitted | null {
    const [id = '', secret = ''] = (headers.authorization ?? '').replace(/^Bearer /, '').split('.');
    const run = admitted.get(id);
    const given = Buffer.from(secret);
    return run !== undefined && given.length === run.token.length && timingSafeEqual(given, run.token)
      ? run
      : null;
  }

  /** The location of a request. AppError `path_not_allowed` if the store has not given it to the run. */
  function locationOf(run: Admitted, request: IncomingMessage): string {
    const location = queryOf(request).get('location') ?? '';
    if (location.split('/').includes('..')) throw notGiven();
    if (run.locations.has(location)) return location;
    for (let at = location.lastIndexOf('/'); at > 0; at = location.lastIndexOf('/', at - 1))
      if (run.locations.has(location.slice(0, at))) return location;
    throw notGiven();
  }

  type Operation = (run: Admitted, request: IncomingMessage, response: ServerResponse) => Promise<void>;
  const operations: Readonly<Record<OperationName, Operation>> = {
    async resolve(run, request, response) {
      const { path, mustExist } = JSON.parse(await textOf(request)) as { path: string; mustExist: boolean };
      const location = await files.resolve(run.idOrg, path, mustExist);
      run.locations.add(location);
      sendJson(response, 200, { location });
    },
    async list(run, request, response) {
      const location = locationOf(run, request);
      const lines = async function* (): AsyncGenerator<string> {
        for await (const file of files.listFiles(location)) {
          // a store may have other locations for the files of a folder than names below its own
          if (!file.location.startsWith(`${location}/`)) run.locations.add(file.location);
          yield `${JSON.stringify(file)}\n`;
        }
        yield `${endOfList}\n`;
      };
      response.writeHead(200);
      await pipeline(Readable.from(lines()), response);
    },
    async read(run, request, response) {
      const location = locationOf(run, request);
      const query = queryOf(request);
      const range = query.has('offset')
        ? { offset: Number(query.get('offset')), length: Number(query.get('length')) }
        : undefined;
      const body = await files.read(location, range);
      if (body === null) {
        response.writeHead(204).end();
        return;
      }
      response.writeHead(200);
      await pipeline(Readable.fromWeb(body as unknown as NodeReadableStream<Uint8Array>), response);
    },
    async write(run, request, response) {
      const location = locationOf(run, request);
      const body = Readable.toWeb(request) as unknown as ReadableStream<Uint8Array>;
      sendJson(response, 200, { bytes: await files.write(location, body) });
    },
    async create(run, request, response) {
      const location = locationOf(run, request);
      const bytes = new Uint8Array(Buffer.concat(await request.toArray()));
      sendJson(response, 200, { created: await files.create!(location, bytes) });
    },
    async discard(run, request, response) {
      await files.discard(locationOf(run, request));
      sendJson(response, 200, {});
    },
    async usedBytes(run, _, response) {
      sendJson(response, 200, { bytes: await files.usedBytes(run.idOrg) });
    },
  };

  return {
    async admit(idOrg) {
      const { socket } = await (listening ??= listen());
      const id = randomBytes(8).toString('hex');
      const secret = randomBytes(32).toString('hex');
      admitted.set(id, { token: Buffer.from(secret), idOrg, locations: new Set() });
      return {
        address: {
          socket,
          token: `${id}.${secret}`,
          local: files.local,
          creates: files.create !== undefined,
        },
        end: () => void admitted.delete(id),
      };
    },
    async close() {
      if (listening === null) return;
      const { server, folder } = await listening;
      listening = null;
      admitted.clear();
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const operationNames = ['resolve', 'list', 'read', 'write', 'create', 'discard', 'usedBytes'] as const;
export type OperationName = (typeof operationNames)[number];

function operationOf({ url = '' }: IncomingMessage): OperationName {
  const name = new URL(url, 'http://files').pathname.slice(1);
  const known = operationNames.find((operation) => operation === name);
  if (known === undefined) throw new AppError('internal_error', `there is no operation ${name} on files`);
  return known;
}

function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  return new URL(url, 'http://files').searchParams;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8') as AsyncIterable<string>) {
    text += chunk;
    if (text.length > longestQuestion) throw new AppError('payload_too_large', 'the path is too long');
  }
  return text;
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
}

/** A store that throws anything but an AppError may work at the next attempt. */
function faultOf(error: unknown): RelayFault {
  if (error instanceof AppError) return { code: error.code, message: error.message };
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: 'service_unavailable' satisfies ErrorCode,
    message: `the file store cannot be used now: ${message}`,
  };
}

function notGiven(): AppError {
  return new AppError('path_not_allowed', 'the file store has not given this location to the job');
}

/** A folder for the owner alone, with a path that is short enough for a socket in it. */
async function socketFolder(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const prefix = join(directory, 'files-');
  const isShort = Buffer.byteLength(join(`${prefix}XXXXXX`, 'socket')) <= longestSocketPath;
  return mkdtemp(isShort ? prefix : join(tmpdir(), 'files-'));
}
