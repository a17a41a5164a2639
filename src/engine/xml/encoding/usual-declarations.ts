/** XML declarations as most programs write them: they say UTF-8, and nothing else is to be read of them. */

const spellings = ['UTF-8', 'utf-8'].map((encoding) => `<?xml version="1.0" encoding="${encoding}"?>`);
const usual = spellings.map((text) => Uint8Array.from(text, (character) => character.charCodeAt(0)));

/** Bytes of the declaration that the document begins with, where it is one of these; 0: it is not, or is not all there. */
export function usualDeclarationBytes(bytes: Uint8Array): number {
  for (const declaration of usual) {
    let at = 0;
    while (at < declaration.length && bytes[at] === declaration[at]) at += 1;
    if (at === declaration.length) return at;
  }
  return 0;
}
