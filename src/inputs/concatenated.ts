/**
 * `--concatenated`: each file or member of the inputs holds several documents in sequence. One pass finds their places; after that each
 * is a document by itself, in any order, also for threads and executors. Packed files, and files at remote places, are first unpacked
 * into one file.
 */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InputError } from '../engine/diagnostics.ts';
import { createConcatenatedReader, type FoundDocument } from '../engine/xml/concatenated.ts';
import { partText } from '../engine/shred/row-tag/parts.ts';
import { fileFault } from '../storage/staging/durable-file.ts';
import type { Spooled } from './file-spool.ts';
import type { InputSet } from './list-files.ts';
import type { InputMember } from './members.ts';
import { fileElsewhere, filesAtOnce, walkFiles, type Walk } from './walk-files.ts';

/** A file or member, with the places of its documents. */
interface SeparatedFile extends Pick<InputMember, 'name' | 'path' | 'carried' | 'external'> {
  readonly file: string;
  /** offset of the group's first byte in `file` */
  readonly base: number;
  /** for each document: its start and end, line and column, and encoding (an index from 1, 0 for none) */
  readonly places: Float64Array;
}

/** A file whose documents cannot be found: reading it reports the reason. */
interface DamagedFile {
  readonly member: InputMember;
}

const placeNumbers = 5;

/**
 * `spool`: a file of this run alone, which is made when it is needed. A damaged file counts as one document that cannot be read. Throws
 * AppError if the disk is full.
 */
export async function separated(
  inputs: InputSet,
  walk: Walk,
  spool: string,
  progress: (fraction: number) => void,
): Promise<InputSet> {
  const files: (SeparatedFile | DamagedFile)[] = [];
  const encodings: string[] = [];
  const unpacked = new UnpackedFile(spool);
  let disk = 0;
  try {
    for await (const member of inputs.members()) {
      files.push(await separate(member, unpacked, encodings));
      disk += member.diskBytes;
      progress(disk / Math.max(1, inputs.totalBytes));
    }
  } finally {
    unpacked.close();
  }
  const counts = files.map((file) => ('places' in file ? file.places.length / placeNumbers : 1));
  const bytes = files.reduce(
    (sum, file) => sum + ('places' in file ? (file.places.at(1 - placeNumbers) ?? 0) : 0),
    0,
  );
  return {
    fileCount: counts.reduce((sum, count) => sum + count, 0),
    totalBytes: bytes,
    expectedBytes: bytes,
    seen: () => inputs.seen(),
    async *members() {
      for (const [at, file] of files.entries()) {
        if (!('places' in file)) {
          yield file.member;
          continue;
        }
        for (let first = 0; first < counts[at]!; first += filesAtOnce * 64) {
          const count = Math.min(filesAtOnce * 64, counts[at]! - first);
          const listed = Array.from({ length: count }, (_, index) => {
            const number = first + index;
            const name = partText(file.name, number + 1);
            return fileElsewhere(partText(file.path, number + 1), name, placeOf(file, number, encodings));
          });
          for await (const member of walkFiles(listed, walk)) yield { ...member, external: file.external };
        }
      }
    },
    dispose: async () => {
      await inputs.dispose();
      await rm(spool, { force: true });
    },
  };
}

async function separate(
  member: InputMember,
  unpacked: UnpackedFile,
  encodings: string[],
): Promise<SeparatedFile | DamagedFile> {
  const { name, path, carried, source, encoding, external } = member;
  const { elsewhere } = source;
  const spooled = elsewhere !== undefined && 'file' in elsewhere ? elsewhere : null;
  const isInFile = spooled !== null || (elsewhere === undefined && !source.packed);
  const base = spooled?.from ?? (isInFile ? 0 : unpacked.size);
  const places: number[] = [];
  const reader = createConcatenatedReader((found: FoundDocument) => {
    const own = found.encoding ?? encoding;
    let known = own === undefined ? 0 : encodings.indexOf(own) + 1;
    if (own !== undefined && known === 0) known = encodings.push(own);
    places.push(found.from, found.to, found.line, found.column, known);
  });
  try {
    for await (const chunk of member.chunks('fleeting')) {
      if (!isInFile) unpacked.write(chunk);
      reader.write(chunk);
    }
    reader.end();
  } catch (error) {
    if (error instanceof InputError) return damaged(member, error);
    throw error;
  }
  return {
    name,
    path,
    ...(carried === undefined ? {} : { carried }),
    ...(external === undefined ? {} : { external }),
    file: isInFile ? source.file : unpacked.path,
    base,
    places: Float64Array.from(places),
  };
}

function damaged(member: InputMember, fault: InputError): DamagedFile {
  const chunks = (): never => {
    throw fault;
  };
  return { member: { ...member, chunks } };
}

function placeOf(
  { file, base, places, carried }: SeparatedFile,
  number: number,
  encodings: readonly string[],
): Spooled {
  const at = number * placeNumbers;
  const [from, to, line, column, encoding] = places.subarray(at, at + placeNumbers);
  return {
    file,
    from: base + from!,
    bytes: to! - from!,
    start: { line: line!, column: column! },
    ...(encoding === 0 ? {} : { encoding: encodings[encoding! - 1]! }),
    ...(carried === undefined ? {} : { carried }),
  };
}

/** A file that holds the unpacked members of archives, one after the other. */
class UnpackedFile {
  readonly path: string;
  size = 0;
  #descriptor: number | null = null;

  constructor(path: string) {
    this.path = path;
  }

  /** AppError if the disk is full. */
  write(bytes: Uint8Array): void {
    try {
      if (this.#descriptor === null) {
        mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
        this.#descriptor = openSync(this.path, 'w', 0o600);
      }
      for (let at = 0; at < bytes.length;) at += writeSync(this.#descriptor, bytes, at);
    } catch (error) {
      throw fileFault(error, this.path);
    }
    this.size += bytes.length;
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}
