/** Members of zip archives (PKWARE APPNOTE.TXT), by their directory. */
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32, inflateRawSync } from 'node:zlib';
import yauzl from 'yauzl';
import { smallFileBytes } from '../open-file.ts';
import { broken, unpackingFault, type Expansion } from './kinds.ts';
import type { PackedMember } from './packed-member.ts';
import { readSync } from 'node:fs';

/** members that are looked up in the directory before the first of them is given */
const membersAtOnce = 256;
const sectionBytes = 64 * 1024;
const localHeaderBytes = 30;
const localHeaderSignature = 0x04034b50;
const stored = 0;
const deflated = 8;

/** The reader that `yauzl` uses: it requests the directory in pieces of a few bytes. */
class DirectoryReader extends yauzl.RandomAccessReader {
  readonly #file: FileHandle;
  readonly #pieces: FilePieces;

  constructor(file: FileHandle) {
    super();
    this.#file = file;
    this.#pieces = new FilePieces(file.fd);
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    let read: number;
    try {
      read = this.#pieces.bytes(position, length).copy(buffer, offset);
    } catch (error) {
      callback(error as Error);
      return;
    }
    callback(null, read);
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(section(this.#file, start, end), { objectMode: false });
  }
}

/** A stream of the handle's own would close it. */
async function* section(file: FileHandle, start: number, end: number): AsyncIterable<Uint8Array> {
  for (let at = start; at < end;) {
    const length = Math.min(sectionBytes, end - at);
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

/** Yields members in groups: each must be read before the next is requested. The file is not closed. */
export async function* zipMembers(
  file: FileHandle,
  name: string,
  expansion: Expansion,
): AsyncIterable<Iterable<PackedMember>> {
  const { size } = await file.stat();
  const options = {
    lazyEntries: true,
    autoClose: false,
    // a fault of one entry must not hide the others
    decodeStrings: false,
    validateEntrySizes: false,
  };
  const archive = await yauzl
    .fromRandomAccessReaderPromise(new DirectoryReader(file), size, options)
    .catch((error: unknown) => {
      throw broken(name, `is not a zip archive: ${error instanceof Error ? error.message : String(error)}`);
    });
  const pieces = new FilePieces(file.fd);
  const entries = archive.eachEntry()[Symbol.asyncIterator]();
  let packed = 0;
  // members may claim the same bytes of the archive: together they are no more than it has
  const packedBytes = (): number => Math.min(packed, size);
  function* membersOf(group: readonly yauzl.Entry[]): Iterable<PackedMember> {
    for (const entry of group) {
      const fileName = nameOf(entry);
      if (fileName.endsWith('/')) continue;
      packed += entry.compressedSize;
      const label = `${name}/${fileName}`;
      yield {
        name: fileName,
        packedBytes,
        oddity: zipOddity(entry),
        chunks: (fleeting) => {
          if (!isSmall(entry)) return expansion.guarded(zipContent(archive, entry), label, packedBytes);
          try {
            const bytes = smallContent(pieces, size, entry);
            expansion.add(bytes.length, packedBytes(), label);
            return [fleeting === undefined ? new Uint8Array(bytes) : bytes];
          } catch (error) {
            throw unpackingFault(error, label);
          }
        },
      };
    }
  }
  for (let ended = false; !ended;) {
    const group: yauzl.Entry[] = [];
    let fault: unknown;
    while (group.length < membersAtOnce && !ended) {
      try {
        const next = await entries.next();
        if (next.done === true) ended = true;
        else group.push(next.value);
      } catch (error) {
        fault = error;
        ended = true;
      }
    }
    yield membersOf(group);
    // events of sockets and timers are handled
    await nextTurn();
    if (fault !== undefined) throw broken(name, fault instanceof Error ? fault.message : String(fault));
  }
}

/** Strings of entries are not decoded, although their type says so. */
function nameOf({ generalPurposeBitFlag, fileNameRaw, extraFields }: yauzl.Entry): string {
  return yauzl.getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, false);
}

/** APPNOTE.TXT 4.4.2 and 4.4.15: archives made on Unix hold the mode of a file in the upper half of its attributes. */
function zipOddity(entry: yauzl.Entry): string | null {
  if (entry.isEncrypted()) return 'encrypted';
  const unix = entry.versionMadeBy >>> 8 === 3;
  const type = unix ? (entry.externalFileAttributes >>> 28) & 0xf : 0;
  if (type === 0 || type === 0o10) return null;
  return type === 0o12 ? 'a symbolic link' : 'not a regular file';
}

/** Returns whether the content can be read synchronously. */
function isSmall({ compressedSize, uncompressedSize, compressionMethod }: yauzl.Entry): boolean {
  return (
    compressedSize <= smallFileBytes &&
    uncompressedSize <= smallFileBytes &&
    (compressionMethod === stored || compressionMethod === deflated)
  );
}

/**
 * Reads a small member without a stream: with thousands of them, most of the time went into streams. The bytes are valid until the next
 * read.
 */
function smallContent(pieces: FilePieces, fileSize: number, entry: yauzl.Entry): Uint8Array {
  const { relativeOffsetOfLocalHeader: at, compressedSize, uncompressedSize, compressionMethod } = entry;
  const header = pieces.bytes(at, localHeaderBytes);
  if (header.length < localHeaderBytes) throw new Error('unexpected end of the archive');
  if (header.readUInt32LE(0) !== localHeaderSignature) throw new Error('its header has no signature');
  const from = at + localHeaderBytes + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (from + compressedSize > fileSize) throw new Error('its content reaches beyond the archive');
  const packed = pieces.bytes(from, compressedSize);
  const bytes = compressionMethod === stored ? packed : inflated(packed, uncompressedSize);
  if (bytes?.length !== uncompressedSize)
    throw new Error('its size differs from the size in the directory of the archive');
  checkSum(entry, crc32(bytes));
  return bytes;
}

/** Returns null if the content would have more than `size` bytes. */
function inflated(packed: Uint8Array, size: number): Uint8Array | null {
  // in one piece, with a spare byte that shows that all content was read
  const chunkSize = Math.max(64, size + 1);
  try {
    return inflateRawSync(packed, { chunkSize, maxOutputLength: chunkSize });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return null;
    throw error;
  }
}

/** The check sum is looked at here: the reader of the archive compares sizes alone. */
async function* zipContent(archive: yauzl.ZipFile, entry: yauzl.Entry): AsyncIterable<Uint8Array> {
  let sum = 0;
  let length = 0;
  for await (const chunk of await archive.openReadStreamPromise(entry)) {
    const bytes = chunk as Uint8Array;
    sum = crc32(bytes, sum);
    length += bytes.length;
    yield bytes;
  }
  if (length !== entry.uncompressedSize)
    throw new Error('its size differs from the size in the directory of the archive');
  checkSum(entry, sum);
}

function checkSum(entry: yauzl.Entry, sum: number): void {
  if (sum !== entry.crc32) throw new Error('its checksum is wrong, so it is damaged');
}

// Reads bytes of an open file by offset. Sequential requests are read in large pieces.

const pieceBytes = 256 * 1024;

export class FilePieces {
  readonly #file: number;
  #piece: Buffer = Buffer.alloc(0);
  /** offset of the piece in the file, and the number of bytes that were read */
  #from = 0;
  #length = 0;

  /** `file`: a descriptor, which stays open as long as this is used. */
  constructor(file: number) {
    this.#file = file;
  }

  /** Returns a view that is valid until the next call; it is shorter if the file ends before. */
  bytes(from: number, length: number): Buffer {
    if (from < this.#from || from + length > this.#from + this.#length) this.#read(from, length);
    const at = from - this.#from;
    return this.#piece.subarray(at, Math.min(at + length, this.#length));
  }

  #read(from: number, length: number): void {
    const behind = this.#from + this.#length;
    // scattered reads must not load a large piece each time
    const goesOn = from >= this.#from && from <= behind + pieceBytes;
    const wanted = goesOn ? Math.max(length, pieceBytes) : length;
    if (wanted > this.#piece.length) this.#piece = Buffer.allocUnsafe(Math.max(wanted, pieceBytes));
    this.#from = from;
    this.#length = 0;
    while (this.#length < wanted) {
      const read = readSync(
        this.#file,
        this.#piece,
        this.#length,
        wanted - this.#length,
        from + this.#length,
      );
      if (read === 0) break;
      this.#length += read;
    }
  }
}
