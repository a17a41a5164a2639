/** Files of tables as statements read them: on this machine, with what the tables tell of their rows. */
import type { LocalRows } from '../data-files.ts';
import type { LakeFile } from '../table-format.ts';
import type { LakePlace } from './place.ts';

/** A file of the table: its path in the place, and below the table's folder. */
export interface PresentFile {
  readonly path: string;
  readonly name: string;
  /** what the table says of it */
  readonly of: LakeFile;
}

/** As statements read them. */
export async function rowFiles(
  place: LakePlace,
  present: readonly Pick<PresentFile, 'path' | 'of'>[],
): Promise<readonly LocalRows[]> {
  const found: LocalRows[] = [];
  for (const { path, of } of present) found.push({ path: await place.localFile(path), told: of.told });
  return found;
}
