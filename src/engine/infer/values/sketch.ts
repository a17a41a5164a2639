/** The least hashes of distinct values (k minimum values), in the making: an estimate of how many values there are. */
import { sketchSize } from '../statistics.ts';

export class ValueSketch {
  /** ascending */
  readonly #hashes = new Uint32Array(sketchSize);
  #size = 0;
  /** recent hashes, by their last bits: these need no search */
  readonly #recent = Uint32Array.from({ length: 64 }, (_, slot) => slot + 1);

  /** The FNV-1a hash of a value. */
  add(fnv: number): void {
    // FNV's low bits are its best; a final mix spreads them over the whole range
    let mixed = fnv ^ (fnv >>> 15);
    mixed = Math.imul(mixed, 0x2c1b3c6d);
    mixed ^= mixed >>> 12;
    const hash = mixed >>> 0;
    if (this.#recent[hash & 63] === hash) return;
    this.#recent[hash & 63] = hash;
    const hashes = this.#hashes;
    const size = this.#size;
    if (size === sketchSize && hash >= hashes[size - 1]!) return;
    let low = 0;
    let high = size;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (hashes[middle]! < hash) low = middle + 1;
      else high = middle;
    }
    if (low < size && hashes[low] === hash) return;
    hashes.copyWithin(low + 1, low, Math.min(size, sketchSize - 1));
    hashes[low] = hash;
    if (size < sketchSize) this.#size = size + 1;
  }

  /** Continues from the result of `hashes`. */
  restore(hashes: readonly number[]): void {
    this.#hashes.set(hashes);
    this.#size = hashes.length;
  }

  get hashes(): number[] {
    return Array.from(this.#hashes.subarray(0, this.#size));
  }
}
