/** Requests that are refused before they reach the application, because they cannot be read: their answers are problem documents, too. */
import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode } from '../errors.ts';
import { securityHeaderValues } from '../http/middleware.ts';
import { problemBody, statusOf } from '../http/problem.ts';

interface Refusal {
  readonly code: ErrorCode;
  readonly detail: string;
}

/** The status and headers of the answer, and its body as JSON. The request may have no readable path: it is ''. */
function refusalParts({ code, detail }: Refusal): {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
} {
  const requestId = crypto.randomUUID();
  const body = JSON.stringify(
    problemBody({ code, detail }, { path: '', root: '/', requestId, nowMs: Date.now() }),
  );
  return {
    status: statusOf[code],
    headers: {
      'Content-Type': 'application/problem+json',
      'X-Request-Id': requestId,
      ...securityHeaderValues,
      Connection: 'close',
    },
    body,
  };
}

/** Refuses a request whose head was parsed. */
export function refusedRequest(detail: string): Response {
  const { status, headers, body } = refusalParts({ code: 'malformed_request', detail });
  return new Response(body, { status, headers });
}

/** A method and a target of any name: the parser knows the methods of its registry alone. */
const requestLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64} \S+ HTTP\/1\.[01]\r?\n/;

function refusalOf({ code, rawPacket }: ParserError): Refusal {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return {
        code: 'headers_too_large',
        detail: 'the request line and the headers have more than 16 KiB: send fewer or shorter headers',
      };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'request_timeout', detail: 'the headers of the request did not arrive in time' };
    case 'HPE_INVALID_METHOD':
      if (requestLine.test(rawPacket?.toString('latin1') ?? ''))
        return { code: 'method_unknown', detail: 'the method of the request is not known' };
      break;
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { code: 'payload_too_large', detail: 'the extensions of a chunk have more than 16 KiB' };
  }
  return { code: 'malformed_request', detail: 'the request is not HTTP/1.1 as RFC 9112 defines it' };
}

interface ParserError extends NodeJS.ErrnoException {
  /** the bytes that the parser was given last */
  readonly rawPacket?: Buffer;
}

/** A connection with the answer that Node is writing to it. */
interface AnsweredSocket extends Socket {
  readonly _httpMessage?: {
    readonly headersSent: boolean;
    readonly req: { readonly complete: boolean };
  } | null;
}

/**
 * Answers requests that the parser of Node refuses. A connection that still owes an earlier request its answer is closed instead, because
 * the refusal would be taken for that answer.
 */
export function refuseUnreadable(server: Server): void {
  server.on('clientError', (error: ParserError, socket: AnsweredSocket) => {
    const pending = socket._httpMessage;
    const isOfAnother = pending?.headersSent === true || pending?.req.complete === true;
    if (!socket.writable || error.code === 'ECONNRESET' || isOfAnother) {
      socket.destroy();
      return;
    }
    const { status, headers, body } = refusalParts(refusalOf(error));
    const lines = Object.entries({
      ...headers,
      Date: new Date().toUTCString(),
      'Content-Length': String(Buffer.byteLength(body)),
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`, () =>
      socket.destroySoon(),
    );
  });
}

type RequestHead = Pick<IncomingMessage, 'rawHeaders' | 'headers' | 'httpVersion'>;

/**
 * Returns why a request is refused whose head was parsed: it has no host or several, or other servers may read its body as longer or
 * shorter. Null if it is not.
 */
export function faultOfHead(incoming: RequestHead): string | null {
  if (incoming.httpVersion === '1.1' && incoming.headers.host === undefined)
    return 'the request has no Host header';
  if (hasSeveralHosts(incoming)) return 'the request has several Host headers';
  if (hasOddCoding(incoming)) return 'the Transfer-Encoding of the request is not chunked';
  return null;
}

/** RFC 9112 section 6.1: a coding beside chunks is none that we undo, and HTTP/1.0 knows no coding. */
function hasOddCoding({ headers, httpVersion }: RequestHead): boolean {
  const coding = headers['transfer-encoding'];
  return coding !== undefined && (httpVersion === '1.0' || coding.trim().toLowerCase() !== 'chunked');
}

/** Detects several Host headers (RFC 9112 section 3.2): a proxy may have checked a different one. */
function hasSeveralHosts({ rawHeaders }: RequestHead): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]!.toLowerCase() === 'host') hosts += 1;
  return hosts > 1;
}
