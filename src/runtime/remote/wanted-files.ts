/**
 * Decides which files of a bucket or a server are fetched: for documents, all whose content may be one; for an XSD set, those with its
 * names.
 */
import { sep } from 'node:path';
import { smallBytes } from '../../adapters/remote-inputs/download.ts';
import type { RemoteLocation } from '../../files/remote-location.ts';
import { isXsdName } from '../../jobs/options/xsd-inputs.ts';
import { archiveKind, headBytes } from '../../tools/inputs/archives/kinds.ts';
import { documentTest } from '../../tools/inputs/document-names.ts';
import type { FileSpool } from '../../tools/inputs/file-spool.ts';
import { openDescribed } from './read-place.ts';
import { accessElsewhere, type PlaceOptions } from './sftp.ts';

/** The destination and the purpose of fetched files. */
export interface BringingOptions extends PlaceOptions {
  /** created if it does not exist */
  readonly directory: string;
  /** takes small files of a place without schemas; null: each is a file by itself */
  readonly spool: FileSpool | null;
  /** greatest number of referenced files to fetch for schema documents that are named singly; absent: documents are fetched */
  readonly follows?: false | { readonly mostFiles: number };
}

export interface FoundObject {
  readonly key: string;
  /** below the folder that the location names */
  readonly name: string;
  /** the part of the name that the location names: all of it, a folder, or '' for files below a prefix */
  readonly matched: string;
  /** the only one that is wanted; absent: any */
  readonly version?: string;
  /** the version and the bytes that it was listed with; absent: it was not */
  readonly listed?: string;
  readonly bytes?: number;
}

/**
 * Returns a test for the names in a folder that are wanted: for documents all files, because their content decides; otherwise those of
 * an XSD set. Hidden files are never wanted.
 */
export function wantedNames({ spool, follows }: BringingOptions): (name: string) => boolean {
  if (spool !== null || follows === undefined) {
    const test = documentTest(false);
    return (name) => test.byName(name.replace(/\.gz$/i, '')) !== 'hide';
  }
  return (name) =>
    /\.(?:xml|cat|wsdl)$|(?:^|\/)catalog$/i.test(name) || isXsdName(name) || archiveKind(name) !== null;
}

/** Names of DTDs and of their parts, and of catalogues, which documents are read with. */
export function isPartName(name: string): boolean {
  return /\.(?:dtd|ent|mod|pen|elt|cat)$|(?:^|\/)[^/]*catalog[^/]*(?:\.xml)?$/i.test(name);
}

/** Files of other names that are large are brought only if they begin as documents do; the spool hears of the rest. */
export async function withoutOthers(
  { access: given, directory, ...reading }: BringingOptions,
  location: RemoteLocation,
  spool: FileSpool,
  found: readonly FoundObject[],
): Promise<readonly FoundObject[]> {
  const test = documentTest(false);
  const isOther = ({ name, matched, bytes = 0, listed = '' }: FoundObject): boolean =>
    matched !== name &&
    bytes > smallBytes &&
    listed !== '' &&
    archiveKind(name) === null &&
    !isXsdName(name) &&
    test.byName(name) === 'look';
  if (location.kind === 'http' || !found.some(isOther)) return found;
  const access = location.kind === 'sftp' ? await accessElsewhere(given) : given;
  if (access === null) return found;
  const place = openDescribed({ location: location.text, access }, reading);
  const kept: FoundObject[] = [];
  try {
    for (const one of found) {
      const why = isOther(one)
        ? test.byContent(
            one.name,
            Buffer.concat(
              await Array.fromAsync(
                place.bytes(
                  { place: 0, key: one.key, version: one.listed!, bytes: one.bytes! },
                  { from: 0, to: headBytes },
                ),
              ),
            ),
          )
        : null;
      if (why === null) kept.push(one);
      else spool.passOver(directory + sep + one.name, why);
    }
  } finally {
    place.close();
  }
  return kept;
}
