/** Conditional inclusion by the versioning namespace (XSD 1.1). */
import type { XmlElement } from '../../xml/tree.ts';
import { collapse } from './grammar.ts';

export const versioningNamespace = 'http://www.w3.org/2007/XMLSchema-versioning';
/** the version that this compiler supports: XSD 1.0, and from 1.1 the parts that the model can represent */
const version = 1.1;

/** A document as it is read, and the elements of it that are not. */
export interface IncludedContent {
  readonly root: XmlElement;
  readonly excluded: readonly XmlElement[];
}

/**
 * Removes elements that are meant for other processors (XSD 1.1 Part 1 §4.2.2), so that alternative definitions of one component do not
 * clash. Documents that do not use the versioning namespace are returned unchanged.
 */
export function includeConditionally(
  root: XmlElement,
  isTypeKnown: (localName: string) => boolean,
): IncludedContent {
  const excluded: XmlElement[] = [];
  const uses = [...root.namespaces.values()].includes(versioningNamespace);
  return { root: uses ? prune(root, isTypeKnown, excluded) : root, excluded };
}

function prune(
  node: XmlElement,
  isTypeKnown: (localName: string) => boolean,
  excluded: XmlElement[],
): XmlElement {
  const children: (XmlElement | string)[] = [];
  for (const child of node.children) {
    if (typeof child === 'string') children.push(child);
    else if (isIncluded(child, isTypeKnown)) children.push(prune(child, isTypeKnown, excluded));
    else excluded.push(child);
  }
  return { ...node, children };
}

function isIncluded(node: XmlElement, isTypeKnown: (localName: string) => boolean): boolean {
  const known = (qualifiedName: string) => isTypeKnown(qualifiedName.slice(qualifiedName.indexOf(':') + 1));
  for (const { name, value } of node.attributes) {
    if (name.namespaceUri !== versioningNamespace) continue;
    const words = collapse(value).split(' ');
    const isMet =
      name.localName === 'minVersion'
        ? Number(words[0]) <= version
        : name.localName === 'maxVersion'
          ? version < Number(words[0])
          : name.localName === 'typeAvailable'
            ? words.every(known)
            : name.localName === 'typeUnavailable'
              ? !words.every(known)
              : name.localName !== 'facetUnavailable';
    if (!isMet) return false;
  }
  return true;
}
