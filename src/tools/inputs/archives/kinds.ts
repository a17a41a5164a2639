/** Detects kinds of archives by names and by first bytes. */
import { constants, gunzipSync } from 'node:zlib';

export type ArchiveKind = 'gz' | 'zip' | 'tar' | 'tgz';

/** number of bytes that suffice to detect the type of a file, even if it is packed */
export const headBytes = 4096;

/** Returns the kind according to the name's suffix. */
export function archiveKind(name: string): ArchiveKind | null {
  if (/\.(?:tgz|tar\.gz)$/i.test(name)) return 'tgz';
  if (/\.gz$/i.test(name)) return 'gz';
  if (/\.zip$/i.test(name)) return 'zip';
  return /\.tar$/i.test(name) ? 'tar' : null;
}

/** Detects an archive by its first bytes, because uploads may have lost their suffix. A `.gz` may hold a tar archive. */
export function archiveKindOf(head: Uint8Array): ArchiveKind | null {
  if (head[0] === 0x1f && head[1] === 0x8b) return isTar(unpackedHead(head)) ? 'tgz' : 'gz';
  if (head[0] === 0x50 && head[1] === 0x4b && head[2] === 3 && head[3] === 4) return 'zip';
  return isTar(head) ? 'tar' : null;
}

/** Unpacks the first bytes of a gzip file. Returns no bytes if they are damaged. */
export function unpackedHead(head: Uint8Array): Uint8Array {
  try {
    return gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return new Uint8Array(0);
  }
}

const magicAt = 257;
/** `ustar` */
const magic = [0x75, 0x73, 0x74, 0x61, 0x72];

/** Detects a POSIX.1-1988 header: `ustar` at 257. The NUL after the member's name cannot occur in a UTF-8 document. */
function isTar(head: Uint8Array): boolean {
  for (let at = 0; at < magic.length; at += 1) if (head[magicAt + at] !== magic[at]) return false;
  return head[0] !== 0x3c && head.subarray(1, 100).includes(0);
}
