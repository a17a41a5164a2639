/** Converts the bytes of a document in any encoding to UTF-8. */
import { DECLARATION_BYTES, detectEncoding, supportedEncodings } from './detection.ts';
import type { DetectedEncoding } from './detection.ts';
import { LineEnds11 } from './line-ends-1-1.ts';
import { createTranscoder, plainTranscoder, type Utf8Sink } from './transcoders.ts';
import type { Transcoder } from './transcoders.ts';

export interface EncodingReader {
  /** true if the rest is UTF-8, so that the caller may pass it to the sink directly instead of writing it here */
  readonly passesOn: boolean;
  write(chunk: Uint8Array): void;
  end(): void;
}

const noBytes = new Uint8Array(0);

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/**
 * Detects the encoding of a document and passes it on as UTF-8. UTF-8 is passed on unchanged. `override`: an encoding known from outside
 * the document.
 */
export function createEncodingReader(override: string | undefined, sink: Utf8Sink): EncodingReader {
  return new DetectingReader(override, sink);
}

/** A class because one is created for every document, even a small one: its own closures and getters would cost more than their work. */
class DetectingReader implements EncodingReader {
  passesOn = false;
  readonly #override: string | undefined;
  readonly #sink: Utf8Sink;
  #head: Uint8Array = noBytes;
  #transcoder: Transcoder | null = null;
  #lineEnds: LineEnds11 | null = null;

  constructor(override: string | undefined, sink: Utf8Sink) {
    this.#override = override;
    this.#sink = sink;
  }

  write(chunk: Uint8Array): void {
    if (this.passesOn || this.#transcoder !== null) {
      this.#pass(chunk, 0);
      return;
    }
    const first = this.#head.length === 0 ? chunk : joined(this.#head, chunk);
    const detected = detectEncoding(first, this.#override, first.length >= DECLARATION_BYTES);
    if (detected !== null) this.#begin(detected, first);
    // the chunk is its owner's again
    else this.#head = first === chunk ? joined(noBytes, chunk) : first;
  }

  end(): void {
    if (!this.passesOn && this.#transcoder === null)
      this.#begin(detectEncoding(this.#head, this.#override, true)!, this.#head);
    this.#transcoder?.end();
    this.#lineEnds?.end();
  }

  /** `first`: the bytes of the document so far. */
  #begin(detected: DetectedEncoding, first: Uint8Array): void {
    const sink = this.#sink;
    if (detected.problem !== undefined) {
      const lead = new TextEncoder().encode(detected.lead);
      sink.take(lead, 0, lead.length);
      sink.fail(detected.problem.code, detected.problem.message);
    }
    const isUtf8 = detected.encoding === 'utf-8';
    if (isUtf8) sink.skip(detected.markBytes);
    this.passesOn = isUtf8 && detected.isVersion11 !== true;
    if (detected.isVersion11 === true) this.#lineEnds = new LineEnds11(sink);
    const next = this.#lineEnds ?? sink;
    if (!this.passesOn)
      this.#transcoder = isUtf8 ? plainTranscoder(next) : createTranscoder(detected.encoding, next);
    if (!this.passesOn && this.#transcoder === null)
      sink.fail(
        'xml_unsupported_encoding',
        `the encoding "${detected.encoding}" is not supported; ${supportedEncodings}`,
      );
    this.#pass(first, detected.markBytes);
    this.#head = noBytes;
  }

  #pass(bytes: Uint8Array, from: number): void {
    if (this.passesOn) this.#sink.take(bytes, from, bytes.length);
    else this.#transcoder!.write(from === 0 ? bytes : bytes.subarray(from));
  }
}
