/** What a catalogue gives for reaching the files of a table ("vended credentials"). */
import type { LoadedTable } from './rest.ts';

/** As of a source of S3-compatible stores. */
export interface VendedAccess {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface Vended {
  readonly access: VendedAccess;
  /** epoch milliseconds; Infinity where it does not say */
  readonly until: number;
}

/** Null: nothing that opens a store of S3's kind. */
export function vendedFor(location: string, { config, credentials }: LoadedTable): Vended | null {
  const own = credentials
    .filter(({ prefix }) => location.startsWith(prefix))
    .toSorted((a, b) => b.prefix.length - a.prefix.length)[0];
  const told: Readonly<Record<string, string | undefined>> = { ...config, ...own?.config };
  const { 's3.access-key-id': accessKeyId, 's3.secret-access-key': secretAccessKey } = told;
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  const region = told['client.region'] ?? told['s3.region'] ?? 'us-east-1';
  const sessionToken = told['s3.session-token'];
  const until = Number(told['s3.session-token-expires-at-ms'] ?? Infinity);
  return {
    access: {
      endpoint: told['s3.endpoint'] ?? `https://s3.${region}.amazonaws.com`,
      region,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
    },
    until: Number.isFinite(until) ? until : Infinity,
  };
}
