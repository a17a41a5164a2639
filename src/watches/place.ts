/** What schedulers look at, as a watch keeps it. */
import type { SecretBox } from '../ports/stores/secret-box.ts';
import type { WatchClaim } from '../ports/stores/watches.ts';
import type { WatchedPlace } from '../ports/watched-locations.ts';
import { rowServerOf } from './row-server.ts';
import { watchRequest, type WatchSecrets } from './request.ts';

/** With the secrets of the watch: for schedulers alone. AppErrors of `watchRequest`. */
export async function openPlace(
  secrets: SecretBox,
  { watch, idOrg, sealed }: WatchClaim,
): Promise<WatchedPlace & { readonly kept: Required<WatchSecrets> }> {
  const { location: shown, pattern, credential, id_watch: id, on_error: onError } = watch;
  const opened = JSON.parse(await secrets.open(sealed)) as WatchSecrets;
  const kept = { location: shown, ...opened };
  const { location } = kept;
  const isRows = rowServerOf(location) !== null;
  const watched = { files: [], evolves: false, watch: id };
  const rows = isRows ? watchRequest({ ...kept, onError, credential }, [], watched) : null;
  return { idOrg, location, pattern, credential, rows, kept };
}
