/** Bytes of a document in any encoding, as UTF-8. */
import { DECLARATION_BYTES, detectEncoding, supportedEncodings } from './detection.ts';
import type { DetectedEncoding } from './detection.ts';
import { createTranscoder, type Utf8Sink } from './transcoders.ts';
import type { Transcoder } from './transcoders.ts';

export interface EncodingReader {
  /** what follows is UTF-8: it may be handed to the sink without being written here */
  readonly passesOn: boolean;
  write(chunk: Uint8Array): void;
  end(): void;
}

/**
 * Finds out the encoding of a document and passes it on as UTF-8. What is UTF-8 already is passed on as it is.
 * `override` is an encoding known from outside the document.
 */
export function createEncodingReader(override: string | undefined, sink: Utf8Sink): EncodingReader {
  let head = new Uint8Array(0);
  let transcoder: Transcoder | null = null;
  let isUtf8 = false;

  function pass(bytes: Uint8Array, from: number): void {
    if (isUtf8) sink.take(bytes, from, bytes.length);
    else transcoder!.write(from === 0 ? bytes : bytes.subarray(from));
  }

  function begin(detected: DetectedEncoding): void {
    if (detected.problem !== undefined) {
      const lead = new TextEncoder().encode(detected.lead);
      sink.take(lead, 0, lead.length);
      sink.fail(detected.problem.code, detected.problem.message);
    }
    isUtf8 = detected.encoding === 'utf-8';
    if (isUtf8) sink.skip(detected.markBytes);
    else transcoder = createTranscoder(detected.encoding, sink);
    if (!isUtf8 && transcoder === null)
      sink.fail(
        'xml_unsupported_encoding',
        `the encoding "${detected.encoding}" is not supported; ${supportedEncodings}`,
      );
    pass(head, detected.markBytes);
    head = new Uint8Array(0);
  }

  return {
    get passesOn() {
      return isUtf8;
    },
    write(chunk) {
      if (isUtf8 || transcoder !== null) {
        pass(chunk, 0);
        return;
      }
      const joined = new Uint8Array(head.length + chunk.length);
      joined.set(head);
      joined.set(chunk, head.length);
      head = joined;
      const detected = detectEncoding(head, override, head.length >= DECLARATION_BYTES);
      if (detected !== null) begin(detected);
    },
    end() {
      if (!isUtf8 && transcoder === null) begin(detectEncoding(head, override, true)!);
      transcoder?.end();
    },
  };
}
