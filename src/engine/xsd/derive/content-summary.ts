/** Computes how often each child occurs in a content model, and whether its order is fixed. */
import {
  type ElementDeclaration,
  type ModelGroup,
  type Particle,
  type Wildcard,
  groupOf,
} from '../components/terms.ts';
import { uniteNamespaces } from '../components/attributes.ts';

/** The occurrence of one child element name in a content model. */
export interface ChildSummary {
  /** declaration of the first particle of that name */
  readonly element: ElementDeclaration;
  readonly minOccurs: number;
  /** Infinity = unbounded */
  readonly maxOccurs: number;
  /**
   * True if the content model alone determines the child's position: only one of a sequence's particles has that name, the branches of a
   * choice that have it agree on one order, every group from the content root to it occurs at most once, and none of them is an `all`.
   * (Repetition of the particle itself leaves the order fixed.)
   */
  readonly orderImplied: boolean;
  /** documentation of the first particle of that name that has one */
  readonly documentation: string | undefined;
}

export interface WildcardSummary {
  readonly wildcard: Wildcard;
  readonly minOccurs: number;
  readonly maxOccurs: number;
}

/** A content model without its structure: per child element name, and all wildcards united. */
export interface ContentSummary {
  /** keyed by expanded name, in the implied order; otherwise in the order of the first particles */
  readonly children: ReadonlyMap<string, ChildSummary>;
  readonly wildcard: WildcardSummary | null;
}

const maxCount = 2 ** 31 - 1;

/** Counts over 2^31-1 are unbounded. */
function saturate(count: number): number {
  return count > maxCount ? Infinity : count;
}

/** 0 times unbounded is 0. */
function multiply(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : saturate(a * b);
}

/** Least counts never become unbounded. */
function leastOf(count: number): number {
  return Math.min(count, maxCount);
}

export interface ContentSummarizer {
  summarize(particle: Particle | null): ContentSummary;
}

const empty: ContentSummary = { children: new Map(), wildcard: null };

/**
 * Summarizes content models by arithmetic on occurrence ranges, without expanding anything. Each model group is computed once, however
 * often it is used, so the cost is linear in the particles and in the names that groups contain.
 *
 * In a sequence or `all`, ranges of one name add up. In a choice the minimum is that of the branch with the smallest one, 0 if a branch
 * lacks the name, and the maximum is that of the branch with the largest one. A group's own range multiplies.
 *
 * `onTwoDeclarations` is called, once per group, for two declarations of one name within a content model. `join` combines two
 * declarations from the contents of an element's alternative types.
 */
export function createContentSummarizer(
  onTwoDeclarations: (first: ElementDeclaration, second: ElementDeclaration) => void,
  join: (first: ElementDeclaration, second: ElementDeclaration) => ElementDeclaration,
): ContentSummarizer {
  const known = new Map<ModelGroup, ContentSummary>();

  const ofGroup = (group: ModelGroup): ContentSummary => {
    let summary = known.get(group);
    if (summary === undefined) {
      summary = group.compositor === 'choice' ? ofChoice(group) : ofSequence(group);
      known.set(group, summary);
    }
    return summary;
  };

  const ofParticle = ({ term, minOccurs, maxOccurs, documentation }: Particle): ContentSummary => {
    if (!('kind' in term)) {
      const child = {
        element: term,
        minOccurs: leastOf(minOccurs),
        maxOccurs: saturate(maxOccurs),
        orderImplied: true,
        documentation,
      };
      return { children: new Map([[term.key, child]]), wildcard: null };
    }
    if (term.kind === 'wildcard') {
      const wildcard = { wildcard: term, minOccurs: leastOf(minOccurs), maxOccurs: saturate(maxOccurs) };
      return { children: empty.children, wildcard };
    }
    const group = groupOf(term);
    return group === null ? empty : repeat(ofGroup(group), minOccurs, maxOccurs);
  };

  const ofSequence = ({ particles, compositor }: ModelGroup): ContentSummary => {
    const ordered = compositor === 'sequence';
    if (particles.length === 1 && ordered) return ofParticle(particles[0]!);
    const children = new Map<string, ChildSummary>();
    let wildcard: WildcardSummary | null = null;
    for (const particle of particles) {
      const part = ofParticle(particle);
      for (const [key, child] of part.children) {
        const before = children.get(key);
        if (before !== undefined && before.element !== child.element)
          onTwoDeclarations(before.element, child.element);
        if (before === undefined) children.set(key, ordered ? child : { ...child, orderImplied: false });
        else {
          children.set(key, {
            element: before.element,
            minOccurs: leastOf(before.minOccurs + child.minOccurs),
            maxOccurs: saturate(before.maxOccurs + child.maxOccurs),
            orderImplied: false,
            documentation: before.documentation ?? child.documentation,
          });
        }
      }
      if (part.wildcard === null) continue;
      if (wildcard === null) wildcard = part.wildcard;
      else {
        const minOccurs = leastOf(wildcard.minOccurs + part.wildcard.minOccurs);
        const maxOccurs = saturate(wildcard.maxOccurs + part.wildcard.maxOccurs);
        wildcard = { wildcard: unite(wildcard.wildcard, part.wildcard.wildcard), minOccurs, maxOccurs };
      }
    }
    return { children, wildcard };
  };

  const ofChoice = ({ particles, ofTypes }: ModelGroup): ContentSummary => {
    if (particles.length === 1) return ofParticle(particles[0]!);
    const children = new Map<string, ChildSummary>();
    const branches = new Map<string, number>();
    const parts = particles.map(ofParticle);
    let wildcard: WildcardSummary | null = null;
    let wildcardBranches = 0;
    for (const part of parts) {
      for (const [key, child] of part.children) {
        const before = children.get(key);
        branches.set(key, (branches.get(key) ?? 0) + 1);
        if (before !== undefined && before.element !== child.element && ofTypes !== true)
          onTwoDeclarations(before.element, child.element);
        if (before === undefined) children.set(key, child);
        else {
          children.set(key, {
            element: ofTypes === true ? join(before.element, child.element) : before.element,
            minOccurs: Math.min(before.minOccurs, child.minOccurs),
            maxOccurs: Math.max(before.maxOccurs, child.maxOccurs),
            orderImplied: before.orderImplied && child.orderImplied,
            documentation: before.documentation ?? child.documentation,
          });
        }
      }
      if (part.wildcard === null) continue;
      wildcardBranches++;
      if (wildcard === null) wildcard = part.wildcard;
      else {
        const minOccurs = Math.min(wildcard.minOccurs, part.wildcard.minOccurs);
        const maxOccurs = Math.max(wildcard.maxOccurs, part.wildcard.maxOccurs);
        wildcard = { wildcard: unite(wildcard.wildcard, part.wildcard.wildcard), minOccurs, maxOccurs };
      }
    }
    if (wildcard !== null && wildcardBranches < particles.length) wildcard = { ...wildcard, minOccurs: 0 };
    const isShared = (key: string): boolean => branches.get(key)! > 1;
    const names = [...children.keys()];
    const order = names.some(isShared) ? commonOrder(parts) : names;
    const ordered = new Map<string, ChildSummary>();
    for (const key of order ?? names) {
      const child = children.get(key)!;
      const minOccurs = branches.get(key)! < particles.length ? 0 : child.minOccurs;
      const orderImplied = child.orderImplied && (order !== null || !isShared(key));
      ordered.set(key, { ...child, minOccurs, orderImplied });
    }
    return { children: ordered, wildcard };
  };

  return { summarize: (particle) => (particle === null ? empty : ofParticle(particle)) };
}

/**
 * Returns the names of all branches in an order that each of them keeps; names whose order is open come in the order of their first
 * occurrence. Returns null if some branches disagree.
 */
function commonOrder(branches: readonly ContentSummary[]): string[] | null {
  const preceding = new Map<string, string[]>();
  for (const { children } of branches) {
    let last: string | null = null;
    for (const [key, { orderImplied }] of children) {
      const before = preceding.get(key) ?? [];
      preceding.set(key, before);
      // a position that the model does not determine is stored for each element
      if (!orderImplied) continue;
      if (last !== null) before.push(last);
      last = key;
    }
  }
  const order = new Set<string>();
  const open = new Set<string>();
  for (const start of preceding.keys()) {
    for (const waiting = [start]; waiting.length > 0;) {
      const key = waiting.at(-1)!;
      const before = preceding.get(key)!.filter((one) => !order.has(one));
      if (before.length === 0) {
        order.add(key);
        waiting.pop();
      } else if (before.some((one) => open.has(one))) return null;
      else for (const one of before.toReversed()) waiting.push(one);
      open.add(key);
    }
  }
  return [...order];
}

function repeat(summary: ContentSummary, minOccurs: number, maxOccurs: number): ContentSummary {
  if (minOccurs === 1 && maxOccurs === 1) return summary;
  const children = new Map<string, ChildSummary>();
  for (const [key, child] of summary.children) {
    children.set(key, {
      element: child.element,
      minOccurs: leastOf(multiply(child.minOccurs, minOccurs)),
      maxOccurs: multiply(child.maxOccurs, maxOccurs),
      orderImplied: child.orderImplied && maxOccurs === 1,
      documentation: child.documentation,
    });
  }
  const { wildcard } = summary;
  if (wildcard === null) return { children, wildcard };
  return {
    children,
    wildcard: {
      wildcard: wildcard.wildcard,
      minOccurs: leastOf(multiply(wildcard.minOccurs, minOccurs)),
      maxOccurs: multiply(wildcard.maxOccurs, maxOccurs),
    },
  };
}

function unite(a: Wildcard, b: Wildcard): Wildcard {
  const processContents = a.processContents === b.processContents ? a.processContents : 'lax';
  return { ...a, namespaces: uniteNamespaces(a.namespaces, b.namespaces), processContents };
}
