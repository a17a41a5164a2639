/** Locations in cloud storage: an address that ends in a slash, then the query with its token. */
import { isLoopback, parseAddress, type OutgoingGuard } from '../access/outgoing-guard.ts';
import { AppError } from '../../errors.ts';
import type { TransferRequest } from '../../ports/processes.ts';

interface CloudLocation {
  readonly url: URL;
  /** the address without the query, safe to show */
  readonly shown: string;
  /** the secret parts: the query, and the parameters in it that grant access */
  readonly secrets: readonly string[];
}

/** Returns the location, or the fault of its text; the answer never repeats it. */
export function parseCloudLocation(text: string): CloudLocation | { readonly fault: string } {
  if (/[\s\p{Cc}\\]/u.test(text) || !URL.canParse(text))
    return { fault: 'must be the address of a location' };
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || text.includes('#'))
    return { fault: 'must have neither a user nor a fragment' };
  const spelled = /^https?:\/\/([^/?]*)/i.exec(text)?.[1]?.toLowerCase();
  const defaultPort = url.protocol === 'https:' ? ':443' : ':80';
  if (spelled !== url.host && spelled !== `${url.host}${defaultPort}`)
    return { fault: 'must spell its host plainly: two slashes in front, in lower ASCII letters, no escapes' };
  if (/\/(?:\.|%2e){1,2}(?:[/?]|$)/i.test(text.slice(0, text.indexOf('?'))))
    return { fault: 'must not have . or .. in its path' };
  const local = url.hostname === 'localhost' || isLoopbackAddress(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && local))
    return { fault: 'must be an https: address' };
  if (!url.pathname.endsWith('/') || url.pathname === '/')
    return { fault: 'must name a container, and end in a slash before its query' };
  if (url.search.length < 2) return { fault: 'must have the query with the token behind its slash' };
  const query = text.slice(text.indexOf('?') + 1);
  const signatures = url.searchParams.getAll('sig').flatMap((sig) => [sig, encodeURIComponent(sig)]);
  const raw = query
    .split('&')
    .flatMap((part) => (part.startsWith('sig=') ? [part.slice('sig='.length)] : []));
  return {
    url,
    shown: text.slice(0, text.indexOf('?')),
    secrets: [...new Set([query, url.search.slice(1), ...signatures, ...raw])],
  };
}

function isLoopbackAddress(host: string): boolean {
  const address = parseAddress(host);
  return address !== null && isLoopback(address);
}

// Checks if a cloud location that a request names may be copied to or from.

interface CheckedLocation {
  readonly location: CloudLocation;
  /** members of the request file: the location, and the addresses that were checked */
  fields(member: string): TransferRequest;
}

/** AppError `invalid_body` for a wrong form, `host_not_allowed` for a host that the operator has not allowed. */
export async function checkLocation(
  text: string,
  pointer: string,
  guard: OutgoingGuard,
): Promise<CheckedLocation> {
  const location = parseCloudLocation(text);
  if ('fault' in location) {
    throw new AppError('invalid_body', `${pointer.slice(1)} ${location.fault}`, {
      errors: [{ pointer, detail: location.fault }],
    });
  }
  const { addresses } = await guard.checkUrl(location.url);
  return { location, fields: (member) => ({ [member]: text, az_addresses: addresses }) };
}
