/** Attribute uses of derived types. */
import type { AttributeUse, ComplexType, Origin, Wildcard } from '../components/terms.ts';
import type { XsdReading } from '../components/context.ts';
import { isDerivedSimpleType } from '../components/simple-type.ts';
import { allowsNamespace } from '../../model/wildcard-namespaces.ts';
import { isNamespaceSubset } from '../components/wildcard.ts';

/** Returns the attributes of the base, then the written ones (ct-props-correct, clause 4). */
export function extendAttributes(
  inherited: readonly AttributeUse[],
  own: readonly AttributeUse[],
  origin: Origin,
  path: string | undefined,
  reading: XsdReading,
): readonly AttributeUse[] {
  const added = own.filter(({ use }) => use !== 'prohibited');
  if (added.length === 0 || inherited.length === 0) return added.length === 0 ? inherited : added;
  const names = new Set(inherited.map(({ declaration }) => declaration.key));
  const attributes = [...inherited];
  for (const use of added) {
    const { key } = use.declaration;
    if (!names.has(key)) attributes.push(use);
    else if (!inherited.includes(use)) {
      reading.report.error(
        'xsd_duplicate_attribute',
        `The base has an attribute ${key} too`,
        use.origin,
        path,
      );
    }
  }
  return attributes;
}

/**
 * Returns the attributes of the base, replaced by the written ones or removed by prohibited ones (derivation-ok-restriction, clauses 2
 * and 3).
 */
export function restrictAttributes(
  base: ComplexType | null,
  own: readonly AttributeUse[],
  origin: Origin,
  path: string | undefined,
  reading: XsdReading,
): readonly AttributeUse[] {
  const inherited = base?.attributes ?? [];
  if (own.length === 0) return inherited;
  const written = new Map(own.map((use) => [use.declaration.key, use]));
  const attributes: AttributeUse[] = [];
  const wrong = (use: AttributeUse, message: string) =>
    reading.report.error(
      'xsd_bad_restriction',
      `The attribute ${use.declaration.key} ${message}`,
      use.origin,
      path,
    );
  for (const before of inherited) {
    const { key } = before.declaration;
    const use = written.get(key);
    written.delete(key);
    if (use === undefined) {
      attributes.push(before);
      continue;
    }
    if (before.use === 'required' && use.use !== 'required') wrong(use, 'is required in the base');
    if (use.use === 'prohibited') continue;
    attributes.push(use);
    if (!isDerivedSimpleType(use.declaration.type, before.declaration.type, reading)) {
      wrong(use, 'has a type that is not derived from its type in the base');
    }
    const fixed = before.fixed ?? before.declaration.fixed;
    if (fixed !== undefined && (use.fixed ?? use.declaration.fixed) !== fixed)
      wrong(use, `is fixed at "${fixed}" in the base`);
  }
  const wildcard = base?.anyAttribute ?? null;
  for (const use of written.values()) {
    if (use.use === 'prohibited') continue;
    attributes.push(use);
    if (base === null || base === reading.builtIns.anyType) continue;
    const allowed =
      wildcard !== null && allowsNamespace(wildcard.namespaces, use.declaration.name.namespaceUri);
    if (!allowed) wrong(use, 'is not in the base');
  }
  return attributes;
}

const strictness = ['skip', 'lax', 'strict'];

/** derivation-ok-restriction, clause 4. */
export function checkAttributeWildcard(
  wildcard: Wildcard | null,
  base: ComplexType | null,
  type: ComplexType,
  origin: Origin,
  path: string | undefined,
  reading: XsdReading,
): void {
  if (wildcard === null || base === null || base === reading.builtIns.anyType || type.written.baseMissing)
    return;
  const inherited = base.anyAttribute;
  let message = '';
  if (inherited === null) message = 'The base has no anyAttribute';
  else if (!isNamespaceSubset(wildcard.namespaces, inherited.namespaces)) {
    message = 'anyAttribute allows more namespaces than that of the base';
  } else if (strictness.indexOf(wildcard.processContents) < strictness.indexOf(inherited.processContents)) {
    message = 'anyAttribute is laxer than that of the base';
  }
  if (message !== '') reading.report.error('xsd_bad_restriction', message, wildcard.origin ?? origin, path);
}
