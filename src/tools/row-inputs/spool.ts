/** Documents of rows on this machine: tar archives, which every reader of inputs knows, each small enough to be a unit of work. */
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pack, type Pack } from 'tar-stream';
import { fileFault } from '../../adapters/file-staging/faults.ts';
import { carriedRecord } from '../inputs/archives/members.ts';
import type { CarriedValues } from '../inputs/members.ts';

/** limits of one archive */
const mostDocuments = 1000;
const mostBytes = 16 * 1024 * 1024;

interface OpenArchive {
  readonly pack: Pack;
  readonly written: Promise<void>;
  documents: number;
  bytes: number;
}

export class DocumentSpool {
  /** paths of the archives, in the order of the rows */
  readonly paths: string[] = [];
  readonly #folder: string;
  #open: OpenArchive | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** AppError `service_unavailable` if the disk is full. */
  async add(name: string, bytes: Uint8Array, carried: CarriedValues): Promise<void> {
    const open = (this.#open ??= await this.#begin());
    await this.#whileWritten(
      open,
      new Promise((resolve, reject) => {
        const entry = open.pack.entry(
          {
            name,
            size: bytes.length,
            mtime: new Date(0),
            pax: { path: name, [carriedRecord]: JSON.stringify(carried) },
          },
          (error) => (error == null ? resolve(undefined) : reject(error as Error)),
        );
        entry.end(bytes);
      }),
    );
    open.documents += 1;
    open.bytes += bytes.length;
    if (open.documents >= mostDocuments || open.bytes >= mostBytes) await this.end();
  }

  /** All that was added is on the disk. */
  async end(): Promise<void> {
    const open = this.#open;
    if (open === null) return;
    this.#open = null;
    open.pack.finalize();
    await this.#whileWritten(open, open.written);
  }

  async #begin(): Promise<OpenArchive> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, `rows-${String(this.paths.length + 1).padStart(6, '0')}.tar`);
    this.paths.push(path);
    const archive = pack();
    const written = pipeline(archive, createWriteStream(path, { mode: 0o600 }));
    // the fault is handled by the caller that adds or ends
    written.catch(() => undefined);
    return { pack: archive, written, documents: 0, bytes: 0 };
  }

  /** Runs `work` until it ends or writing the archive fails. */
  async #whileWritten(open: OpenArchive, work: Promise<unknown>): Promise<void> {
    try {
      await Promise.race([work, open.written.then(() => work)]);
    } catch (error) {
      throw fileFault(error, this.#folder);
    }
  }
}
