/** How long the records of a file of rows are: a reader that is told needs no larger buffer. */
import { createReadStream } from 'node:fs';

const newline = 0x0a;
const quote = 0x22;
const pieceBytes = 1024 * 1024;

/** Bytes of the longest record, its end included. `quoted`: as in CSV, where a value in quotes may have line breaks (RFC 4180 §2). */
export async function longestRecord(path: string, quoted: boolean): Promise<number> {
  let longest = 0;
  let length = 0;
  let isInQuotes = false;
  const pieces = createReadStream(path, { highWaterMark: pieceBytes }) as AsyncIterable<Buffer>;
  for await (const piece of pieces) {
    let from = 0;
    let nextQuote = quoted ? piece.indexOf(quote) : -1;
    for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, end + 1)) {
      for (; nextQuote >= 0 && nextQuote < end; nextQuote = piece.indexOf(quote, nextQuote + 1))
        isInQuotes = !isInQuotes;
      if (isInQuotes) continue;
      longest = Math.max(longest, length + end + 1 - from);
      length = 0;
      from = end + 1;
    }
    for (; nextQuote >= 0; nextQuote = piece.indexOf(quote, nextQuote + 1)) isInQuotes = !isInQuotes;
    length += piece.length - from;
  }
  return Math.max(longest, length);
}
