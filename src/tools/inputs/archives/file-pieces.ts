/** Reads bytes of an open file by offset. Sequential requests are read in large pieces. */
import { readSync } from 'node:fs';

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
