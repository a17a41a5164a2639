/** Numbers that look random and come again for the same seed. */
export interface Random {
  /** 0 … below `n` */
  below(n: number): number;
  pick<T>(from: readonly T[]): T;
  chance(share: number): boolean;
}

/** mulberry32 */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (n: number): number => Math.floor(next() * n);
  return { below, pick: (from) => from[below(from.length)]!, chance: (share) => next() < share };
}
