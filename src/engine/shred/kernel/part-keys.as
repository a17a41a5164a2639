// Part of src/engine/shred/kernel/shred.as: bases of keys that follow from a document's SHA-256, as src/engine/shred/open-rows.ts has them, for parts
// of a file: their SHA-256 is that of the file's in 64 hex digits, a hash sign, and their number (FIPS 180-4).

const ROUNDS: usize = memory.data<u32>([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);
const INITIAL: usize = memory.data<u32>([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]);
/** The words of a message block, and the words derived from them. */
const SCHEDULE: usize = memory.data(64 * 4);
/** After the block that is the same for all parts of a file. */
const FILE_STATE: usize = memory.data(8 * 4);
const PART_STATE: usize = memory.data(8 * 4);
/** The block of a part: a hash sign, a number, and the padding of SHA-256. */
const PART_BLOCK: usize = memory.data(64 + 16);

/** `state` after the block at `block`, into `result`. */
function compress(block: usize, state: usize, result: usize): void {
  for (let i: usize = 0; i < 64; i += 4) store<u32>(SCHEDULE + i, bswap<u32>(load<u32>(block + i)));
  for (let i: usize = 64; i < 256; i += 4) {
    const early: u32 = load<u32>(SCHEDULE + i - 60);
    const late: u32 = load<u32>(SCHEDULE + i - 8);
    const s0 = rotr<u32>(early, 7) ^ rotr<u32>(early, 18) ^ (early >>> 3);
    const s1 = rotr<u32>(late, 17) ^ rotr<u32>(late, 19) ^ (late >>> 10);
    store<u32>(SCHEDULE + i, load<u32>(SCHEDULE + i - 64) + s0 + load<u32>(SCHEDULE + i - 28) + s1);
  }
  let a: u32 = load<u32>(state);
  let b: u32 = load<u32>(state, 4);
  let c: u32 = load<u32>(state, 8);
  let d: u32 = load<u32>(state, 12);
  let e: u32 = load<u32>(state, 16);
  let f: u32 = load<u32>(state, 20);
  let g: u32 = load<u32>(state, 24);
  let h: u32 = load<u32>(state, 28);
  for (let i: usize = 0; i < 256; i += 4) {
    const s1 = rotr<u32>(e, 6) ^ rotr<u32>(e, 11) ^ rotr<u32>(e, 25);
    const first: u32 = h + s1 + (g ^ (e & (f ^ g))) + load<u32>(ROUNDS + i) + load<u32>(SCHEDULE + i);
    const s0 = rotr<u32>(a, 2) ^ rotr<u32>(a, 13) ^ rotr<u32>(a, 22);
    const second: u32 = s0 + ((a & b) | (c & (a | b)));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  store<u32>(result, load<u32>(state) + a);
  store<u32>(result, load<u32>(state, 4) + b, 4);
  store<u32>(result, load<u32>(state, 8) + c, 8);
  store<u32>(result, load<u32>(state, 12) + d, 12);
  store<u32>(result, load<u32>(state, 16) + e, 16);
  store<u32>(result, load<u32>(state, 20) + f, 20);
  store<u32>(result, load<u32>(state, 24) + g, 24);
  store<u32>(result, load<u32>(state, 28) + h, 28);
}

/** The file that the next parts are of, by the hex digits of its SHA-256 at `digits`. */
export function setFile(digits: usize): void {
  compress(digits, INITIAL, FILE_STATE);
}

function keyBaseOfPart(number: i32): u64 {
  memory.fill(PART_BLOCK, 0, 64);
  store<u8>(PART_BLOCK, HASH_SIGN);
  const end = writeLong(number, PART_BLOCK + 1);
  store<u8>(end, 0x80);
  // bits of the whole message
  store<u32>(PART_BLOCK, bswap<u32>(<u32>((64 + (end - PART_BLOCK)) << 3)), 60);
  compress(PART_BLOCK, FILE_STATE, PART_STATE);
  const second: u32 = load<u32>(PART_STATE, 4);
  const upper = <f64>(((<u64>load<u32>(PART_STATE)) << 16) | (second >>> 16));
  const lower = <f64>((second << 16) | (load<u32>(PART_STATE, 8) >>> 16));
  const high = <u64>Math.floor((upper / 281474976710656.0) * 9223371000.0);
  const low = <u64>Math.floor((lower / 4294967296.0) * 1000000000.0);
  return high * 1000000000 + low;
}
