/** A way to an S3 server on which some requests fail: before or after they were done, by an error, by a refusal of what was done, by a broken connection, or by no answer as long as somebody waits. */
import { createServer, request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { S3Settings } from '../../../src/storage/object-store/s3-requests.ts';

export interface FaultyStore {
  readonly settings: S3Settings;
  /** requests that failed so far */
  faults(): number;
  end(): Promise<void>;
}

interface Fault {
  /** what was asked for is done */
  readonly after: boolean;
  readonly status: number | null;
}

export interface FaultShares {
  /** of the requests that fail */
  readonly share: number;
  /** of those, the ones without any answer (1 %): each takes as long as a job waits for one */
  readonly silentShare?: number;
}

export async function startFaultyStore(
  store: S3Settings,
  { share, silentShare = 0.01 }: FaultShares,
): Promise<FaultyStore> {
  const { hostname, port } = new URL(store.endpoint);
  let count = 0;

  /** Null: this one goes well. A status of 0: the connection breaks; null: no answer ever comes. 412 is what a store answers to the second try of what it has done. */
  function faultOf({ method, headers }: IncomingMessage): Fault | null {
    if (Math.random() >= share) return null;
    count += 1;
    const after = Math.random() < 0.5;
    const isExclusive = method === 'PUT' && headers['if-none-match'] !== undefined;
    if (isExclusive && after && Math.random() < 0.5) return { after, status: 412 };
    if (Math.random() < silentShare) return { after, status: null };
    return { after, status: [500, 503, 0][Math.floor(Math.random() * 3)]! };
  }

  const server = createServer((asked, response) => {
    const fault = faultOf(asked);
    if (fault !== null && !fault.after) {
      asked.resume().once('end', () => refuse(response, fault.status));
      return;
    }
    // the host is signed, and stays as it was asked for
    const { method = 'GET', url, headers } = asked;
    const sent = sendRequest({ hostname, port, method, path: url, headers }, (answer) => {
      if (fault !== null) answer.resume().once('end', () => refuse(response, fault.status));
      else answer.pipe(response.writeHead(answer.statusCode!, answer.headers));
    });
    sent.once('error', () => response.destroy());
    asked.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const own = (server.address() as AddressInfo).port;
  return {
    settings: { ...store, endpoint: `http://127.0.0.1:${own}` },
    faults: () => count,
    end: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function refuse(response: ServerResponse, status: Fault['status']): void {
  if (status === null) return;
  const code = status === 412 ? 'PreconditionFailed' : 'SlowDown';
  if (status === 0) response.destroy();
  else response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
}
