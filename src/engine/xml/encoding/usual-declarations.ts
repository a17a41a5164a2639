/** XML declarations in the form that most programs write: they declare UTF-8 and have no other information. */

const spellings = ['UTF-8', 'utf-8'].map((encoding) => `<?xml version="1.0" encoding="${encoding}"?>`);
const usual = spellings.map((text) => Uint8Array.from(text, (character) => character.charCodeAt(0)));

/** Returns the length of the declaration at the start of the document if it is one of these, or 0 if it is another or incomplete. */
export function usualDeclarationBytes(bytes: Uint8Array): number {
  for (const declaration of usual) {
    let at = 0;
    while (at < declaration.length && bytes[at] === declaration[at]) at += 1;
    if (at === declaration.length) return at;
  }
  return 0;
}
