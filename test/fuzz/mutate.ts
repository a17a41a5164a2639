/** Inputs made from others: cut, doubled, joined, with bytes and words that parsers trip over. */
import type { Random } from './random.ts';

const bytesOfInterest = [
  0x00, 0x09, 0x0a, 0x0d, 0x20, 0x21, 0x22, 0x26, 0x27, 0x2d, 0x2f, 0x3a, 0x3b, 0x3c, 0x3d, 0x3e, 0x3f, 0x5b,
  0x5d, 0x7f, 0x80, 0xbf, 0xc0, 0xc3, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xfe, 0xff,
];

const longest = 64 * 1024;

/** `words`: what the grammar of the target is made of. */
export function mutate(
  random: Random,
  seeds: readonly Uint8Array[],
  words: readonly Uint8Array[],
): Uint8Array {
  let bytes = random.pick(seeds);
  const steps = 1 + random.below(random.chance(0.2) ? 24 : 5);
  for (let step = 0; step < steps; step += 1) bytes = once(random, bytes, seeds, words);
  return bytes.length > longest ? bytes.slice(0, longest) : bytes;
}

function once(
  random: Random,
  bytes: Uint8Array,
  seeds: readonly Uint8Array[],
  words: readonly Uint8Array[],
): Uint8Array {
  const at = random.below(bytes.length + 1);
  const length = random.chance(0.7) ? random.below(12) : random.below(400);
  const end = Math.min(bytes.length, at + length);
  switch (random.below(8)) {
    case 0:
      return replaced(bytes, at, Math.min(bytes.length, at + 1), Uint8Array.of(random.below(256)));
    case 1:
      return replaced(bytes, at, Math.min(bytes.length, at + 1), Uint8Array.of(random.pick(bytesOfInterest)));
    case 2:
      return replaced(bytes, at, end, new Uint8Array(0));
    case 3:
      return replaced(
        bytes,
        at,
        at,
        repeated(bytes.subarray(at, end), 1 + random.below(random.chance(0.1) ? 200 : 4)),
      );
    case 4:
    case 5:
      return replaced(bytes, at, random.chance(0.5) ? at : end, random.pick(words));
    case 6: {
      const other = random.pick(seeds);
      const from = random.below(other.length);
      return replaced(bytes, at, end, other.subarray(from, from + 1 + random.below(300)));
    }
    default:
      return random.chance(0.5) ? bytes.slice(0, at) : bytes.slice(at);
  }
}

function replaced(bytes: Uint8Array, from: number, to: number, by: Uint8Array): Uint8Array {
  const result = new Uint8Array(from + by.length + bytes.length - to);
  result.set(bytes.subarray(0, from));
  result.set(by, from);
  result.set(bytes.subarray(to), from + by.length);
  return result;
}

function repeated(piece: Uint8Array, times: number): Uint8Array {
  const result = new Uint8Array(Math.min(piece.length * times, longest));
  for (let at = 0; at < result.length; at += 1) result[at] = piece[at % piece.length]!;
  return result;
}
