/**
 * Fetches many small files from a few checked hosts: a request costs a tenth of the processor time of one with
 * `src/network/checked-http.ts`. Connections are reused for the same addresses of the same host; they go to the addresses
 * that were checked, even if the name of the host resolves to others now.
 */
import { type OnReadOpts, type Socket, connect as connectPlain, isIP } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import type { CheckedHost } from '../ports/network.ts';
import { pinnedLookup } from './checked-http.ts';

// One connection for small responses over HTTP/1.1 (RFC 9112): one request after the other, and only the common response, `200` with a
// declared length. For any other response, the connection returns null and ends; src/network/checked-http.ts then repeats the request with
// full HTTP.

export interface QuickAnswer {
  /** all of its body, until the function that it is given to returns */
  readonly bytes: Uint8Array;
  /** its `ETag`, otherwise its `Last-Modified`; null: neither */
  readonly version: string | null;
}

interface Head {
  /** length of the body */
  readonly bytes: number;
  readonly version: string | null;
  /** the server takes another request on this connection */
  readonly stays: boolean;
}

interface Pending {
  readonly maxBytes: number;
  readonly done: (answer: QuickAnswer | null) => void;
  /** null: it has not arrived */
  head: Head | null;
  /** bytes of the head that have arrived, or the buffer for the whole body, of which `received` bytes have arrived */
  bytes: Buffer;
  received: number;
}

/** more than servers send, and than `node:http` takes */
const longestHead = 16 * 1024;
/** bytes read from a socket at a time: mostly the whole response */
const readBytes = 16 * 1024;
const nothing = Buffer.alloc(0);

class QuickConnection {
  readonly #socket: Socket;
  readonly #rested: (connection: QuickConnection) => void;
  #pending: Pending | null = null;

  /**
   * `open`: opens a socket that passes its bytes to `onread`: a buffer for each of its reads would cost more than everything else.
   * `rested`: called when the connection can be used again. A silent socket is given up after its timeout.
   */
  constructor(open: (onread: OnReadOpts) => Socket, rested: (connection: QuickConnection) => void) {
    const take = (count: number, buffer: Uint8Array): boolean => {
      this.#take(buffer as Buffer, count);
      return true;
    };
    const socket = open({ buffer: Buffer.allocUnsafe(readBytes), callback: take });
    this.#socket = socket;
    this.#rested = rested;
    socket.setNoDelay(true);
    socket.on('timeout', () => socket.destroy());
    // an error is handled as the end of the connection
    socket.on('error', () => undefined);
    socket.on('end', () => socket.destroy());
    socket.on('close', () => this.#answer(null));
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /**
   * `request`: its head, in Latin-1, with the empty line. Returns the result of `use` for the response: copying each response cost more
   * than reading it.
   */
  ask<Used>(request: string, maxBytes: number, use: (answer: QuickAnswer) => Used): Promise<Used | null> {
    return new Promise((resolve, reject) => {
      const done = (answer: QuickAnswer | null): void => {
        try {
          resolve(answer === null ? null : use(answer));
        } catch (error) {
          reject(error as Error);
        }
      };
      this.#pending = { maxBytes, done, head: null, bytes: nothing, received: 0 };
      if (this.isOpen) this.#socket.ref().write(request, 'latin1');
      else this.#answer(null);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  /** The first bytes of the buffer have come. */
  #take(buffer: Buffer, count: number): void {
    const pending = this.#pending;
    // bytes that nobody has asked for
    if (pending === null) return this.close();
    let from = 0;
    if (pending.head === null) {
      const before = pending.bytes.length;
      const bytes = before === 0 ? buffer : Buffer.concat([pending.bytes, buffer.subarray(0, count)]);
      const length = before + count;
      const end = bytes.indexOf('\r\n\r\n');
      const isWhole = end >= 0 && end < length;
      if (!isWhole && length <= longestHead) {
        pending.bytes = Buffer.from(bytes.subarray(0, length));
        return;
      }
      const head = !isWhole || end > longestHead ? null : readHead(bytes.toString('latin1', 0, end));
      if (head === null || head.bytes > pending.maxBytes) return this.close();
      pending.head = head;
      // bytes that were in an earlier buffer do not belong to the body
      from = end + 4 - before;
      if (count - from >= head.bytes) {
        const isMore = count - from > head.bytes;
        return this.#answerWith(buffer.subarray(from, from + head.bytes), head, isMore);
      }
      pending.bytes = Buffer.allocUnsafe(head.bytes);
    }
    const { bytes, head, received } = pending;
    const taken = buffer.copy(bytes, received, from, count);
    pending.received = received + taken;
    if (pending.received === head!.bytes) this.#answerWith(bytes, head!, from + taken < count);
  }

  /** `isMore`: unrequested bytes followed the answer. */
  #answerWith(bytes: Uint8Array, { version, stays }: Head, isMore: boolean): void {
    if (isMore || !stays) this.close();
    else this.#socket.unref();
    this.#answer({ bytes, version });
  }

  #answer(answer: QuickAnswer | null): void {
    const pending = this.#pending;
    if (pending === null) return;
    this.#pending = null;
    if (this.isOpen) this.#rested(this);
    pending.done(answer);
  }
}

/** Returns null for an uncommon response. Lines are parsed in place: splitting them took longer than the rest of the response. */
function readHead(text: string): Head | null {
  if (!/^HTTP\/1\.1 200(?:[ \r]|$)/.test(text)) return null;
  const fields = new Map<string, string>();
  for (let end = text.indexOf('\r\n'); end >= 0;) {
    const start = end + 2;
    end = text.indexOf('\r\n', start);
    const colon = text.indexOf(':', start);
    // a continuation of the line before (RFC 9112, 5.2), or not a header line
    if (colon <= start || (end >= 0 && colon > end) || isSpace(text.charCodeAt(start))) return null;
    if (!mayBeTold(text.charCodeAt(start))) continue;
    const name = text.slice(start, colon).toLowerCase();
    if (!told.has(name)) continue;
    // twice it could mean either
    if (fields.has(name)) return null;
    fields.set(name, text.slice(colon + 1, end < 0 ? undefined : end).trim());
  }
  const length = fields.get('content-length');
  const coding = fields.get('content-encoding') ?? 'identity';
  if (length === undefined || !/^\d{1,15}$/.test(length)) return null;
  if (fields.has('transfer-encoding') || coding !== 'identity') return null;
  return {
    bytes: Number(length),
    version: fields.get('etag') ?? fields.get('last-modified') ?? null,
    stays: !/\bclose\b/i.test(fields.get('connection') ?? ''),
  };
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Whether a field that matters here starts so, in either case. */
function mayBeTold(code: number): boolean {
  return initials.has(code | 0x20);
}

/** fields of an answer that matter here */
const told: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'etag',
  'last-modified',
  'transfer-encoding',
]);

const initials: ReadonlySet<number> = new Set([...told].map((name) => name.charCodeAt(0)));

// All connections to the checked hosts.

interface QuickAnswers {
  /**
   * Returns the result of `use` for the whole response to a GET. Returns null if the response is larger than the limit or has an
   * unusual form. Then nothing of it was used, and the caller asks `OutgoingHttp` for the reason.
   */
  get<Used>(
    checked: CheckedHost,
    url: URL,
    headers: Readonly<Record<string, string>>,
    maxBytes: number,
    use: (answer: QuickAnswer) => Used,
  ): Promise<Used | null>;
}

interface QuickAnswerOptions {
  /** ends all connections */
  readonly signal: AbortSignal;
  /** silence after which a connection is given up, whether it is asked or rests */
  readonly idleTimeoutMs: number;
  /** certificates to trust beside the machine's own, PEM */
  readonly ca?: string;
}

export function createQuickAnswers(options: QuickAnswerOptions): QuickAnswers {
  const resting = new Map<string, QuickConnection[]>();
  const all = new Set<QuickConnection>();
  // hosts are checked once, and asked many times
  const keys = new WeakMap<CheckedHost, string>();
  const keyOf = (checked: CheckedHost, secure: boolean): string => {
    let key = keys.get(checked);
    if (key === undefined)
      keys.set(checked, (key = JSON.stringify([checked.host, checked.port, checked.addresses])));
    return secure ? `secure ${key}` : key;
  };
  options.signal.addEventListener('abort', () => all.forEach((one) => one.close()), { once: true });
  const connectionTo = (checked: CheckedHost, secure: boolean): QuickConnection => {
    const key = keyOf(checked, secure);
    let rested = resting.get(key);
    if (rested === undefined) resting.set(key, (rested = []));
    for (let one = rested.pop(); one !== undefined; one = rested.pop()) if (one.isOpen) return one;
    const made = new QuickConnection(
      (onread) => open(checked, secure, options, onread).once('close', () => all.delete(made)),
      (connection) => rested.push(connection),
    );
    all.add(made);
    return made;
  };
  return {
    async get(checked, url, headers, maxBytes, use) {
      const secure = url.protocol === 'https:';
      const port = Number(url.port || (secure ? 443 : 80));
      const request = requestOf(url, headers);
      const isChecked = url.hostname.toLowerCase() === checked.host && port === checked.port;
      if (request === null || !isChecked || options.signal.aborted) return null;
      return connectionTo(checked, secure).ask(request, maxBytes, use);
    },
  };
}

function open(
  checked: CheckedHost,
  secure: boolean,
  { idleTimeoutMs, ca }: QuickAnswerOptions,
  onread: OnReadOpts,
): Socket {
  const host = checked.host.replaceAll(/^\[|\]$/g, '');
  const place = { host, port: checked.port, lookup: pinnedLookup(checked), onread };
  const socket = secure
    ? connectSecure({
        ...place,
        ...(isIP(host) === 0 ? { servername: host } : {}),
        ...(ca === undefined ? {} : { ca }),
      })
    : connectPlain(place);
  return socket.setTimeout(idleTimeoutMs);
}

/** Returns null for a header that no line can contain. */
function requestOf(url: URL, headers: Readonly<Record<string, string>>): string | null {
  let request = `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n`;
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return null;
    if (name.toLowerCase() !== 'host') request += `${name}: ${value}\r\n`;
  }
  return `${request}\r\n`;
}
