/** Compression of answers by zlib of Node. */
import { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { Compressor } from '../../ports/network.ts';

/** Brotli of this quality is as fast as gzip, and smaller. */
const quickQuality = 4;
/** The highest quality is 25 times slower than this one, for 8 per cent less. */
const thoroughQuality = 9;

const brotliWhole = promisify(brotliCompress);
const gzipWhole = promisify(gzip);

export function createCompressor(): Compressor {
  return {
    codings: ['br', 'gzip'],
    stream(coding) {
      const transform =
        coding === 'br'
          ? createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: quickQuality } })
          : createGzip();
      return Duplex.toWeb(transform) as ReadableWritablePair<
        Uint8Array<ArrayBuffer>,
        Uint8Array<ArrayBuffer>
      >;
    },
    whole: async (coding, bytes) =>
      Uint8Array.from(
        coding === 'br'
          ? await brotliWhole(bytes, {
              params: {
                [constants.BROTLI_PARAM_QUALITY]: thoroughQuality,
                [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
              },
            })
          : await gzipWhole(bytes, { level: constants.Z_BEST_COMPRESSION }),
      ),
  };
}
