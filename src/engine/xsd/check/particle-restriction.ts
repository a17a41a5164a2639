/** Checks that the content model of a restriction is a restriction of its base. */
import { clarkName } from '../../model/source-model.ts';
import type { ComplexType, ElementDeclaration } from '../components/terms.ts';
import type { ChildSummary, ContentSummarizer, ContentSummary } from '../derive/content-summary.ts';
import type { XsdReading } from '../components/context.ts';
import { derivationMethods, type SubstitutionGroups } from '../derive/substitution-group.ts';
import { allowsNamespace } from '../../model/wildcard-namespaces.ts';
import { isNamespaceSubset } from '../components/wildcard.ts';

/**
 * Checks that a restricted content model allows no more than that of its base (cos-particle-restrict). It compares the two for each
 * element name: whether and how often the element occurs, and its type. The order of elements is not compared, so some invalid
 * restrictions pass; a restriction that the base's own content would validate is never refused.
 */
export function checkParticleRestriction(
  type: ComplexType,
  summarizer: ContentSummarizer,
  substitutions: SubstitutionGroups,
  reading: XsdReading,
): void {
  const base = type.base;
  if (
    type.derivation !== 'restriction' ||
    type.written.style !== 'complexContent' ||
    type.written.baseMissing
  )
    return;
  if (base === null || base.kind !== 'complex' || base === reading.builtIns.anyType) return;
  if (type.particle === null || base.particle === null) return;
  const path = type.name === null ? undefined : clarkName(type.name);
  const restricted = summarizer.summarize(type.particle);
  const allowed = summarizer.summarize(base.particle);
  const wrong = (message: string) => reading.report.error('xsd_bad_restriction', message, type.origin!, path);
  for (const child of restricted.children.values()) {
    const message = whyNotAllowed(child, allowed, substitutions);
    if (message !== null) wrong(message);
  }
  for (const child of allowed.children.values()) {
    if (child.minOccurs === 0) continue;
    const { element } = child;
    const same = restricted.children.get(element.key);
    if (substitutions.substitutesOf(element).some(({ key }) => restricted.children.has(key))) continue;
    if (same === undefined) wrong(`The element ${element.name.localName} is required in the base`);
    else if (same.minOccurs < child.minOccurs) {
      wrong(`The element ${element.name.localName} occurs at least ${child.minOccurs} times in the base`);
    }
  }
  const { wildcard } = restricted;
  if (wildcard === null) return;
  const { namespaces } = wildcard.wildcard;
  if (allowed.wildcard === null) wrong('The base has no wildcard');
  else if (!isNamespaceSubset(namespaces, allowed.wildcard.wildcard.namespaces)) {
    wrong('The wildcard allows more namespaces than that of the base');
  } else if (wildcard.maxOccurs > allowed.wildcard.maxOccurs)
    wrong('The wildcard occurs more often than in the base');
}

function whyNotAllowed(
  { element, maxOccurs }: ChildSummary,
  allowed: ContentSummary,
  substitutions: SubstitutionGroups,
): string | null {
  const { localName, namespaceUri } = element.name;
  const byWildcard =
    allowed.wildcard !== null && allowsNamespace(allowed.wildcard.wildcard.namespaces, namespaceUri);
  const same = allowed.children.get(element.key);
  if (same === undefined) {
    if (byWildcard || headIn(element, allowed) !== null) return null;
    // a restriction may redeclare elements that substitute in the base
    const member = substitutions.memberOfName(element.key);
    return member === undefined || headIn(member, allowed) === null
      ? `The element ${localName} is not in the base`
      : whyNoRestriction(element, member);
  }
  if (byWildcard) return null;
  if (maxOccurs > same.maxOccurs && headIn(element, allowed) === null) {
    return `The element ${localName} occurs at most ${same.maxOccurs} times in the base`;
  }
  return whyNoRestriction(element, same.element);
}

/** Returns the reason why one of two declarations of one name does not restrict the other (NameAndTypeOK). */
function whyNoRestriction(element: ElementDeclaration, base: ElementDeclaration): string | null {
  const { localName } = element.name;
  if (element.nillable && !base.nillable) return `The element ${localName} is not nillable in the base`;
  const methods = derivationMethods(element.type, base.type);
  if (methods === null || methods.has('extension') || methods.has('list') || methods.has('union')) {
    return `The type of ${localName} is no restriction of its type in the base`;
  }
  return null;
}

/** The nearest element for which this one may substitute and which the content allows. */
function headIn(element: ElementDeclaration, allowed: ContentSummary): ElementDeclaration | null {
  const found = new Set(element.heads);
  for (const head of found) {
    if (allowed.children.has(head.key)) return head;
    for (const next of head.heads) found.add(next);
  }
  return null;
}
