/**
 * Determines how rules apply to an element: the rules that select it, the fields it has, and the paths that continue below it. All of
 * this depends only on the names on the way to the element. It is therefore computed once, and elements of the same name in the same
 * situation share the result.
 */
import type { ComparedAs } from './compared-values.ts';
import type { CompiledPath, CompiledRule, CompiledRules, Selection, Test } from './compiled-rules.ts';

/**
 * Scopes and candidates are identified by their index among the open ones, counted from the end: -1 is the innermost or the last one.
 * Equal elements therefore have the same situation at every place.
 */
export interface Situation {
  readonly node: number;
  /** nothing happens at the start, the end or the text of such an element */
  readonly isQuiet: boolean;
  /** the element declares rules: the last of the open scopes is its own */
  readonly opensScope: boolean;
  /** the innermost open scope whose rules select elements at any depth; the identity of the other scopes no longer matters */
  readonly anywhere: OuterScope | null;
  /** scopes that are open inside of that one */
  readonly scopesInside: number;
  /** by candidate; these are the last of the open candidates */
  readonly selected: readonly Selected[];
  readonly attributes: readonly AttributeField[];
  /** fields that its text is the value of */
  readonly captured: readonly Field[];
  readonly textAs: ComparedAs;
  readonly waiting: readonly Waiting[];
  /**
   * Names of attributes, each with a bit, without which some rules that select the element do not apply to it. If there are any, each set
   * of present attributes has a separate situation.
   */
  readonly asked: ReadonlyMap<number, number>;
  /** by the bits of the present attributes */
  readonly withAttributes: Map<number, Situation>;
  /** situations of children, by the ids of their names; if xsi:type gives a child another node, by name and node */
  readonly next: Map<number, Situation>;
  /** number of times that all situations had been discarded when `next` and `withAttributes` were created */
  epoch: number;
}

interface InScope {
  readonly scope: number;
}

interface OuterScope {
  /** node of the element that declares the rules */
  readonly node: number;
  /** the next such scope around it, and the number of other scopes between the two */
  readonly outer: OuterScope | null;
  readonly scopesBetween: number;
  /** number of these scopes, including this one */
  readonly count: number;
}

/** A rule's selector has found the element. */
export interface Selected {
  readonly scope: number;
  readonly rule: number;
  // properties of the rule, copied because it is one of hundreds
  readonly kind: CompiledRule['kind'];
  readonly refers: number | null;
  readonly fields: number;
  /** the candidate that has the values: a different one if an earlier rule has the same fields */
  valued: number;
}

export interface Field {
  /** set anew once all candidates of the element are known */
  candidate: number;
  readonly field: number;
}

export interface AttributeField extends Field {
  readonly path: number;
  readonly test: Test;
  /** form in which values are compared, by the attribute's name */
  readonly as: Map<number, ComparedAs>;
}

/** A path that is followed: `step` of its names have been passed. */
interface Waiting extends Field {
  readonly scope: number;
  readonly rule: number;
  readonly path: CompiledPath;
  readonly step: number;
}

/** Replaces a candidate if the path is a selector's. */
const SELECTOR = 2 ** 30;

/**
 * The facts found about an element. Until they are complete, candidates are counted from the end of its parent's: its own are 0 and
 * above.
 */
interface Draft {
  readonly waiting: Waiting[];
  readonly selected: Selected[];
  readonly attributes: AttributeField[];
  readonly captured: Field[];
  readonly asked: Map<number, number>;
  /** candidates by the attributes of the element that alone have their fields */
  readonly valued: Map<string, number>;
  /** attributes that are there, as bits of `known`; null: not looked at yet */
  readonly present: { readonly bits: number; readonly known: ReadonlyMap<number, number> } | null;
}

/** Names that have a bit. */
const mostAsked = 31;

/** The size that is counted for a situation in addition to its parts. */
const ownParts = 8;
/**
 * The most parts of a situation that is kept. Larger ones are created again for each element, because many nested levels of rules hardly
 * ever repeat.
 */
const mostParts = 64;

/** Above all names. */
const nodeFactor = 2 ** 31;

export class Situations {
  /** outside of the root */
  readonly outside: Situation;
  readonly #rules: CompiledRules;
  readonly #most: number;
  readonly #known = new Map<string, Situation>();
  /** by rule: ids of the attributes of the element that are the only source of its fields; null: there are other sources */
  readonly #ownAttributes: (string | null | undefined)[] = [];
  /** parts of all known situations */
  #parts = 0;
  #epoch = 0;

  /**
   * `most`: parts of situations. Documents with ever new nestings of elements have an unlimited number of situations, so all are
   * discarded at this number.
   */
  constructor(rules: CompiledRules, most: number) {
    this.#rules = rules;
    this.#most = most;
    this.outside = this.#situation({ node: -1, ...nowhere, opensScope: false }, newDraft(null));
  }

  /** Returns the situation of an element with that name below one in the situation `parent`. */
  child(parent: Situation, nameId: number): Situation {
    return (
      this.#freshly(parent).next.get(nameId) ??
      this.#learn(parent, nameId, nameId, this.#nodeOf(parent, nameId))
    );
  }

  /** Does the same as `child` if xsi:type gives the element that node. */
  typed(parent: Situation, nameId: number, node: number): Situation {
    const key = (node + 1) * nodeFactor + nameId;
    return this.#freshly(parent).next.get(key) ?? this.#learn(parent, key, nameId, node);
  }

  /** The same once it is known which of the attributes that are asked for are there. */
  withAttributes(parent: Situation, nameId: number, situation: Situation, bits: number): Situation {
    const known = situation.withAttributes.get(bits);
    if (known !== undefined) return known;
    this.#forgetMany();
    const made = this.#make(parent, nameId, situation.node, { bits, known: situation.asked });
    return this.#shared(made, this.#freshly(situation).withAttributes, bits);
  }

  #nodeOf(parent: Situation, nameId: number): number {
    return parent === this.outside ? this.#rules.root(nameId) : this.#rules.child(parent.node, nameId);
  }

  #learn(parent: Situation, key: number, nameId: number, node: number): Situation {
    this.#forgetMany();
    return this.#shared(this.#make(parent, nameId, node, null), this.#freshly(parent).next, key);
  }

  #forgetMany(): void {
    if (this.#parts < this.#most) return;
    this.#known.clear();
    this.#parts = 0;
    this.#epoch += 1;
  }

  /** It leads to nothing that is forgotten: an element may be open for as long as its document is read. */
  #freshly(situation: Situation): Situation {
    if (situation.epoch !== this.#epoch) {
      situation.next.clear();
      situation.withAttributes.clear();
      situation.epoch = this.#epoch;
    }
    return situation;
  }

  /** It, or an equal one that is known, which `among` has from now on. */
  #shared(made: Situation, among: Map<number, Situation>, key: number): Situation {
    const parts = partsOf(made);
    if (parts > mostParts) return made;
    const identity = identityOf(made);
    let known = this.#known.get(identity);
    if (known === undefined) {
      known = made;
      this.#known.set(identity, made);
      this.#parts += parts + ownParts;
    }
    among.set(key, known);
    return known;
  }

  #make(parent: Situation, nameId: number, node: number, present: Draft['present']): Situation {
    const draft = newDraft(present);
    const rules = this.#rules.rulesOf(node);
    const opensScope = rules.length > 0;
    const opened = opensScope ? 1 : 0;
    for (const waiting of parent.waiting) this.#advance(waiting, waiting.scope - opened, nameId, draft);
    for (const { scope, rule, path } of this.#selectedAnywhere(parent, nameId))
      this.#advance(
        { path, step: 0, scope, rule, candidate: SELECTOR, field: 0 },
        scope - opened,
        nameId,
        draft,
      );
    for (const rule of rules) {
      for (const path of this.#rules.rules[rule]!.selector)
        if (!path.anywhere || path.steps.length === 0)
          this.#follow({ path, step: 0, scope: -1, rule, candidate: SELECTOR, field: 0 }, draft);
    }
    const { anywhere: outer, scopesInside } = parent;
    const selectsBelow = opensScope && this.#rules.anywhere(rules).size > 0;
    const around = selectsBelow
      ? {
          anywhere: { node, outer, scopesBetween: scopesInside, count: (outer?.count ?? 0) + 1 },
          scopesInside: 0,
        }
      : { anywhere: outer, scopesInside: outer === null ? 0 : scopesInside + opened };
    return this.#situation({ node, ...around, opensScope }, draft);
  }

  /** Returns selectors that an element of that name may continue at any depth; those of outer scopes first. */
  #selectedAnywhere({ anywhere, scopesInside }: Situation, nameId: number): (Selection & InScope)[] {
    const found: (Selection & InScope)[] = [];
    let scope = -1 - scopesInside;
    for (let at = anywhere; at !== null; scope -= at.scopesBetween + 1, at = at.outer) {
      const selections = this.#rules.anywhere(this.#rules.rulesOf(at.node));
      // the list is turned round in the end
      for (const name of [-1, nameId]) {
        const some = selections.get(name);
        for (let last = (some?.length ?? 0) - 1; last >= 0; last -= 1) found.push({ scope, ...some![last]! });
      }
    }
    return found.toReversed();
  }

  /** Continues the path `waiting` with an element below its previous one; `scope`: the present index of its scope. */
  #advance(waiting: Waiting, scope: number, nameId: number, draft: Draft): void {
    const { path, step, candidate } = waiting;
    // a field's `.//` also applies at each deeper level
    if (path.anywhere && step === 0 && candidate !== SELECTOR) draft.waiting.push({ ...waiting, scope });
    // `.//.` has no step
    if (path.steps[step]?.passes(nameId) ?? true) this.#follow({ ...waiting, scope, step: step + 1 }, draft);
  }

  /** Handles an element that completes the path. */
  #follow(waiting: Waiting, draft: Draft): void {
    const { path, step, candidate, field, scope, rule } = waiting;
    if (step < path.steps.length) draft.waiting.push(waiting);
    else if (candidate === SELECTOR) this.#select(scope, rule, draft);
    else if (path.attribute === null) {
      if (!draft.captured.some((one) => isSameField(one, waiting))) draft.captured.push({ candidate, field });
    } else if (
      path.attribute.id < 0 ||
      !draft.attributes.some((one) => isSameField(one, waiting) && one.test.id === path.attribute!.id)
    )
      draft.attributes.push({ candidate, field, path: path.id, test: path.attribute, as: new Map() });
  }

  /**
   * Selects an element for a rule. Several paths of a selector that lead to an element select it only once (XSD 1.0 Part 1 §3.11.4); the
   * same holds for values of fields.
   */
  #select(scope: number, rule: number, draft: Draft): void {
    if (draft.selected.some((one) => one.scope === scope && one.rule === rule)) return;
    const { kind, refers, fields } = this.#rules.rules[rule]!;
    // only a key requires its fields, and attributes occur at most once
    const demands = kind === 'key' || fields.some((paths) => onlyAttribute(paths) < 0);
    if (!demands && isWithout(draft, onlyAttribute(fields[0]!))) return;
    const candidate = draft.selected.length;
    const own = (this.#ownAttributes[rule] ??= ownAttributes(fields));
    const valued = own === null ? candidate : (draft.valued.get(own) ?? candidate);
    draft.selected.push({ scope, rule, kind, refers, fields: fields.length, valued });
    if (valued !== candidate) return;
    if (own !== null) draft.valued.set(own, candidate);
    for (const [field, paths] of fields.entries())
      for (const path of paths) {
        const waiting = { path, step: 0, scope, rule, candidate, field };
        this.#follow(waiting, draft);
        // `.//@id` is one of any element inside, too
        if (path.anywhere && path.steps.length === 0) draft.waiting.push({ ...waiting });
      }
  }

  #situation(
    found: Pick<Situation, 'node' | 'anywhere' | 'scopesInside' | 'opensScope'>,
    { waiting, selected, attributes, captured, asked }: Draft,
  ): Situation {
    for (const fields of [waiting, attributes, captured])
      for (const field of fields) if (field.candidate !== SELECTOR) field.candidate -= selected.length;
    for (const one of selected) one.valued -= selected.length;
    return {
      ...found,
      isQuiet: !found.opensScope && selected.length + attributes.length + captured.length === 0,
      selected,
      attributes,
      captured,
      textAs: this.#rules.text(found.node),
      waiting,
      asked,
      withAttributes: new Map(),
      next: new Map(),
      epoch: this.#epoch,
    };
  }
}

const nowhere = { anywhere: null, scopesInside: 0 };

function newDraft(present: Draft['present']): Draft {
  const found = { waiting: [], selected: [], attributes: [], captured: [] };
  return { ...found, asked: new Map(), valued: new Map(), present };
}

function isSameField(one: Field, other: Field): boolean {
  return one.candidate === other.candidate && one.field === other.field;
}

/** True if the element does not have the attribute. If that is not known yet, the attribute is asked for. */
function isWithout({ present, asked }: Draft, attribute: number): boolean {
  if (present !== null) {
    const bit = present.known.get(attribute);
    return bit !== undefined && (present.bits & bit) === 0;
  }
  if (!asked.has(attribute) && asked.size < mostAsked) asked.set(attribute, 1 << asked.size);
  return false;
}

/** Returns the name id of the element's own attribute that is the only source of the field, or -1 if there are other sources. */
function onlyAttribute([path, ...others]: readonly CompiledPath[]): number {
  return others.length > 0 || path!.anywhere || path!.steps.length > 0 ? -1 : (path!.attribute?.id ?? -1);
}

function ownAttributes(fields: readonly (readonly CompiledPath[])[]): string | null {
  const ids = fields.map(onlyAttribute);
  return ids.includes(-1) ? null : ids.join();
}

function partsOf({ anywhere, selected, attributes, captured, waiting }: Situation): number {
  return (anywhere?.count ?? 0) + selected.length + attributes.length + captured.length + waiting.length;
}

/** Situations of equal ones lead to equal ones. */
function identityOf({ asked, node, opensScope, selected, waiting, ...found }: Situation): string {
  return JSON.stringify([
    node,
    found.anywhere,
    found.scopesInside,
    opensScope,
    selected,
    found.attributes.map(({ candidate, field, path }) => [candidate, field, path]),
    found.captured,
    waiting.map(({ path, ...rest }) => [path.id, rest]),
    [...asked.keys()],
  ]);
}
