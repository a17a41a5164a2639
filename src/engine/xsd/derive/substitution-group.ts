/** Substitution groups of a set, and the methods by which types derive from one another. */
import type { DerivationControl, ElementDeclaration, TypeDefinition } from '../components/terms.ts';
import { orderByDependency } from './dependency-order.ts';
import { reportTooDeep, type XsdReading } from '../components/context.ts';

/** Substitution groups (XSD Part 1 §3.3.6): the elements that may replace others. */
export interface SubstitutionGroups {
  /** Elements that documents may use in the head's place, transitively; abstract and blocked ones left out. */
  substitutesOf(head: ElementDeclaration): readonly ElementDeclaration[];
  /** Returns the direct members of any kind. */
  membersOf(head: ElementDeclaration): readonly ElementDeclaration[];
  /** Returns the global element of that name if it is a member of any group. */
  memberOfName(key: string): ElementDeclaration | undefined;
}

/**
 * Methods used on the way from a type to one of its bases; null when it is not derived from it. Derivation from the ur-type is by
 * restriction for simple types.
 */
export function derivationMethods(
  type: TypeDefinition,
  base: TypeDefinition,
): ReadonlySet<DerivationControl> | null {
  const methods = new Set<DerivationControl>();
  for (let step: TypeDefinition | null = type; step !== null;) {
    if (step === base) return methods;
    if (step.kind === 'complex') {
      methods.add(step.derivation);
      step = step.base;
    } else {
      if (step.variety !== 'atomic' && step.step === null)
        methods.add(step.variety === 'list' ? 'list' : 'union');
      else methods.add('restriction');
      if (step.base === null && base.kind === 'complex' && base.base === null) return methods;
      step = step.base;
    }
  }
  if (base.kind === 'simple' && base.variety === 'union' && type.kind === 'simple') {
    for (const member of base.memberTypes) {
      const found = derivationMethods(type, member);
      if (found !== null) return found;
    }
  }
  return null;
}

/** Gives members without a type of their own the type of their head (§3.3.2). Checks e-props-correct, clauses 4 and 6. */
export function deriveSubstitutionGroups(reading: XsdReading): SubstitutionGroups {
  const { report } = reading;
  const members = new Map<ElementDeclaration, ElementDeclaration[]>();
  const byName = new Map<string, ElementDeclaration>();
  const ordered = orderByDependency(reading.elements, ({ heads }) => heads, {
    onCycle(element, closing) {
      report.error(
        'xsd_circular_substitution',
        'The element substitutes for itself',
        element.origin,
        element.key,
      );
      element.heads = element.heads.filter((head) => head !== closing);
    },
    onTooDeep: (element) => reportTooDeep(element.origin, reading),
  });
  for (const element of ordered) {
    const [first] = element.heads;
    if (first === undefined) continue;
    byName.set(element.key, element);
    for (const head of element.heads) {
      const list = members.get(head);
      if (list === undefined) members.set(head, [element]);
      else list.push(element);
    }
    if (!element.typed) element.type = first.type;
  }
  const membersOf = (head: ElementDeclaration) => members.get(head) ?? [];
  return {
    membersOf,
    memberOfName: (key) => byName.get(key),
    substitutesOf(head) {
      if (!members.has(head) || head.block.has('substitution')) return [];
      const found: ElementDeclaration[] = [];
      const seen = new Set([head]);
      for (const next of seen) {
        for (const member of membersOf(next)) {
          if (seen.has(member)) continue;
          seen.add(member);
          if (!member.abstract && !isBlocked(head, member)) found.push(member);
        }
      }
      return found;
    },
  };
}

function isBlocked(head: ElementDeclaration, member: ElementDeclaration): boolean {
  const { type } = head;
  const typeBlock = type.kind === 'complex' ? type.block : null;
  if (head.block.size === 0 && (typeBlock === null || typeBlock.size === 0)) return false;
  for (const method of derivationMethods(member.type, type) ?? []) {
    if (head.block.has(method) || typeBlock?.has(method) === true) return true;
  }
  return false;
}

/** A member's type is derived from the head's, by no method that the head forbids. Types are derived already. */
export function checkSubstitutionGroups(reading: XsdReading): void {
  for (const { element, head } of reading.elements.flatMap(withHeads)) {
    const { origin, key, type } = element;
    const methods = derivationMethods(type, head.type);
    if (methods === null) {
      const message = `Its type is not derived from the type of ${head.name.localName}, for which it substitutes`;
      reading.report.error('xsd_not_derived', message, origin, key);
    } else if ([...methods].some((method) => head.final.has(method))) {
      const message = `${head.name.localName} is final: no element of such a type may substitute for it`;
      reading.report.error('xsd_final_element', message, origin, key);
    }
  }
}

function withHeads(element: ElementDeclaration): { element: ElementDeclaration; head: ElementDeclaration }[] {
  return element.heads.map((head) => ({ element, head }));
}
