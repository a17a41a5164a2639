/** Makes an input smaller while it still shows what it shows: halves are left out, then quarters, down to single pieces. */

/** Ends after `ms` with what it has. `shows`: whether an input still shows it. */
export async function shrunk(
  input: Uint8Array,
  cut: 'bytes' | 'lines',
  ms: number,
  shows: (input: Uint8Array) => Promise<boolean>,
): Promise<Uint8Array> {
  const end = performance.now() + ms;
  let pieces = piecesOf(input, cut);
  for (let size = pieces.length >> 1; size >= 1; size = Math.min(size, pieces.length) >> 1) {
    let from = 0;
    while (from < pieces.length) {
      if (performance.now() > end) return joined(pieces);
      const fewer = pieces.toSpliced(from, size);
      if (fewer.length > 0 && (await shows(joined(fewer)))) pieces = fewer;
      else from += size;
    }
  }
  return joined(pieces);
}

function piecesOf(input: Uint8Array, cut: 'bytes' | 'lines'): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (let at = 0; at < input.length; at += 1) {
    if (cut === 'lines' && input[at] !== 0x0a) continue;
    pieces.push(input.subarray(from, at + 1));
    from = at + 1;
  }
  if (from < input.length) pieces.push(input.subarray(from));
  return pieces;
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces));
}
