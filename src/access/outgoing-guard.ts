/**
 * The one gate for connections to hosts that a request names: database targets, metadata databases of transfers, cloud locations,
 * webhooks.
 */
import { AppError } from '../errors.ts';
import { isHostAllowed } from '../jobs/request/target.ts';
import type { HostResolver, CheckedHost } from '../ports/network/outgoing.ts';
import { formatAddress, isLoopback, looksNumeric, parseAddress, specialRange } from './network-address.ts';

export interface OutgoingGuard {
  /**
   * Resolves the host once and checks every address it has. AppError `host_not_allowed` if `svc.allow.hosts` does not permit it,
   * `service_unavailable` if an allowed name cannot be resolved.
   */
  check(host: string, port: number): Promise<CheckedHost>;
  /** The same for an http: or https: address; the default port is that of the scheme. */
  checkUrl(url: URL): Promise<CheckedHost>;
}

/**
 * Returns a guard for outgoing connections. `allowedHosts`: the entries of `svc.allow.hosts`. A host passes if an entry equals its
 * text: no other spelling of an address does. A name must not resolve to a loopback, link-local, metadata, multicast or unspecified
 * address, unless that address is an entry itself: the owner of the name, not the operator, decides what it resolves to. `*` permits
 * everything.
 */
export function createOutgoingGuard(allowedHosts: readonly string[], resolver: HostResolver): OutgoingGuard {
  const everything = allowedHosts.includes('*');

  async function check(given: string, port: number): Promise<CheckedHost> {
    const host = hostForm(given);
    if (host === null)
      throw new AppError('host_not_allowed', 'that is neither the name nor the address of one host');
    if (!isHostAllowed(allowedHosts, host, port)) throw notAllowed(`${host}:${port}`);
    const literal = parseAddress(host);
    if (literal !== null) return { host, port, addresses: [bare(formatAddress(literal))] };
    const addresses: string[] = [];
    for (const text of await resolver.resolve(host)) {
      const address = parseAddress(text);
      // a zone (`fe80::1%eth0`) or a form that we do not know is no address to connect to
      if (address === null) throw notAllowed(`${host}:${port}`, 'it has an address that is not understood');
      const special = isLocalName(host) && isLoopback(address) ? null : specialRange(address);
      const shown = formatAddress(address);
      if (special !== null && !everything && !isHostAllowed(allowedHosts, shown, port))
        throw notAllowed(`${host}:${port}`, `the name leads to ${special}`);
      addresses.push(bare(shown));
    }
    if (addresses.length === 0) throw new AppError('service_unavailable', `the name ${host} has no address`);
    return { host, port, addresses };
  }

  return {
    check,
    async checkUrl(url) {
      if (url.protocol !== 'https:' && url.protocol !== 'http:')
        throw new AppError('host_not_allowed', 'only https: and http: addresses are reached');
      return check(url.hostname, Number(url.port || (url.protocol === 'https:' ? 443 : 80)));
    },
  };
}

/** Checks the host of an address that inputs are fetched from: also that of an `sftp:` one, which names its port. */
export function checkAddress(guard: OutgoingGuard, url: URL): Promise<CheckedHost> {
  return url.protocol === 'sftp:' ? guard.check(url.hostname, Number(url.port)) : guard.checkUrl(url);
}

function notAllowed(host: string, reason?: string): AppError {
  const why = reason === undefined ? '' : ` (${reason})`;
  return new AppError(
    'host_not_allowed',
    `${host} may not be reached${why}: the property svc.allow.hosts names the hosts that may`,
  );
}

/**
 * Returns the host in lower case, IPv6 in brackets, or null for text that is neither a name nor an address: lists, sockets,
 * credentials, invalid numbers.
 */
function hostForm(given: string): string | null {
  const host = given.toLowerCase();
  const address = parseAddress(host);
  if (address !== null) return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  const isName =
    host.length <= 253 &&
    /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(host);
  return isName && !looksNumeric(host) ? host : null;
}

/** Names that mean this machine by definition (RFC 6761). */
function isLocalName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}

function bare(address: string): string {
  return address.replaceAll(/^\[|\]$/g, '');
}
