/**
 * HTTP to a checked host: the connection goes to its checked addresses, whatever its name resolves to now. Also resolves names, and opens a
 * proxy to one checked host.
 */
import { lookup } from 'node:dns/promises';
import { AppError } from '../errors.ts';
import type { HostResolver, OutgoingHttp, CheckedHost, OutgoingRequest } from '../ports/network.ts';
import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  createServer,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction, connect, type AddressInfo, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { randomBytes, timingSafeEqual } from 'node:crypto';

// Resolves names as this machine does: by its hosts file, then by DNS.

const timeoutMs = 10_000;

export function createHostResolver(): HostResolver {
  return {
    async resolve(name) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(unresolved(name, 'no answer')), timeoutMs);
      });
      try {
        const found = await Promise.race([lookup(name, { all: true, order: 'verbatim' }), late]);
        return [...new Set(found.map(({ address }) => address))];
      } catch (error) {
        if (error instanceof AppError) throw error;
        throw unresolved(name, (error as NodeJS.ErrnoException).code ?? 'unknown');
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

function unresolved(name: string, reason: string): AppError {
  return new AppError('service_unavailable', `the name ${name} cannot be resolved (${reason})`);
}

// Requests.

const defaultIdleMs = 30_000;
/** statuses whose answers have no body, and for which `Response` accepts none */
const bodiless = new Set([101, 204, 205, 304]);

export interface PinnedHttpOptions {
  /** certificates to trust beside the machine's own, PEM */
  readonly ca?: string;
  /** many requests to few hosts: connections are used again, by who comes to the same addresses of the same host */
  readonly keepsConnections?: boolean;
}

export function createPinnedHttp({ ca, keepsConnections = false }: PinnedHttpOptions = {}): OutgoingHttp {
  const agents = new Map<string, HttpAgent>();
  const agentOf = ({ host, port, addresses }: CheckedHost, secure: boolean): HttpAgent | false => {
    // no connection that another look-up opened, and none that is left for a later one
    if (!keepsConnections) return false;
    const key = JSON.stringify([secure, host, port, addresses]);
    let agent = agents.get(key);
    if (agent === undefined)
      agents.set(key, (agent = new (secure ? HttpsAgent : HttpAgent)({ keepAlive: true })));
    return agent;
  };
  return {
    send: (checked, request) =>
      send(checked, request, ca, agentOf(checked, request.url.protocol === 'https:')),
  };
}

/**
 * Returns a `lookup` function for `net`, `tls`, `http` and `https`: it returns the checked addresses instead of looking them up again.
 */
export function pinnedLookup(checked: CheckedHost): LookupFunction {
  const found = checked.addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, { all }, callback) => {
    if (all === true) callback(null, found);
    else callback(null, found[0]!.address, found[0]!.family);
  };
}

function send(
  checked: CheckedHost,
  request: OutgoingRequest,
  ca: string | undefined,
  agent: HttpAgent | false,
): Promise<Response> {
  const { url, method } = request;
  const secure = url.protocol === 'https:';
  const port = Number(url.port || (secure ? 443 : 80));
  if (url.hostname.toLowerCase() !== checked.host || port !== checked.port)
    throw new AppError('host_not_allowed', 'the address does not belong to the host that was checked');
  return new Promise((resolve, reject) => {
    const start = secure ? httpsRequest : httpRequest;
    let begun: IncomingMessage | null = null;
    const outgoing: ClientRequest = start(
      url,
      {
        method,
        headers: { ...request.headers },
        lookup: pinnedLookup(checked),
        agent,
        timeout: request.idleTimeoutMs ?? defaultIdleMs,
        ...(request.signal === undefined ? {} : { signal: request.signal }),
        ...(ca === undefined ? {} : { ca }),
      },
      (answer) => {
        begun = answer;
        try {
          resolve(toResponse(answer));
        } catch (error) {
          // thrown here, it would be nobody's and end the process
          answer.destroy();
          reject(unusable(checked, error));
        }
      },
    );
    outgoing.on('error', reject);
    // an answer that switches to another protocol ends without a response
    outgoing.on('close', () => reject(unusable(checked)));
    outgoing.on('timeout', () => {
      const silence = new Error(`no answer from ${checked.host}:${checked.port}`);
      const fault = Object.assign(silence, { code: 'ETIMEDOUT' });
      // otherwise the reader of the body would get an error about a connection that the server closed
      begun?.destroy(fault);
      outgoing.destroy(fault);
    });
    const { body } = request;
    if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) outgoing.end(body);
    else {
      const source = Readable.fromWeb(body as NodeReadableStream<Uint8Array>);
      source.on('error', (error) => outgoing.destroy(error));
      source.pipe(outgoing);
    }
  });
}

function unusable({ host, port }: CheckedHost, cause?: unknown): Error {
  const error = new Error(`${host}:${port} did not answer in HTTP`, { cause });
  return Object.assign(error, { code: 'HPE_UNUSABLE_ANSWER' });
}

/** RFC 9112, section 4: white space, visible characters, and bytes beyond ASCII */
const reasonPhrase = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * RangeError: a status or a reason that no answer has. A server in this process may have replaced the global `Response` by one that does
 * not check them.
 */
function toResponse(answer: IncomingMessage): Response {
  const status = answer.statusCode ?? 502;
  const reason = answer.statusMessage ?? '';
  if (status < 200 || status > 599) throw new RangeError(`the status ${status} is out of range`);
  if (!reasonPhrase.test(reason)) throw new RangeError('the reason has control characters');
  const headers = new Headers();
  for (let at = 0; at < answer.rawHeaders.length; at += 2)
    headers.append(answer.rawHeaders[at]!, answer.rawHeaders[at + 1]!);
  if (bodiless.has(status)) answer.resume();
  const body = bodiless.has(status) ? null : (Readable.toWeb(answer) as unknown as ReadableStream);
  return new Response(body, { status, statusText: reason, headers });
}

// A proxy on loopback for programs that resolve names themselves, such as those that copy to cloud storage. They can reach only one checked
// host, at its checked addresses.

interface PinnedProxy {
  /** URL for `HTTPS_PROXY`; contains a password of its own, so that no other user of the machine can use the proxy */
  readonly url: string;
  close(): Promise<void>;
}

export async function createPinnedProxy(checked: CheckedHost): Promise<PinnedProxy> {
  const password = randomBytes(24).toString('base64url');
  const wanted = Buffer.from(`Basic ${Buffer.from(`proxy:${password}`).toString('base64')}`);
  const allowed = `${checked.host}:${checked.port}`;
  const open = new Set<Socket>();
  const keep = (socket: Socket): void => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
  };

  const server = createServer((_, answer) => answer.writeHead(403).end());
  server.on('connect', (request, client: Socket, head) => {
    keep(client);
    const given = Buffer.from(request.headers['proxy-authorization'] ?? '');
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n');
      return;
    }
    if (request.url?.toLowerCase() !== allowed) {
      client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      return;
    }
    const onward = connect({
      host: checked.host.replaceAll(/^\[|\]$/g, ''),
      port: checked.port,
      lookup: pinnedLookup(checked),
      autoSelectFamily: true,
    });
    keep(onward);
    onward.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) onward.write(head);
      client.pipe(onward).pipe(client);
    });
    onward.once('close', () => client.destroy());
    client.once('close', () => onward.destroy());
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://proxy:${password}@127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
        server.closeAllConnections();
      }),
  };
}
