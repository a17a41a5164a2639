/** The place that schedulers search, as a watch stores it. */
import type { AccessFault } from '../jobs/request/check-access.ts';
import type { FileStore } from '../ports/files/organisation-files.ts';
import type { SecretBox } from '../ports/stores/secret-box.ts';
import type { WatchClaim } from '../ports/stores/watches.ts';
import type { WatchedPlace } from '../ports/watched-locations.ts';
import { rowServerOf } from './row-server.ts';
import { watchRequest, type WatchSecrets } from './request.ts';

/** Opens a place with the secrets of the watch: for schedulers alone. AppErrors of `watchRequest`. */
export async function openPlace(
  secrets: SecretBox,
  { watch, idOrg, sealed }: WatchClaim,
): Promise<WatchedPlace & { readonly kept: WatchSecrets }> {
  const { pattern, credential, id_watch: id, on_error: onError } = watch;
  const kept = JSON.parse(await secrets.open(sealed)) as WatchSecrets;
  const { location } = kept;
  const isRows = rowServerOf(location) !== null;
  const watched = { files: [], watch: id };
  const rows = isRows ? watchRequest({ ...kept, onError, credential }, [], watched) : null;
  return { idOrg, location, pattern, credential, rows, kept };
}

/** Returns the faults of a watch's request, except that its folder is empty now: a store has no other sign of a folder. */
export function withoutEmptyFolder(
  { local }: Pick<FileStore, 'local'>,
  location: string,
  faults: readonly AccessFault[],
): readonly AccessFault[] {
  if (local || location.startsWith('/')) return faults;
  return faults.filter(({ pointer, code }) => pointer !== '/location' || code !== 'input_not_found');
}
