/**
 * Hashes of bytes that cannot be predicted without the seed, so that no document can be made whose values collide: HalfSipHash
 * (https://github.com/veorq/SipHash) with one round per word and three at the end.
 */
export class SeededHash {
  readonly #low: number;
  readonly #high: number;

  constructor() {
    const [low, high] = crypto.getRandomValues(new Int32Array(2));
    this.#low = low!;
    this.#high = high!;
  }

  /** 32 bits. */
  of(bytes: Uint8Array, length: number): number {
    let a = this.#low;
    let b = this.#high;
    let c = this.#low ^ 0x6c796765;
    let d = this.#high ^ 0x74656462;
    const whole = length & ~3;
    // a round for each word and for the rest, and three at the end
    for (let at = 0; at <= whole + 12; at += 4) {
      const word = at < whole ? wordAt(bytes, at) : at === whole ? restAt(bytes, at, length) : 0;
      d ^= word;
      a = (a + b) | 0;
      b = ((b << 5) | (b >>> 27)) ^ a;
      a = (a << 16) | (a >>> 16);
      c = (c + d) | 0;
      d = ((d << 8) | (d >>> 24)) ^ c;
      a = (a + d) | 0;
      d = ((d << 7) | (d >>> 25)) ^ a;
      c = (c + b) | 0;
      b = ((b << 13) | (b >>> 19)) ^ c;
      c = (c << 16) | (c >>> 16);
      a ^= word;
      if (at === whole) c ^= 0xff;
    }
    return b ^ d;
  }
}

/** Returns the slot to search for a value of a rule first: mixed from the hash of the value's bytes and the rule. */
export function slotOf(hash: number, rule: number): number {
  const mixed = Math.imul(hash ^ Math.imul(rule, 0x9e3779b1), 0x85ebca6b);
  return mixed ^ (mixed >>> 15);
}

function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

/** Returns the bytes after the last whole word, and the length. */
function restAt(bytes: Uint8Array, at: number, length: number): number {
  let word = length << 24;
  for (let i = length - 1; i >= at; i -= 1) word |= bytes[i]! << (8 * (i - at));
  return word;
}
