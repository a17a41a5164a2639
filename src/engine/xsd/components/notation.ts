/** Notation declarations. */
import type { GlobalDeclaration, NotationDeclaration } from './terms.ts';

/** Makes a notation declaration (XSD Part 1 §3.12); only its name matters here. */
export function createNotation({ name, node, document }: GlobalDeclaration): NotationDeclaration {
  return { name, origin: { node, document } };
}
