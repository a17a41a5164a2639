/** Transcoders: UTF-16 and single-byte encodings to UTF-8. */
import { writeCodePoint } from '../utf8.ts';

/** Turns bytes of one encoding into UTF-8, in any pieces. */
export interface Transcoder {
  write(bytes: Uint8Array): void;
  end(): void;
}

/** Input bytes turned at a time. */
const PIECE_BYTES = 16 * 1024;
const MULTI_BYTE = new Set([
  'utf-8',
  'gbk',
  'gb18030',
  'big5',
  'euc-jp',
  'iso-2022-jp',
  'shift_jis',
  'euc-kr',
]);

/** Returns a transcoder that passes UTF-8 to the sink. */
export function plainTranscoder(sink: Utf8Sink): Transcoder {
  return { write: (bytes) => sink.take(bytes, 0, bytes.length), end() {} };
}

/** Returns null if the encoding is unknown. */
export function createTranscoder(encoding: string, sink: Utf8Sink): Transcoder | null {
  if (encoding === 'utf-16le' || encoding === 'utf-16be')
    return createUtf16Transcoder(encoding === 'utf-16be', sink);
  if (encoding === 'us-ascii')
    return createByteTranscoder('us-ascii', (byte) => (byte < 0x80 ? byte : -1), sink);
  // TextDecoder treats ISO-8859-1 as windows-1252; this code decodes real ISO-8859-1.
  if (encoding === 'iso-8859-1') return createByteTranscoder('iso-8859-1', (byte) => byte, sink);
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(encoding);
  } catch {
    return null;
  }
  if (decoder.encoding.startsWith('utf-16'))
    return createUtf16Transcoder(decoder.encoding === 'utf-16be', sink);
  if (MULTI_BYTE.has(decoder.encoding)) return createDecoderTranscoder(decoder, sink);
  return createByteTranscoder(
    encoding,
    (byte) => {
      const codePoint = decoder.decode(Uint8Array.of(byte)).codePointAt(0)!;
      return codePoint === 0xfffd ? -1 : codePoint;
    },
    sink,
  );
}

function failBytes(sink: Utf8Sink, encoding: string, shown: string): never {
  return sink.fail(
    'xml_invalid_encoding',
    `${shown} not valid in ${encoding}: is the declared encoding right?`,
  );
}

/** One byte to a character. */
function createByteTranscoder(
  encoding: string,
  codePointOf: (byte: number) => number,
  sink: Utf8Sink,
): Transcoder {
  const codePoints = Int32Array.from({ length: 256 }, (_, byte) => codePointOf(byte));
  const out = new Uint8Array(PIECE_BYTES * 3);
  return {
    write(bytes) {
      for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
        const to = Math.min(from + PIECE_BYTES, bytes.length);
        let length = 0;
        for (let i = from; i < to; i++) {
          const codePoint = codePoints[bytes[i]!]!;
          if (codePoint < 0) {
            sink.take(out, 0, length);
            failBytes(sink, encoding, `the byte 0x${bytes[i]!.toString(16)} is`);
          }
          if (codePoint < 0x80) out[length++] = codePoint;
          else length = writeCodePoint(codePoint, out, length);
        }
        sink.take(out, 0, length);
      }
    },
    end() {},
  };
}

function createUtf16Transcoder(isBigEndian: boolean, sink: Utf8Sink): Transcoder {
  const encoding = isBigEndian ? 'UTF-16BE' : 'UTF-16LE';
  const out = new Uint8Array(PIECE_BYTES * 2);
  let firstByte = -1;
  let highSurrogate = 0;
  let length = 0;

  function fail(shown: string): never {
    sink.take(out, 0, length);
    return failBytes(sink, encoding, shown);
  }

  function take(unit: number): void {
    const isLow = unit >= 0xdc00 && unit <= 0xdfff;
    if (isLow !== (highSurrogate !== 0)) fail('an unpaired surrogate is');
    if (isLow) {
      length = writeCodePoint(0x10000 + ((highSurrogate & 0x3ff) << 10) + (unit & 0x3ff), out, length);
      highSurrogate = 0;
    } else if (unit >= 0xd800 && unit <= 0xdbff) {
      highSurrogate = unit;
    } else {
      length = writeCodePoint(unit, out, length);
    }
  }

  return {
    write(bytes) {
      for (let i = 0; i < bytes.length; i++) {
        const byte = bytes[i]!;
        if (firstByte < 0) {
          firstByte = byte;
          continue;
        }
        take(isBigEndian ? (firstByte << 8) | byte : (byte << 8) | firstByte);
        firstByte = -1;
        if (length > out.length - 4) {
          sink.take(out, 0, length);
          length = 0;
        }
      }
      sink.take(out, 0, length);
      length = 0;
    },
    end() {
      if (firstByte >= 0 || highSurrogate !== 0) fail('half a character at the end is');
    },
  };
}

/** Several bytes to a character, by way of `TextDecoder`. */
function createDecoderTranscoder(decoder: TextDecoder, sink: Utf8Sink): Transcoder {
  const encoder = new TextEncoder();

  function pass(text: string): void {
    const replacement = text.indexOf('\uFFFD');
    const good = encoder.encode(replacement < 0 ? text : text.slice(0, replacement));
    sink.take(good, 0, good.length);
    if (replacement >= 0) failBytes(sink, decoder.encoding, 'the bytes here are');
  }

  return {
    write(bytes) {
      for (let from = 0; from < bytes.length; from += PIECE_BYTES)
        pass(decoder.decode(bytes.subarray(from, from + PIECE_BYTES), { stream: true }));
    },
    end: () => pass(decoder.decode()),
  };
}

/** The receiver of the UTF-8 text that the encoding reader produces. */
export interface Utf8Sink {
  /** bytes `[from, to)`, valid during the call */
  take(bytes: Uint8Array, from: number, to: number): void;
  /** bytes of a byte order mark, which are not part of the text */
  skip(bytes: number): void;
  /** stops reading after the bytes that have been passed */
  fail(code: string, message: string): never;
}
