/** The file store of a host, as a tool reaches it: the tool's side of src/storage/relay/protocol.ts. */
import { Agent, request as sendRequest, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { text } from 'node:stream/consumers';
import { AppError, errorCatalogue, type ErrorCode } from '../../errors.ts';
import type { FileStore, JobFiles, LocatedFile } from '../../ports/files.ts';
import { endOfList, type RelayAddress, type RelayFault } from './protocol.ts';

export interface RelayedFiles extends JobFiles {
  /** Ends the connections. */
  close(): void;
}

/** `address`: the text of `relayVariable`. */
export function createRelayedFiles(address: string): RelayedFiles {
  const { socket, token, local, creates } = JSON.parse(address) as RelayAddress;
  const agent = new Agent({ keepAlive: true });

  async function ask(
    operation: string,
    query: Readonly<Record<string, string>>,
    body: string | Uint8Array | ReadableStream<Uint8Array> = '',
  ): Promise<IncomingMessage> {
    const path = `/${operation}?${new URLSearchParams(query).toString()}`;
    const request = sendRequest({
      socketPath: socket,
      agent,
      method: 'POST',
      path,
      headers: { Authorization: `Bearer ${token}` },
    });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve);
      request.once('error', reject);
    });
    // the fault of the body is reported below
    answered.catch(() => undefined);
    let response: IncomingMessage;
    try {
      if (typeof body === 'string' || body instanceof Uint8Array) request.end(body);
      else
        await pipeline(Readable.fromWeb(body as unknown as NodeReadableStream<Uint8Array>), request).catch(
          async (error: unknown) => {
            // a server that refuses a body answers before its end
            if (!isConnectionFault(error)) throw error;
          },
        );
      response = await answered;
    } catch (error) {
      if (!isConnectionFault(error)) throw error;
      throw new AppError(
        'service_unavailable',
        'the service, which has the files of the job, does not answer',
        {
          cause: error,
        },
      );
    }
    const { statusCode = 0 } = response;
    if (statusCode < 300) return response;
    const { code, message } = JSON.parse(await text(response)) as RelayFault;
    throw new AppError(
      Object.hasOwn(errorCatalogue, code) ? (code as ErrorCode) : 'service_unavailable',
      message,
    );
  }

  async function answerOf<T>(...question: Parameters<typeof ask>): Promise<T> {
    return JSON.parse(await text(await ask(...question))) as T;
  }

  const create: FileStore['create'] = async (location, bytes) =>
    (await answerOf<{ created: boolean }>('create', { location }, bytes)).created;

  return {
    local,
    ...(creates ? { create } : {}),

    async resolve(_, path, mustExist) {
      return (await answerOf<{ location: string }>('resolve', {}, JSON.stringify({ path, mustExist })))
        .location;
    },

    async *listFiles(location, scan) {
      const response = await ask('list', { location });
      // a list that is cut off lacks its last line
      response.on('error', () => undefined);
      let last = '';
      try {
        for await (const line of createInterface({ input: response, crlfDelay: Infinity })) {
          last = line;
          if (line === endOfList) break;
          scan?.onEntry();
          yield JSON.parse(line) as LocatedFile;
        }
      } catch (error) {
        throw isConnectionFault(error) ? brokenOff() : error;
      } finally {
        response.destroy();
      }
      if (last !== endOfList) throw brokenOff();
    },

    async read(location, range) {
      const part: Readonly<Record<string, string>> =
        range === undefined ? {} : { offset: String(range.offset), length: String(range.length) };
      const response = await ask('read', { location, ...part });
      if (response.statusCode === 204) {
        response.resume();
        return null;
      }
      return Readable.toWeb(response) as unknown as ReadableStream<Uint8Array>;
    },

    async write(location, body) {
      return (await answerOf<{ bytes: number }>('write', { location }, body)).bytes;
    },

    async discard(location) {
      await answerOf('discard', { location });
    },

    async usedBytes() {
      return (await answerOf<{ bytes: number }>('usedBytes', {})).bytes;
    },

    close: () => agent.destroy(),
  };
}

function isConnectionFault(error: unknown): boolean {
  return /^(?:E[A-Z]+|ERR_STREAM_.*)$/.test(String((error as NodeJS.ErrnoException).code));
}

function brokenOff(): AppError {
  return new AppError(
    'service_unavailable',
    'the list of files is incomplete: the service ended, or its file store failed',
  );
}
