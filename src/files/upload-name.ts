/** Names of uploaded files. */
import type { UploadKind } from '../access/upload-token.ts';

const maxBytes = 200;
const readable = /\.(?:xml|xsd|gz|zip|tar|tgz)$/i;

/**
 * Returns a name that is safe in a path: the last step of the client's text, without control characters and characters that have a
 * meaning in shells, URLs or file systems. A name without a suffix that the tools know gets that of its kind.
 */
export function cleanFileName(given: string, kind: UploadKind): string {
  const last = given.normalize('NFC').split(/[/\\]/).at(-1) ?? '';
  const safe = last
    .replace(/[^\p{L}\p{M}\p{N}._ @+=-]/gu, '_')
    .replace(/^[\s.~-]+/, '')
    .replace(/[\s.]+$/, '');
  const named = safe === '' ? 'upload' : safe;
  return shorten(readable.test(named) ? named : `${named}.${kind}`);
}

/** Returns the name of a body that came without one, from its first bytes. */
export function defaultFileName(kind: UploadKind, start: Uint8Array): string {
  if (start[0] === 0x1f && start[1] === 0x8b) return `upload.${kind}.gz`;
  if (start[0] === 0x50 && start[1] === 0x4b) return 'upload.zip';
  const magic = new TextDecoder('latin1').decode(start.subarray(257, 262));
  return magic === 'ustar' ? 'upload.tar' : `upload.${kind}`;
}

/** Cut in front of the ending, never inside a character. */
function shorten(name: string): string {
  const encoder = new TextEncoder();
  if (encoder.encode(name).byteLength <= maxBytes) return name;
  const ending = /(?:\.(?:xml|xsd|tar))?\.[a-z]+$/i.exec(name)?.[0] ?? '';
  const characters = Array.from(name.slice(0, name.length - ending.length));
  while (encoder.encode(characters.join('') + ending).byteLength > maxBytes) characters.pop();
  return characters.join('') + ending;
}
