/** Notation declarations. */
import type { NotationDeclaration } from './terms.ts';
import type { GlobalDeclaration } from './symbol-spaces.ts';

/** Makes a notation declaration (XSD Part 1 §3.12); only its name matters here. */
export function createNotation({ name, node, document }: GlobalDeclaration): NotationDeclaration {
  return { name, origin: { node, document } };
}
