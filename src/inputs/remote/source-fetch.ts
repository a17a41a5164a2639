/** Fetches the sources of a schema from buckets, servers and the web; runs in a child process (`src/inputs/remote/fetch-child.ts`). */
import { join } from 'node:path';
import { checkAddress, createOutgoingGuard } from '../../service/access/outgoing-guard.ts';
import { createHostResolver } from '../../network/checked-http.ts';
import type { PlaceAccess } from './requests.ts';
import { fixedLimits } from '../../config/limits.ts';
import { AppError } from '../../errors.ts';
import {
  isRemoteLocation,
  parseRemoteLocation,
  openSources,
  sourceAt,
  type RemoteLocation,
} from '../../service/files/remote-location.ts';
import { fetchLocation } from './fetch.ts';
import type { SourceConfig } from '../../config/shape.ts';
import { credentialMisfit, findCredential, noCredential } from '../../service/files/credentials.ts';
import type { Adapters } from '../../ports/adapters.ts';

/** A place of this machine, or one elsewhere with the access to read it. */
export interface SourcePlace {
  readonly text: string;
  readonly access: PlaceAccess | null;
}

interface SourceFetch {
  readonly xsd: readonly SourcePlace[];
  readonly xml: readonly SourcePlace[];
  readonly allowedHosts: readonly string[];
  /** the folder that receives the files; made when needed */
  readonly directory: string;
  /** limit for all sources together; XSD sets have a lower limit of their own */
  readonly maxBytes: number;
}

/** A request to the child process; `close` comes when its answer is no longer wanted. */
export type FetchRequest = { readonly fetch: SourceFetch } | { readonly what: 'close' };

/** Paths of this machine. */
export interface FetchedSources {
  readonly xsd: readonly string[];
  readonly xml: readonly string[];
}

/** AppErrors of `fetchLocation`, and `payload_too_large`. */
export async function fetchSources(fetch: SourceFetch): Promise<FetchedSources> {
  const { directory, maxBytes } = fetch;
  const resolver = createHostResolver();
  const guards = {
    request: createOutgoingGuard(fetch.allowedHosts, resolver),
    operator: createOutgoingGuard(['*'], resolver),
  };
  const signal = AbortSignal.timeout(fixedLimits.schemaFetchMs);
  const bytes = { xsd: 0, xml: 0 };
  const mostOf = { xsd: Math.min(fixedLimits.xsdSetBytes, maxBytes), xml: maxBytes };
  let serial = 0;
  const fetched = async (places: readonly SourcePlace[], kind: 'xsd' | 'xml'): Promise<string[]> => {
    const onBytes = (count: number): void => {
      bytes[kind] += count;
      if (bytes[kind] > mostOf[kind]) throw tooLarge(kind, mostOf[kind]);
      if (bytes.xsd + bytes.xml > maxBytes) throw tooLarge('xml', maxBytes);
    };
    const paths: string[] = [];
    for (const { text, access } of places) {
      if (!isRemoteLocation(text)) {
        paths.push(text);
        continue;
      }
      const found = await fetchLocation(parseRemoteLocation(text), {
        check: (url, by) => checkAddress(guards[by], url),
        access,
        directory: join(directory, String((serial += 1))),
        signal,
        scratch: directory,
        ownKeys: false,
        onBytes,
        wanted: null,
        spool: null,
        ...(kind === 'xsd' ? { follows: false } : {}),
      });
      paths.push(...found.paths);
    }
    return paths;
  };
  return { xsd: await fetched(fetch.xsd, 'xsd'), xml: await fetched(fetch.xml, 'xml') };
}

function tooLarge(kind: 'xsd' | 'xml', most: number): AppError {
  return new AppError(
    'payload_too_large',
    kind === 'xsd'
      ? `the schema documents have more than ${most} bytes`
      : `the files have more than ${most} bytes: load such documents with xml2er, which has no such limit`,
  );
}

// Decides which access data an organisation may use to read a remote place.

export interface AccessOptions {
  readonly adapters: Pick<Adapters, 'credentials' | 'secrets'>;
  readonly sources: readonly SourceConfig[];
}

/**
 * `credential`: its name; null: a source of the operator that contains the place. Returns null if there is none. AppError
 * `invalid_option` if no credential has that name, or it is for another place.
 */
export async function accessOfOrganisation(
  { adapters, sources }: AccessOptions,
  { idOrg, credential }: { readonly idOrg: number; readonly credential: string | null },
  location: RemoteLocation,
): Promise<PlaceAccess | null> {
  if (credential === null) {
    const source = sourceAt(sources, location.text, idOrg);
    return source === undefined ? null : { access: source.access, by: 'operator' };
  }
  const named = await findCredential(adapters, openSources(sources, idOrg), idOrg, credential);
  if (named === null) throw noCredential(credential);
  const misfit = credentialMisfit(named, location);
  if (misfit !== null) throw new AppError('invalid_option', misfit);
  return named;
}
