/** Network addresses in every spelling that resolvers understand, and the ranges that no name of an outside host may lead to. */

/** 4 bytes of IPv4 or 16 of IPv6. */
export type AddressBytes = readonly number[];

/**
 * An address however it is written: dotted, fewer parts than four, decimal, octal or hexadecimal (as `inet_aton` reads
 * them), IPv6 with or without brackets, its last 32 bits dotted or not. null: the text is no address.
 */
export function parseAddress(text: string): AddressBytes | null {
  const bare = /^\[(.*)\]$/.exec(text)?.[1];
  if (bare !== undefined) return parseIpv6(bare);
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text);
}

/** Whether a resolver might take the text for a number: such names are never looked up. */
export function looksNumeric(host: string): boolean {
  const last = host.replace(/\.$/, '').split('.').at(-1) ?? '';
  return /^(?:\d+|0x[0-9a-f]*)$/i.test(last);
}

/** The one spelling that addresses are compared and shown in: `127.0.0.1`, `[::1]`. */
export function formatAddress(address: AddressBytes): string {
  if (address.length === 4) return address.join('.');
  const groups = Array.from({ length: 8 }, (_, at) => address[2 * at]! * 256 + address[2 * at + 1]!);
  const zeros = longestZeros(groups);
  const write = (from: number, to: number): string =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(':');
  return zeros === null ? `[${write(0, 8)}]` : `[${write(0, zeros.from)}::${write(zeros.to, 8)}]`;
}

/**
 * Why a name that the operator allowed must still not lead to this address; null when it may. Private networks may be
 * reached by an allowed name: the operator's own databases have such names. IPv4 inside IPv6 counts as that IPv4.
 */
export function specialRange(address: AddressBytes): string | null {
  const inner = embeddedIpv4(address);
  if (inner !== null) return specialRange(inner);
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
  range('100::/64', 'the discard-only range'),
  range('5f00::/16', 'a segment routing address'),
];

/** Where IPv6 carries an address of IPv4: the prefix, and the byte it begins at. */
const carriers: readonly { readonly range: Range; readonly at: number }[] = [
  { range: range('::ffff:0:0/96', 'IPv4-mapped'), at: 12 },
  { range: range('::ffff:0:0:0/96', 'IPv4-translated'), at: 12 },
  { range: range('64:ff9b::/96', 'NAT64'), at: 12 },
  { range: range('64:ff9b:1::/48', 'NAT64 of a local network'), at: 12 },
  { range: range('2002::/16', '6to4'), at: 2 },
  { range: range('::/96', 'IPv4-compatible'), at: 12 },
];

function embeddedIpv4(address: AddressBytes): AddressBytes | null {
  if (address.length !== 16 || address.slice(0, 15).every((byte) => byte === 0)) return null;
  const carrier = carriers.find(({ range: { prefix, bits } }) => startsWith(address, prefix, bits));
  return carrier === undefined ? null : address.slice(carrier.at, carrier.at + 4);
}

function startsWith(address: AddressBytes, prefix: AddressBytes, bits: number): boolean {
  for (let at = 0; at * 8 < bits; at += 1) {
    const mask = bits - at * 8 >= 8 ? 0xff : (0xff << (8 - (bits - at * 8))) & 0xff;
    if ((address[at]! & mask) !== (prefix[at]! & mask)) return false;
  }
  return true;
}

function parseIpv4(text: string): AddressBytes | null {
  const parts = text.split('.');
  if (parts.length > 4) return null;
  const numbers = parts.map(parseNumber);
  const last = numbers.pop();
  if (last === undefined || last === null) return null;
  const bytes: number[] = [];
  for (const number of numbers) {
    if (number === null || number > 255) return null;
    bytes.push(number);
  }
  const left = 4 - bytes.length;
  if (last >= 256 ** left) return null;
  for (let at = left - 1; at >= 0; at -= 1) bytes.push(Math.floor(last / 256 ** at) % 256);
  return bytes;
}

/** As C reads numbers: 0x is hexadecimal, a leading 0 octal. */
function parseNumber(text: string): number | null {
  if (/^0x[0-9a-f]{1,16}$/i.test(text)) return Number.parseInt(text.slice(2), 16);
  if (/^0[0-7]{0,22}$/.test(text)) return Number.parseInt(text, 8);
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : null;
}

function parseIpv6(text: string): AddressBytes | null {
  const halves = text.split('::');
  if (halves.length > 2 || text.length > 64) return null;
  const [head, tail] = [parseGroups(halves[0]!), parseGroups(halves[1] ?? '')];
  if (head === null || tail === null) return null;
  const missing = 16 - head.length - tail.length;
  // `::` stands for at least one group
  if (halves.length === 2 ? missing < 2 : missing !== 0) return null;
  return [...head, ...Array.from({ length: missing }, () => 0), ...tail];
}

function parseGroups(text: string): number[] | null {
  if (text === '') return [];
  const groups = text.split(':');
  const bytes: number[] = [];
  for (const [at, group] of groups.entries()) {
    if (at === groups.length - 1 && group.includes('.')) {
      if (!/^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/.test(group)) return null;
      const dotted = parseIpv4(group);
      if (dotted === null) return null;
      bytes.push(...dotted);
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(group)) return null;
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
    }
  }
  return bytes;
}

/** RFC 5952: the first of the longest runs of two zero groups or more. */
function longestZeros(groups: readonly number[]): { readonly from: number; readonly to: number } | null {
  let best: { from: number; to: number } | null = null;
  for (let from = 0; from < groups.length; from += 1) {
    let to = from;
    while (groups[to] === 0) to += 1;
    if (to - from >= 2 && to - from > (best === null ? 0 : best.to - best.from)) best = { from, to };
  }
  return best;
}
