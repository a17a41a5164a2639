/**
 * The form of row keys in the output. Inside the engine a row key is the row's number in its table: counted over the job (`sequence`), or
 * over its document (`hash`). The output has that number, or the number added to a base that follows from the document's content.
 *
 * With `hash` the keys of a document are the same wherever and whenever it is loaded, without communication between installations. They
 * still ascend in document order, which hashes of rows' paths would not do, and this order allows writing documents back in one pass.
 * Bases are 63-bit values spread evenly, so in a table with d documents of n rows each, two collide with a probability of about d² n /
 * 2^63: for a million documents of a thousand rows, 1 in 10,000.
 */
import type { ByteBuffer } from './byte-buffer.ts';

const low = 1_000_000_000;
/** the high part's bound: with 2^40 rows of one document a key is still below 2^63 */
const high = 9_223_371_000;

export class RowKeys {
  /** base of the present document in units of 10^9, and the rest; -1: no base */
  #high = -1;
  #low = 0;

  /** The keys of the document with this SHA-256 (hex); null: plain numbers. */
  begin(sha256: string | null): void {
    if (sha256 === null) {
      this.#high = -1;
      return;
    }
    this.#high = Math.floor((Number.parseInt(sha256.slice(0, 12), 16) / 2 ** 48) * high);
    this.#low = Math.floor((Number.parseInt(sha256.slice(12, 20), 16) / 2 ** 32) * low);
  }

  /** The keys of the document with this base. */
  resume(base: bigint): void {
    this.#high = Number(base / BigInt(low));
    this.#low = Number(base % BigInt(low));
  }

  /** The offset that is added to a row's number. */
  get base(): bigint {
    return this.#high < 0 ? 0n : BigInt(this.#high) * BigInt(low) + BigInt(this.#low);
  }

  /** The key of row `number` as it is written: a number, or decimal digits. */
  key(number: number): number | string {
    if (this.#high < 0) return number;
    const rest = this.#low + number;
    const carry = Math.floor(rest / low);
    const whole = this.#high + carry;
    return whole === 0 ? String(rest) : `${whole}${String(rest - carry * low).padStart(9, '0')}`;
  }

  push(out: ByteBuffer, number: number): void {
    if (this.#high < 0) out.pushInteger(number);
    else out.pushAscii(this.key(number) as string);
  }
}
