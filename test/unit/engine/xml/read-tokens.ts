/** The tokens of a document, in pieces of any size, as lines to compare. */
import { InputError, type Diagnostic } from '../../../../src/engine/diagnostics.ts';
import { createNameTable } from '../../../../src/engine/xml/names/interned.ts';
import { describeRecord } from '../../../../src/engine/xml/kernel/tape.ts';
import {
  createXmlTokenizer,
  type XmlTokenizerOptions,
} from '../../../../src/engine/xml/tokenizer/portable.ts';

export interface ReadOptions extends Partial<XmlTokenizerOptions> {
  /** bytes per call of `write`; all at once without it */
  readonly chunkBytes?: number;
  /** put the bytes where the tokenizer has room for them, where it can */
  readonly inPlace?: boolean;
  /** prefix every record with `line:column` (but text, which may be split anywhere) */
  readonly places?: boolean;
  /** what reads, instead of `createXmlTokenizer` */
  readonly create?: typeof createXmlTokenizer;
}

export function bytesOf(document: string | Uint8Array): Uint8Array {
  return typeof document === 'string' ? new TextEncoder().encode(document) : document;
}

/** Every record in words; adjoining text is joined. */
export function readTokens(document: string | Uint8Array, options: ReadOptions = {}): string[] {
  const bytes = bytesOf(document);
  const lines: string[] = [];
  let text: string | null = null;
  const names = options.names ?? createNameTable();
  const endText = () => {
    if (text !== null) lines.push(`TEXT ${JSON.stringify(text)}`);
    text = null;
  };
  const tokenizer = (options.create ?? createXmlTokenizer)({
    ...options,
    names,
    onBatch(batch) {
      for (let i = 0; i < batch.count; i++) {
        const line = describeRecord(batch, i, names);
        if (line.startsWith('TEXT ')) {
          text = (text ?? '') + (JSON.parse(line.slice(5).replace(/ white$/, '')) as string);
          continue;
        }
        endText();
        const place = options.places === true ? tokenizer.locate(i) : null;
        lines.push(place === null ? line : `${place.line}:${place.column} ${line}`);
      }
    },
  });
  const step = options.chunkBytes ?? Math.max(bytes.length, 1);
  for (let from = 0; from < bytes.length;) {
    const room = options.inPlace === true ? tokenizer.room() : null;
    const piece = bytes.subarray(from, from + Math.min(step, room?.length ?? step));
    if (room === null) {
      tokenizer.write(piece);
    } else {
      room.set(piece);
      tokenizer.filled(piece.length);
    }
    from += piece.length;
  }
  tokenizer.end();
  endText();
  return lines;
}

/** What stops the reading; fails when nothing does. */
export function readFailure(document: string | Uint8Array, options: ReadOptions = {}): Diagnostic {
  try {
    readTokens(document, options);
  } catch (error) {
    if (error instanceof InputError) return error.diagnostic;
    throw error;
  }
  throw new Error('the document was accepted');
}

/** `code line:column` of what stops the reading. */
export function failureAt(document: string | Uint8Array, options: ReadOptions = {}): string {
  const { code, line, column } = readFailure(document, options);
  return `${code} ${line}:${column}`;
}
