/** Locations of watches that are servers of databases: rows come there, not files. */
import { isRemoteLocation } from '../files/remote-location.ts';
import { rowSourceOf, type RowServer } from '../jobs/request/row-source.ts';

/** Returns null if the location has files. */
export function rowServerOf(location: string): RowServer | null {
  if (isRemoteLocation(location)) return null;
  const source = rowSourceOf(location);
  return !('fault' in source) && (source.kind === 'postgresql' || source.kind === 'mysql') ? source : null;
}
