/** Decides which access data an organisation may use to read a remote place. */
import type { PlaceAccess } from '../../adapters/remote-inputs/remote-requests.ts';
import type { SourceConfig } from '../../config/shape.ts';
import { AppError } from '../../errors.ts';
import { credentialMisfit, findCredential, noCredential } from '../../files/credentials.ts';
import { openSources, sourceAt, type RemoteLocation } from '../../files/remote-location.ts';
import type { Adapters } from '../../ports/adapters.ts';

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
