/** Surveys a file of rows by its line breaks alone: how long its records are, and whether they are in the order of their keys. */
import { open } from 'node:fs/promises';
import { memberHead, type RecordsKernel } from '../../../../engine/records/kernel/instance.ts';
import { MOST_KEY_BYTES } from '../../../../engine/records/kernel/layout.ts';
import {
  isJsonFormat,
  recordForms,
  type RecordFormat,
  type RecordSurvey,
} from '../../../../engine/records/split.ts';

const newline = 0x0a;
const quote = 0x22;
/** the size of the buffer that a file is read into */
export const surveyBytes: number = 1024 * 1024;

/** The form of the records of a file. */
export interface SurveyedForm {
  readonly format: RecordFormat;
  /** for JSON Lines: the name of the key, which is the first member */
  readonly keyName?: string;
}

const nothing = new Uint8Array(0);

/** Returns the bytes before the key. */
function keyHeadOf({ format, keyName = '' }: SurveyedForm): Uint8Array {
  return isJsonFormat(format) ? Buffer.concat([Buffer.from('{'), memberHead(keyName)]) : nothing;
}

/** `buffer`: reused for files that are surveyed one after the other. `kernel`: null surveys in TypeScript only. */
export async function surveyRecords(
  path: string,
  form: SurveyedForm,
  buffer: Buffer = Buffer.allocUnsafeSlow(surveyBytes),
  kernel: RecordsKernel | null = null,
): Promise<RecordSurvey> {
  return kernel === null
    ? surveyInTypeScript(path, form, buffer)
    : surveyByKernel(path, form, buffer, kernel);
}

async function surveyByKernel(
  path: string,
  form: SurveyedForm,
  buffer: Buffer,
  kernel: RecordsKernel,
): Promise<RecordSurvey> {
  kernel.beginSurvey(form.format, keyHeadOf(form));
  const file = await open(path);
  try {
    for (let kept = 0; ;) {
      const { bytesRead } = await file.read(buffer, kept, buffer.length - kept, null);
      const end = kept + bytesRead;
      const done = kernel.survey(buffer.subarray(0, end), bytesRead === 0);
      if (bytesRead === 0) return kernel.surveyed();
      buffer.copyWithin(0, done, end);
      kept = end - done;
    }
  } finally {
    await file.close();
  }
}

async function surveyInTypeScript(path: string, form: SurveyedForm, buffer: Buffer): Promise<RecordSurvey> {
  const { isQuoted: quoted, hasHeader } = recordForms[form.format];
  const keys = new AscendingKeys(keyHeadOf(form), hasHeader);
  let longest = 0;
  let length = 0;
  let isInQuotes = false;
  for await (const piece of piecesOf(path, buffer)) {
    let from = 0;
    let nextQuote = quoted ? piece.indexOf(quote) : -1;
    for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, end + 1)) {
      for (; nextQuote >= 0 && nextQuote < end; nextQuote = piece.indexOf(quote, nextQuote + 1))
        isInQuotes = !isInQuotes;
      if (isInQuotes) continue;
      keys.record(piece, from, end, true);
      longest = Math.max(longest, length + end + 1 - from);
      length = 0;
      from = end + 1;
    }
    for (; nextQuote >= 0; nextQuote = piece.indexOf(quote, nextQuote + 1)) isInQuotes = !isInQuotes;
    length += piece.length - from;
    keys.record(piece, from, piece.length, false);
  }
  if (length > 0) keys.record(new Uint8Array(0), 0, 0, true);
  return { longest: Math.max(longest, length), keys: keys.ends() };
}

/** Each piece is valid only until the next one is requested. */
async function* piecesOf(path: string, buffer: Buffer): AsyncGenerator<Buffer, void, void> {
  const file = await open(path);
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** Checks that the integers at the start of records ascend. */
class AscendingKeys {
  #records = 0;
  #ascends = true;
  /** the bytes before each key */
  readonly #before: Uint8Array;
  /** the first record names the columns */
  readonly #hasHeader: boolean;
  /** the first bytes of a record */
  readonly #head: Uint8Array;
  #headLength = 0;
  readonly #last = new Uint8Array(MOST_KEY_BYTES);
  #lastLength = 0;
  #first: bigint | null = null;

  constructor(before: Uint8Array, hasHeader: boolean) {
    this.#before = before;
    this.#hasHeader = hasHeader;
    this.#head = new Uint8Array(before.length + MOST_KEY_BYTES);
  }

  /** Receives the next part of a record; `ends`: it is the last one. */
  record(bytes: Uint8Array, from: number, to: number, ends: boolean): void {
    if (!this.#ascends) return;
    for (let at = from; at < to && this.#headLength < this.#head.length; at += 1)
      this.#head[this.#headLength++] = bytes[at]!;
    if (!ends) return;
    this.#records += 1;
    if (this.#records > 1 || !this.#hasHeader) this.#take(this.#key());
    this.#headLength = 0;
  }

  ends(): RecordSurvey['keys'] {
    if (!this.#ascends || this.#first === null) return null;
    return { first: this.#first, last: numberOf(this.#last, this.#lastLength) };
  }

  /** Returns the digits of the key of the record; empty if the record does not begin with a key. */
  #key(): Uint8Array {
    const before = this.#before.length;
    const isThere = this.#before.every((byte, at) => this.#head[at] === byte);
    const key = this.#head.subarray(before, Math.max(before, this.#headLength));
    return key.subarray(0, isThere ? digitsAt(key, key.length) : 0);
  }

  #take(key: Uint8Array): void {
    const { length } = key;
    const last = this.#last;
    let order = length - this.#lastLength;
    for (let at = 0; order === 0 && at < length; at += 1) order = key[at]! - last[at]!;
    if (length === 0 || order <= 0) {
      this.#ascends = false;
      return;
    }
    this.#first ??= numberOf(key, length);
    last.set(key);
    this.#lastLength = length;
  }
}

/** Returns the number of digits, if they have no leading zero and a delimiter follows; otherwise 0. */
function digitsAt(bytes: Uint8Array, length: number): number {
  let digits = 0;
  while (digits < length && bytes[digits]! >= 0x30 && bytes[digits]! <= 0x39) digits += 1;
  const end = digits < length ? bytes[digits] : -1;
  const isWhole = end === 0x09 || end === 0x2c || end === 0x7d || (end === -1 && digits < MOST_KEY_BYTES);
  return isWhole && bytes[0] !== 0x30 ? digits : 0;
}

function numberOf(digits: Uint8Array, length: number): bigint {
  return BigInt(String.fromCharCode(...digits.subarray(0, length)));
}
