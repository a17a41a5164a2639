/** Documents as bytes: encodings, and damage. */

export type Encoding = 'UTF-8' | 'UTF-8 with mark' | 'UTF-16LE' | 'UTF-16BE';

/** With a byte order mark where the encoding has one; the declaration, where there is one, says the same. */
export function encoded(document: string, encoding: Encoding): Uint8Array {
  if (encoding === 'UTF-8') return new TextEncoder().encode(document);
  if (encoding === 'UTF-8 with mark') return new TextEncoder().encode(`\uFEFF${document}`);
  const text = `\uFEFF${document.replace('encoding="UTF-8"', 'encoding="UTF-16"')}`;
  const bytes = new Uint8Array(text.length * 2);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < text.length; at += 1)
    view.setUint16(at * 2, text.charCodeAt(at), encoding === 'UTF-16LE');
  return bytes;
}

/** Bytes changed, left out or doubled; `[place, byte]`, both of any size. */
export function damaged(
  bytes: Uint8Array,
  damages: readonly (readonly [place: number, byte: number])[],
): Uint8Array {
  let result = [...bytes];
  for (const [place, byte] of damages) {
    const at = place % Math.max(1, result.length);
    const way = place % 4;
    if (way === 0) result = result.toSpliced(at, 1);
    else if (way === 1) result = result.toSpliced(at, 0, byte);
    else if (way === 2) result = result.toSpliced(at, 1, byte);
    else result = [...result.slice(0, at), ...result.slice(at, at + (byte % 20)), ...result.slice(at)];
  }
  return Uint8Array.from(result);
}
