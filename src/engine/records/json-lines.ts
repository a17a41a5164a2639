/**
 * Splits records of CSV, TSV and JSON Lines into rows. The kernel of this folder handles the forms that the tools write, and TypeScript
 * handles JSON Lines in any form.
 */
import type { SpareBuffers } from '../spare-buffers.ts';
import { LF } from '../xml/characters.ts';
import { FORM_FLOAT, FORM_LIST } from './kernel/layout.ts';
import { type Piece, type RecordPlan, type SplitRecords, isJsonFormat, splitInTypeScript } from './split.ts';
import { createRecordsKernel, type RecordsKernel } from './kernel/instance.ts';

// JSON Lines in any form.

/** The members of a record, as parsed by `JSON.parse`, but with numbers as they are written. */
type Members = Readonly<Record<string, unknown>>;

/** Does the same as `splitInTypeScript`. Skips members that are not requested; missing members are empty. */
export function splitJsonLines(
  { bytes, rows }: Piece,
  { names, columns, forms, width }: RecordPlan,
  buffers: SpareBuffers,
): SplitRecords {
  const texts = new Texts();
  const decoder = new TextDecoder();
  let cells = buffers.takeInts(2 * width * rows).fill(-1);
  let count = 0;
  let filled = 0;
  let fault: string | null = null;
  let end = 0;
  for (let to = bytes.indexOf(LF); to >= 0; to = bytes.indexOf(LF, end)) {
    const values = lineValues(decoder.decode(bytes.subarray(end, to)), names, forms);
    if (typeof values === 'string') {
      fault = values;
      break;
    }
    end = to + 1;
    count += 1;
    // a line that is blank
    if (values === null) continue;
    const row = filled * width * 2;
    if (row + width * 2 > cells.length) cells = longer(cells, row + width * 2);
    for (const [field, value] of values.entries()) {
      const column = columns[field]!;
      if (column < 0 || value === null) continue;
      cells[row + column * 2] = texts.length;
      texts.push(value);
      cells[row + column * 2 + 1] = texts.length;
    }
    filled += 1;
  }
  const block = { bytes: texts.bytes(), cells: cells.subarray(0, filled * width * 2), rows: filled };
  return { block, end, count, fault, hasOthers: () => false };
}

/**
 * Returns the values by field; `forms` are FORM_… of src/engine/records/kernel/layout.ts. Returns null for a blank line, and a text that
 * describes the fault of an invalid one.
 */
export function lineValues(
  line: string,
  names: readonly string[],
  forms: readonly number[],
): (string | null)[] | string | null {
  if (line.trim() === '') return null;
  let record: unknown;
  try {
    record = JSON.parse(line, digits as (key: string, value: unknown) => unknown);
  } catch {
    return 'it is not JSON';
  }
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return 'it is not an object';
  const members = record as Members;
  const values = names.map((name, field) =>
    Object.hasOwn(members, name) ? textOf(members[name], forms[field]!) : null,
  );
  const nested = values.indexOf(undefined);
  return nested < 0
    ? (values as (string | null)[])
    : `its ${JSON.stringify(names[nested])} has objects in it`;
}

/** Undefined: it is no value of a column. */
function textOf(value: unknown, form: number): string | null | undefined {
  if (value === null) return null;
  if (!Array.isArray(value))
    return typeof value === 'object' ? undefined : form === FORM_FLOAT ? floatText(value) : String(value);
  if (value.some((item) => typeof item === 'object')) return undefined;
  return value.map(form === FORM_LIST ? floatText : String).join(' ');
}

/** Infinities as XSD has them (XSD 1.0 Part 2 §3.2.4). */
function floatText(value: unknown): string {
  return value === 'Infinity' ? 'INF' : value === '-Infinity' ? '-INF' : String(value);
}

/** Numbers with the digits that they were written with. */
function digits(_key: string, value: unknown, context: { readonly source?: string }): unknown {
  return typeof value === 'number' ? context.source : value;
}

function longer(cells: Int32Array<ArrayBuffer>, needed: number): Int32Array<ArrayBuffer> {
  const more = new Int32Array(Math.max(needed, cells.length * 2)).fill(-1, cells.length);
  more.set(cells);
  return more;
}

/** UTF-8 of texts, concatenated. */
class Texts {
  length = 0;
  #bytes = new Uint8Array(1024);
  readonly #encoder = new TextEncoder();

  push(text: string): void {
    // a unit of UTF-16 has at most three bytes
    const needed = this.length + text.length * 3;
    if (needed > this.#bytes.length) {
      const more = new Uint8Array(needed * 2);
      more.set(this.#bytes.subarray(0, this.length));
      this.#bytes = more;
    }
    this.length += this.#encoder.encodeInto(text, this.#bytes.subarray(this.length)).written;
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.length);
  }
}

// The splitter, which chooses the faster of the two implementations.

/** the least bytes of a piece that are worth calling the kernel and creating it */
const leastBytes = 8 * 1024;
/** the most bytes of a piece for the kernel, which keeps the memory of the longest piece */
const maxBytes = 4 * 1024 * 1024;

/** Splits the records of all files that are read at the same time. */
export class RecordSplitter {
  /** undefined: not needed so far; null: there is none */
  #kernel: RecordsKernel | null | undefined = undefined;

  /** Returns null if WebAssembly is not available. */
  kernel(): RecordsKernel | null {
    return (this.#kernel ??= createRecordsKernel());
  }

  /** Splits a piece into records. Changes the piece's bytes and `literalBytes` after them. `buffers`: buffers for the block. */
  split(piece: Piece, plan: RecordPlan, buffers: SpareBuffers): SplitRecords {
    const { length } = piece.bytes;
    const isWorth = length >= leastBytes && length <= maxBytes && plan.columns.length > 0;
    const kernel = isWorth ? this.kernel() : null;
    const split = kernel?.split(piece, plan, buffers);
    if (!isJsonFormat(plan.format)) return split ?? splitInTypeScript(piece, plan, buffers);
    // records that are not in the form that the tools write may still be valid
    return split?.fault === null ? split : splitJsonLines(piece, plan, buffers);
  }
}
