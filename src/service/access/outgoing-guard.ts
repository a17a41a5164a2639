/**
 * The one gate for connections to hosts that a request names: database targets, metadata databases of transfers, cloud locations,
 * webhooks.
 */
import { AppError } from '../../errors.ts';
import { isHostAllowed } from '../jobs/request/target.ts';
import type { HostResolver, CheckedHost } from '../../ports/network.ts';
import ipaddr from 'ipaddr.js';

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
        throw notAllowed(`${host}:${port}`, `the name resolves to ${special}`);
      addresses.push(bare(shown));
    }
    if (addresses.length === 0) throw new AppError('service_unavailable', `the name ${host} has no address`);
    return { host, port, addresses };
  }

  return {
    check,
    async checkUrl(url) {
      if (url.protocol !== 'https:' && url.protocol !== 'http:')
        throw new AppError('host_not_allowed', 'only https: and http: addresses are allowed');
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
    `${host} may not be reached${why}: the property svc.allow.hosts lists the allowed hosts`,
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

// Network addresses in every spelling that resolvers understand, and the ranges that no name of an outside host may lead to.

/** 4 bytes of IPv4 or 16 of IPv6. */
type AddressBytes = readonly number[];

/**
 * An address however it is written: dotted, fewer parts than four, decimal, octal or hexadecimal (as `inet_aton` reads
 * them), IPv6 with or without brackets, its last 32 bits dotted or not. null: the text is no address.
 */
export function parseAddress(text: string): AddressBytes | null {
  const bare = /^\[(.*)\]$/.exec(text)?.[1];
  if (bare !== undefined || text.includes(':')) return parseIpv6(bare ?? text);
  return ipaddr.IPv4.isValid(text) ? ipaddr.IPv4.parse(text).toByteArray() : null;
}

/** Whether a resolver might take the text for a number: such names are never looked up. */
function looksNumeric(host: string): boolean {
  const last = host.replace(/\.$/, '').split('.').at(-1) ?? '';
  return /^(?:\d+|0x[0-9a-f]*)$/i.test(last);
}

/** The one spelling that addresses are compared and shown in: `127.0.0.1`, `[::1]`. */
export function formatAddress(address: AddressBytes): string {
  const known = ipaddr.fromByteArray([...address]);
  return known instanceof ipaddr.IPv6 ? `[${known.toRFC5952String()}]` : known.toString();
}

/**
 * Why a name that the operator allowed must still not lead to this address; null when it may. Private networks may be
 * reached by an allowed name: the operator's own databases have such names. IPv4 inside IPv6 counts as that IPv4.
 */
export function specialRange(address: AddressBytes): string | null {
  const inner = embeddedIpv4(address);
  if (inner.length > 0) return inner.map(specialRange).find((name) => name !== null) ?? null;
  const ranges = address.length === 4 ? specialIpv4 : specialIpv6;
  return ranges.find(({ prefix, bits }) => startsWith(address, prefix, bits))?.name ?? null;
}

export function isLoopback(address: AddressBytes): boolean {
  return specialRange(address) === loopback;
}

const loopback = 'a loopback address';
const linkLocal = 'a link-local address, which cloud metadata services have';
const metadata = 'the metadata service of a cloud';

interface Range {
  readonly prefix: AddressBytes;
  readonly bits: number;
  readonly name: string;
}

function range(text: string, name: string): Range {
  const [address = '', bits = ''] = text.split('/');
  return { prefix: parseAddress(address) ?? [], bits: Number(bits), name };
}

const specialIpv4: readonly Range[] = [
  range('0.0.0.0/8', 'the unspecified address'),
  range('127.0.0.0/8', loopback),
  range('169.254.0.0/16', linkLocal),
  range('100.100.100.200/32', metadata),
  range('168.63.129.16/32', metadata),
  range('192.0.0.0/24', 'an address of protocol assignments, which cloud metadata services have'),
  range('224.0.0.0/4', 'a multicast address'),
  range('240.0.0.0/4', 'a reserved or the broadcast address'),
];

const specialIpv6: readonly Range[] = [
  range('::1/128', loopback),
  range('::/128', 'the unspecified address'),
  range('fe80::/10', linkLocal),
  range('fec0::/10', 'a site-local address'),
  range('fd00:ec2::254/128', metadata),
  range('fd20:ce::254/128', metadata),
  range('ff00::/8', 'a multicast address'),
  range('2001::/32', 'a tunnel (Teredo)'),
  range('100::/32', 'the discard-only range'),
  range('5f00::/16', 'a segment routing address'),
];

const last = [12, 13, 14, 15];

/**
 * The IPv6 ranges that carry an IPv4 address: the prefix, and the positions of its four bytes. A translator for a local network chooses
 * one of several positions (RFC 6052 §2.2, byte 8 is skipped): each of them counts.
 */
const carriers: readonly { readonly range: Range; readonly at: readonly (readonly number[])[] }[] = [
  { range: range('::ffff:0:0/96', 'IPv4-mapped'), at: [last] },
  { range: range('::ffff:0:0:0/96', 'IPv4-translated'), at: [last] },
  { range: range('64:ff9b::/96', 'NAT64'), at: [last] },
  {
    range: range('64:ff9b:1::/48', 'NAT64 of a local network'),
    at: [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], last],
  },
  { range: range('2002::/16', '6to4'), at: [[2, 3, 4, 5]] },
  { range: range('::/96', 'IPv4-compatible'), at: [last] },
];

/** Returns each IPv4 address that the address may carry; none if it carries no other. */
function embeddedIpv4(address: AddressBytes): readonly AddressBytes[] {
  if (address.length !== 16 || address.slice(0, 15).every((byte) => byte === 0)) return [];
  const byteIndexes = carriers.find(({ range: { prefix, bits } }) => startsWith(address, prefix, bits))?.at;
  if (byteIndexes !== undefined) return byteIndexes.map((bytes) => bytes.map((at) => address[at]!));
  // ISATAP (RFC 5214 §6.1), under any prefix; an address that is special by its prefix stays so
  const isTunnel = (address[8]! & 0xfd) === 0 && startsWith(address.slice(9), [0, 0x5e, 0xfe], 24);
  return isTunnel && !specialIpv6.some(({ prefix, bits }) => startsWith(address, prefix, bits))
    ? [last.map((at) => address[at]!)]
    : [];
}

function startsWith(address: AddressBytes, prefix: AddressBytes, bits: number): boolean {
  for (let at = 0; at * 8 < bits; at += 1) {
    const mask = bits - at * 8 >= 8 ? 0xff : (0xff << (8 - (bits - at * 8))) & 0xff;
    if ((address[at]! & mask) !== (prefix[at]! & mask)) return false;
  }
  return true;
}

/** A zone (`%eth0`) is part of no address that a request may name. */
function parseIpv6(text: string): AddressBytes | null {
  const hexadecimal = withoutDots(text);
  return /^[0-9a-f:]{2,45}$/i.test(hexadecimal) && ipaddr.IPv6.isValid(hexadecimal)
    ? ipaddr.IPv6.parse(hexadecimal).toByteArray()
    : null;
}

/** The last 32 bits as two groups like the others: ipaddr.js takes `::1.2.3.4` for `::ffff:1.2.3.4`, and octal numbers in it. */
function withoutDots(text: string): string {
  const [, head = '', dotted = ''] = /^(.*:)([\d.]+)$/.exec(text) ?? [];
  if (!ipaddr.IPv4.isValidFourPartDecimal(dotted)) return text;
  const [first = 0, second = 0, third = 0, fourth = 0] = ipaddr.IPv4.parse(dotted).toByteArray();
  return `${head}${(first * 256 + second).toString(16)}:${(third * 256 + fourth).toString(16)}`;
}
