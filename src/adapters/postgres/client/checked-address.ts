/**
 * Addresses of the embedded database, as the processes of this program use them. Any local user may listen on its port while it is down,
 * so that a connection goes through a Unix socket in a private folder, or the server has to prove that it knows the password.
 */

/** the parameters have the names and meanings of libpq's */
const socketParameter = 'host';
const proofParameter = 'require_auth';
const proof = 'scram-sha-256';

export interface CheckedAddress {
  /** the address without those parameters */
  readonly url: string;
  /** path of the Unix socket to connect to in place of host and port; null: TCP */
  readonly socketPath: string | null;
  /** a server that does not prove by SCRAM-SHA-256 that it knows the password is refused */
  readonly requiresProof: boolean;
}

/** The address with the way to reach it safely. */
export function checkedAddress(url: string, socketFolder: string | null): string {
  const checked = new URL(url);
  if (socketFolder === null) checked.searchParams.set(proofParameter, proof);
  else checked.searchParams.set(socketParameter, socketFolder);
  return checked.href;
}

/** Addresses that URL cannot read, such as those with several hosts, stay as they are. */
export function readCheckedAddress(url: string): CheckedAddress {
  const parsed = URL.parse(url);
  const folder = parsed?.searchParams.get(socketParameter) ?? null;
  const requiresProof = parsed?.searchParams.get(proofParameter) === proof;
  const isSocket = folder !== null && folder.startsWith('/');
  if (parsed === null || (!isSocket && !requiresProof))
    return { url, socketPath: null, requiresProof: false };
  const socketPath = isSocket ? `${folder}/.s.PGSQL.${parsed.port || '5432'}` : null;
  if (isSocket) parsed.searchParams.delete(socketParameter);
  parsed.searchParams.delete(proofParameter);
  return { url: parsed.href, socketPath, requiresProof };
}

/** The address as other programs take it. */
export function plainAddress(url: string): string {
  return readCheckedAddress(url).url;
}
