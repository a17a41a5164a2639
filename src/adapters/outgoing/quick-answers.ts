/**
 * Fetches many small files from a few checked hosts: a request costs a tenth of the processor time of one with
 * `src/adapters/outgoing/checked-http.ts`. Connections are reused for the same addresses of the same host; they go to the addresses
 * that were checked, even if the name of the host resolves to others now.
 */
import { connect as connectPlain, isIP, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import type { CheckedHost } from '../../ports/network.ts';
import { pinnedLookup } from './checked-http.ts';
import { QuickConnection, type QuickAnswer } from './quick-connection.ts';

export interface QuickAnswers {
  /**
   * Returns the result of `use` for the whole response to a GET. Returns null if the response is larger than the limit or has an
   * unusual form. Then nothing of it was used, and the caller asks `OutgoingHttp` for the reason.
   */
  get<Used>(
    checked: CheckedHost,
    url: URL,
    headers: Readonly<Record<string, string>>,
    mostBytes: number,
    use: (answer: QuickAnswer) => Used,
  ): Promise<Used | null>;
}

export interface QuickAnswerOptions {
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
    async get(checked, url, headers, mostBytes, use) {
      const secure = url.protocol === 'https:';
      const port = Number(url.port || (secure ? 443 : 80));
      const request = requestOf(url, headers);
      const isChecked = url.hostname.toLowerCase() === checked.host && port === checked.port;
      if (request === null || !isChecked || options.signal.aborted) return null;
      return connectionTo(checked, secure).ask(request, mostBytes, use);
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
