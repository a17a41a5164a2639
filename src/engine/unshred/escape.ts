/** Escapes character data for a document (XML 1.0 §2.4). Characters that a parser would change are written as references. */

type Escapes = ReadonlyMap<string, string>;

const textEscapes: Escapes = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['\r', '&#13;'],
]);

const attributeEscapes: Escapes = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['"', '&quot;'],
  ['\t', '&#9;'],
  ['\n', '&#10;'],
  ['\r', '&#13;'],
]);

export function escapeText(text: string): string {
  return text.replaceAll(/[&<>\r]/g, (character) => textEscapes.get(character)!);
}

export function escapeAttribute(value: string): string {
  return value.replaceAll(/[&<"\t\n\r]/g, (character) => attributeEscapes.get(character)!);
}

/** References by byte of UTF-8. */
export interface ByteEscapes {
  /** 1: the byte is written as a reference */
  readonly special: Uint8Array;
  readonly references: readonly Uint8Array[];
}

export const inText = byteEscapes(textEscapes);
export const inAttribute = byteEscapes(attributeEscapes);

/** bytes of the longest reference */
export const longestReference = 6;

function byteEscapes(escapes: Escapes): ByteEscapes {
  const utf8 = new TextEncoder();
  const special = new Uint8Array(256);
  const references = Array.from(special, () => new Uint8Array(0));
  for (const [character, reference] of escapes) {
    special[character.charCodeAt(0)] = 1;
    references[character.charCodeAt(0)] = utf8.encode(reference);
  }
  return { special, references };
}
