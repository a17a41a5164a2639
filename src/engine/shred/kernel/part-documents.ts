/** Rows of `_documents` in the kernel's memory, for the parts of a larger document. The rows differ only in key, number and size. */
import { sideTableDefinitions } from '../../model/side-tables.ts';
import { ByteBuffer } from '../rows/byte-buffer.ts';
import type { EncodingName } from '../rows/encoding.ts';
import { rowFormFor, type RowForm } from '../rows/forms.ts';
import type { JobIdentity, RowOutput } from '../rows/output.ts';
import { partText, type PartsOfFile } from '../row-tag/parts.ts';
import * as layout from './layout.ts';
import type { KernelMemory } from './layout.ts';

const ROW_BYTES = 32 * 1024;
const PIECE_BYTES = 4 * 1024;
const PIECES = 4;
const QUOTE = 34;

/** Bytes that the rows need in the kernel's memory. */
export const PART_DOCUMENTS_BYTES: number = ROW_BYTES + PIECE_BYTES + 8 * PIECES + 4 * layout.MARGIN_BYTES;

export class PartDocuments {
  readonly #control: Int32Array;
  readonly #form: RowForm;
  readonly #rows: Uint8Array;
  readonly #pieces: Uint8Array;
  readonly #ranges: Int32Array;
  readonly #job: JobIdentity;
  #name: string | null = null;
  #loadedAt = '';
  #fits = false;

  constructor(encoding: EncodingName, job: JobIdentity, memory: KernelMemory) {
    const { control } = memory;
    this.#control = control;
    this.#form = rowFormFor(encoding, sideTableDefinitions.documents.columns);
    this.#job = job;
    this.#rows = memory.bytes(ROW_BYTES);
    this.#pieces = memory.bytes(PIECE_BYTES);
    this.#ranges = memory.ints(PIECES * 2);
    control[layout.DOCUMENTS] = this.#rows.byteOffset;
    control[layout.DOCUMENTS_CAPACITY] = ROW_BYTES;
    control[layout.DOCUMENT_PIECES] = this.#ranges.byteOffset;
  }

  /** The rows that follow are of these parts. False: there is no room for their name. */
  describe({ name, loadedAt }: Pick<PartsOfFile, 'name' | 'loadedAt'>): boolean {
    if (name === this.#name && loadedAt === this.#loadedAt) return this.#fits;
    this.#name = name;
    this.#loadedAt = loadedAt;
    const pieces = this.#piecesOf(name, loadedAt);
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    this.#fits = bytes <= PIECE_BYTES;
    if (!this.#fits) return false;
    let used = 0;
    for (const [index, piece] of pieces.entries()) {
      this.#pieces.set(piece, used);
      this.#ranges.set([this.#pieces.byteOffset + used, piece.length], index * 2);
      used += piece.length;
    }
    this.#control[layout.DOCUMENTS_ROOM] = bytes;
    return true;
  }

  /** Passes the rows to the output. Returns their number. */
  handTo(output: RowOutput): number {
    const count = this.#control[layout.DOCUMENTS_PENDING]!;
    if (count > 0) output.documents(this.#rows, this.#control[layout.DOCUMENTS_LENGTH]!, count);
    this.#control[layout.DOCUMENTS_LENGTH] = 0;
    this.#control[layout.DOCUMENTS_PENDING] = 0;
    return count;
  }

  #piecesOf(name: string, loadedAt: string): Uint8Array[] {
    const form = this.#form;
    const out = new ByteBuffer(1024);
    const ends: number[] = [];
    form.begin(out, 0);
    ends.push(out.length);
    const part = new TextEncoder().encode(partText(name, 0));
    form.text(out, 1, part, 0, part.length);
    // the number is at the end of the name, possibly before a quote
    const quotes = out.bytes[out.length - 1] === QUOTE ? 1 : 0;
    ends.push(out.length - 1 - quotes);
    form.nothing(out, 2);
    form.begin(out, 3);
    ends.push(out.length);
    form.ascii(out, 4, loadedAt);
    form.begin(out, 5);
    out.pushInteger(this.#job.idJob);
    form.ascii(out, 6, this.#job.jobUuid);
    form.end(out);
    ends.push(out.length);
    return ends.map((end, index) =>
      out.bytes.slice(index === 0 ? 0 : ends[index - 1]! + (index === 2 ? 1 : 0), end),
    );
  }
}
