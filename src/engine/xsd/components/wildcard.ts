/** Wildcards, and the operations on their namespace constraints. */
import { allowsNamespace, isListed } from '../../model/wildcard-namespaces.ts';
import type { NamespaceConstraint, Origin, Wildcard } from './terms.ts';
import { attributeOf } from '../read/file.ts';
import { collapse } from '../read/grammar.ts';

/** Reads `any` or `anyAttribute` (XSD Part 1 §3.10.2); XSD 1.1's notNamespace and notQName only narrow it and are passed over. */
export function readWildcard(origin: Origin): Wildcard {
  const { node, document } = origin;
  const text = collapse(attributeOf(node, 'namespace') ?? '##any');
  const processed = collapse(attributeOf(node, 'processContents') ?? 'strict');
  const processContents = processed === 'lax' || processed === 'skip' ? processed : 'strict';
  let namespaces: NamespaceConstraint;
  if (text === '##any') namespaces = '##any';
  else if (text === '##other') namespaces = { not: document.targetNamespace };
  else {
    const listed = new Set<string>();
    for (const word of text === '' ? [] : text.split(' ')) {
      if (word === '##targetNamespace') listed.add(document.targetNamespace);
      else listed.add(word === '##local' ? '' : word);
    }
    namespaces = [...listed];
  }
  return { kind: 'wildcard', namespaces, processContents, origin };
}

/** Returns the union (cos-aw-union). A union that XSD 1.0 calls not expressible becomes the next wider constraint. */
export function uniteNamespaces(a: NamespaceConstraint, b: NamespaceConstraint): NamespaceConstraint {
  if (a === '##any' || b === '##any') return '##any';
  if (isListed(a) && isListed(b)) return [...new Set([...a, ...b])];
  if (isListed(a)) return uniteNamespaces(b, a);
  if (!isListed(b)) return a.not === b.not ? a : { not: '' };
  const listed = new Set(b);
  if (a.not === '') return listed.has('') ? '##any' : a;
  if (listed.has(a.not)) return listed.has('') ? '##any' : { not: '' };
  return listed.has('') ? '##any' : a;
}

/** Intersection (cos-aw-intersect). Two different negations, not expressible in XSD 1.0, give the first. */
export function intersectNamespaces(a: NamespaceConstraint, b: NamespaceConstraint): NamespaceConstraint {
  if (a === '##any') return b;
  if (b === '##any') return a;
  if (isListed(a)) return a.filter((uri) => allowsNamespace(b, uri));
  if (isListed(b)) return b.filter((uri) => allowsNamespace(a, uri));
  return a.not === '' ? b : a;
}

/** True when all that `a` allows, `b` allows (cos-ns-subset). */
export function isNamespaceSubset(a: NamespaceConstraint, b: NamespaceConstraint): boolean {
  if (b === '##any') return true;
  if (a === '##any') return false;
  if (isListed(a)) return a.every((uri) => allowsNamespace(b, uri));
  return !isListed(b) && (a.not === b.not || b.not === '');
}

/** True when some name is allowed by both. */
export function overlaps(a: NamespaceConstraint, b: NamespaceConstraint): boolean {
  const both = intersectNamespaces(a, b);
  return !isListed(both) || both.length > 0;
}
