/** Reads records of the CSV, TSV and JSON Lines files that we write, one at a time, and their stored values. */
import { open } from 'node:fs/promises';
import { rowEncoderFor, type RowEncoder } from '../../../engine/shred/row-output.ts';
import { ByteBuffer } from '../../../engine/shred/byte-buffer.ts';
import { recordForms, type RecordFormat } from '../../../engine/records/split.ts';

const [newline, quote, comma, backslash] = [0x0a, 0x22, 0x2c, 0x5c];
const [openBrace, closeBrace, openBracket, closeBracket, colon] = [0x7b, 0x7d, 0x5b, 0x5d, 0x3a];
const readBytes = 256 * 1024;

/** Yields each record with its line break, including the header line. A record is valid until the next one is requested. */
export async function* recordsOf(path: string, format: RecordFormat): AsyncGenerator<Buffer, void, void> {
  const file = await open(path);
  try {
    let kept = Buffer.alloc(0);
    for (;;) {
      const read = await file.read(Buffer.allocUnsafe(readBytes), 0, readBytes, null);
      const bytes = Buffer.concat([kept, read.buffer.subarray(0, read.bytesRead)]);
      let from = 0;
      for (let end = recordEnd(bytes, 0, format); end > 0; end = recordEnd(bytes, from, format)) {
        yield bytes.subarray(from, end);
        from = end;
      }
      kept = bytes.subarray(from);
      if (read.bytesRead > 0) continue;
      if (kept.length > 0) yield kept;
      return;
    }
  } finally {
    await file.close();
  }
}

/** Returns the position after the line break of the record; 0 if the record continues. */
function recordEnd(bytes: Buffer, from: number, format: RecordFormat): number {
  if (!recordForms[format].isQuoted) return bytes.indexOf(newline, from) + 1;
  let isInQuotes = false;
  for (let at = from; at < bytes.length; at += 1) {
    if (bytes[at] === quote) isInQuotes = !isInQuotes;
    else if (bytes[at] === newline && !isInQuotes) return at + 1;
  }
  return 0;
}

/** The start and the end of a value in its record. */
export type ValuePlace = readonly [from: number, to: number];

/** Returns the places of the values of a record, in the order of the columns. */
export function valuesIn(record: Buffer, format: RecordFormat): ValuePlace[] {
  const end = record.at(-1) === newline ? record.length - 1 : record.length;
  const { delimiter, isQuoted } = recordForms[format];
  return delimiter === null ? membersIn(record, end) : fieldsIn(record, end, delimiter, isQuoted);
}

function fieldsIn(record: Buffer, end: number, separator: number, isQuoted: boolean): ValuePlace[] {
  const places: ValuePlace[] = [];
  let isInQuotes = false;
  let from = 0;
  for (let at = 0; at <= end; at += 1) {
    if (isQuoted && record[at] === quote) isInQuotes = !isInQuotes;
    if (at < end && (isInQuotes || record[at] !== separator)) continue;
    places.push([from, at]);
    from = at + 1;
  }
  return places;
}

/** Returns the places of the values of an object: the bytes after the colon of each member. */
function membersIn(line: Buffer, end: number): ValuePlace[] {
  const places: ValuePlace[] = [];
  let depth = 0;
  let from = -1;
  for (let at = 0; at < end; at += 1) {
    const byte = line[at]!;
    if (byte === quote) at = stringEnd(line, at);
    else if (byte === colon && depth === 1 && from < 0) from = at + 1;
    else if (byte === openBrace || byte === openBracket) depth += 1;
    else if (byte === closeBracket) depth -= 1;
    else if ((byte === comma && depth === 1) || byte === closeBrace) {
      if (from >= 0) places.push([from, at]);
      from = -1;
    }
  }
  return places;
}

/** Returns the position of the closing quote of the string that begins at `from`. */
function stringEnd(line: Buffer, from: number): number {
  let at = from + 1;
  while (at < line.length && line[at] !== quote) at += line[at] === backslash ? 2 : 1;
  return at;
}

const unescaped: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r' };

/** The stored form of text in a format. */
interface StoredText {
  readonly read: (stored: string) => string;
  readonly write: (text: string) => Buffer;
}

const texts: Readonly<Record<RecordFormat, StoredText>> = {
  csv: {
    read: (stored) => (stored.startsWith('"') ? stored.slice(1, -1).replaceAll('""', '"') : stored),
    write: encodedBy(rowEncoderFor('csv')),
  },
  tsv: {
    read: (stored) => stored.replaceAll(/\\(.)/g, (_, letter: string) => unescaped[letter] ?? letter),
    write: encodedBy(rowEncoderFor('tsv')),
  },
  jsonl: {
    read: (stored) => (stored.startsWith('"') ? (JSON.parse(stored) as string) : stored),
    write: (text) => Buffer.from(JSON.stringify(text)),
  },
};

function encodedBy(encoder: RowEncoder): StoredText['write'] {
  return (text) => {
    const out = new ByteBuffer(64);
    const bytes = Buffer.from(text);
    encoder.pushText(out, bytes, 0, bytes.length);
    return Buffer.from(out.bytes.subarray(0, out.length));
  };
}

/** Decodes a stored text value. */
export function textIn(record: Buffer, [from, to]: ValuePlace, format: RecordFormat): string {
  return texts[format].read(record.toString('utf8', from, to));
}

/** Encodes a text as it is stored. */
export function storedText(text: string, format: RecordFormat): Buffer {
  return texts[format].write(text);
}
