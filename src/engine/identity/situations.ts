/**
 * What rules have to do with an element: which of them select it, which fields it has, which paths lead on below it. That follows from the names
 * on the way to it alone, so that it is worked out once, and elements of the same name in the same situation share the next one.
 */
import type { ComparedAs } from './compared-values.ts';
import type { CompiledPath, CompiledRules, Test } from './compiled-rules.ts';

/** Scopes and candidates are told by their places among those that are open, outermost first. */
export interface Situation {
  readonly node: number;
  /** nothing is to be done where such an element starts or ends, nor with its text */
  readonly isQuiet: boolean;
  /** the element declares rules: the last of `scopes` is its own */
  readonly opensScope: boolean;
  /** nodes of the open elements that declare rules */
  readonly scopes: readonly number[];
  /** candidates that are open, those that it is selected for among them: the last ones */
  readonly candidates: number;
  readonly selected: readonly Selected[];
  readonly attributes: readonly AttributeField[];
  /** fields that its text is the value of */
  readonly captured: readonly Field[];
  readonly textAs: ComparedAs;
  readonly waiting: readonly Waiting[];
  /**
   * Names of attributes, each with a bit, without which some rules that select the element ask nothing of it. Where there are any, the situation is
   * another one for each set of them.
   */
  readonly asked: ReadonlyMap<number, number>;
  /** by the bits of the attributes that are there */
  readonly withAttributes: Map<number, Situation>;
  /** of children, by the ids of their names; of those that xsi:type gives another node, by name and node */
  readonly next: Map<number, Situation>;
  /** how often all had been forgotten when `next` and `withAttributes` were begun */
  epoch: number;
}

/** A rule's selector has found the element. */
export interface Selected {
  readonly scope: number;
  readonly rule: number;
  /** the candidate that has the values: another one where a rule before has the same fields */
  readonly valued: number;
}

export interface Field {
  readonly candidate: number;
  readonly field: number;
}

export interface AttributeField extends Field {
  readonly path: number;
  readonly test: Test;
  /** what values are compared as, by the attribute's name */
  readonly as: Map<number, ComparedAs>;
}

/** A path that is followed: `step` of its names have been passed. */
interface Waiting extends Field {
  readonly scope: number;
  readonly rule: number;
  readonly path: CompiledPath;
  readonly step: number;
}

/** In place of a candidate: the path is a selector's. */
const SELECTOR = -1;

/** What is found out of an element. */
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
  candidates: number;
}

/** Names that have a bit. */
const mostAsked = 31;

/** What a situation counts for beside its parts. */
const ownParts = 8;
/** Situations of more parts are made anew for each element: many levels of rules within one another hardly ever lie so again. */
const mostParts = 64;

/** Above all names. */
const nodeFactor = 2 ** 31;

export class Situations {
  /** outside of the root */
  readonly outside: Situation;
  readonly #rules: CompiledRules;
  readonly #most: number;
  readonly #known = new Map<string, Situation>();
  /** by rule: ids of the attributes of the element that alone have its fields; null: others may have them */
  readonly #ownAttributes: (string | null | undefined)[] = [];
  /** of those that are known */
  #parts = 0;
  #epoch = 0;

  /**
   * `most`: parts of situations. Documents whose elements lie within one another in ever new ways have no end of them, so that from so many on all
   * are forgotten.
   */
  constructor(rules: CompiledRules, most: number) {
    this.#rules = rules;
    this.#most = most;
    this.outside = this.#situation(-1, [], false, newDraft(0, null));
  }

  /** Of an element of that name below one in the situation `parent`. */
  child(parent: Situation, nameId: number): Situation {
    return (
      this.#freshly(parent).next.get(nameId) ??
      this.#learn(parent, nameId, nameId, this.#nodeOf(parent, nameId))
    );
  }

  /** The same where xsi:type gives it that node. */
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
    const draft = newDraft(parent.candidates, present);
    for (const waiting of parent.waiting) this.#advance(waiting, nameId, draft);
    for (const [scope, declaring] of parent.scopes.entries()) {
      const selections = this.#rules.anywhere(this.#rules.rulesOf(declaring));
      for (const name of [nameId, -1])
        for (const { rule, path } of selections.get(name) ?? [])
          this.#advance({ path, step: 0, scope, rule, candidate: SELECTOR, field: 0 }, nameId, draft);
    }
    const rules = this.#rules.rulesOf(node);
    const scope = parent.scopes.length;
    for (const rule of rules) {
      for (const path of this.#rules.rules[rule]!.selector)
        if (!path.anywhere)
          this.#follow({ path, step: 0, scope, rule, candidate: SELECTOR, field: 0 }, draft);
    }
    return this.#situation(
      node,
      rules.length > 0 ? [...parent.scopes, node] : parent.scopes,
      rules.length > 0,
      draft,
    );
  }

  /** The element is one below that where `waiting` stood. */
  #advance(waiting: Waiting, nameId: number, draft: Draft): void {
    const { path, step, candidate } = waiting;
    // a field's `.//` stays at each level
    if (path.anywhere && step === 0 && candidate !== SELECTOR) draft.waiting.push(waiting);
    if (path.steps[step]!.passes(nameId)) this.#follow({ ...waiting, step: step + 1 }, draft);
  }

  /** The element is where the path has come to. */
  #follow(waiting: Waiting, draft: Draft): void {
    const { path, step, candidate, field, scope, rule } = waiting;
    if (step < path.steps.length) draft.waiting.push(waiting);
    else if (candidate === SELECTOR) this.#select(scope, rule, draft);
    else if (path.attribute === null) draft.captured.push({ candidate, field });
    else draft.attributes.push({ candidate, field, path: path.id, test: path.attribute, as: new Map() });
  }

  #select(scope: number, rule: number, draft: Draft): void {
    const { kind, fields } = this.#rules.rules[rule]!;
    // only a key demands its fields, and attributes stand once
    const demands = kind === 'key' || fields.some((paths) => onlyAttribute(paths) < 0);
    if (!demands && isWithout(draft, onlyAttribute(fields[0]!))) return;
    const candidate = draft.candidates;
    draft.candidates += 1;
    const own = (this.#ownAttributes[rule] ??= ownAttributes(fields));
    const valued = own === null ? candidate : (draft.valued.get(own) ?? candidate);
    draft.selected.push({ scope, rule, valued });
    if (valued !== candidate) return;
    if (own !== null) draft.valued.set(own, candidate);
    for (const [field, paths] of fields.entries())
      for (const path of paths) this.#follow({ path, step: 0, scope, rule, candidate, field }, draft);
  }

  #situation(
    node: number,
    scopes: readonly number[],
    opensScope: boolean,
    { waiting, selected, attributes, captured, asked, candidates }: Draft,
  ): Situation {
    return {
      node,
      isQuiet: !opensScope && selected.length + attributes.length + captured.length === 0,
      opensScope,
      scopes,
      candidates,
      selected,
      attributes,
      captured,
      textAs: this.#rules.text(node),
      waiting,
      asked,
      withAttributes: new Map(),
      next: new Map(),
      epoch: this.#epoch,
    };
  }
}

function newDraft(candidates: number, present: Draft['present']): Draft {
  return {
    waiting: [],
    selected: [],
    attributes: [],
    captured: [],
    asked: new Map(),
    valued: new Map(),
    present,
    candidates,
  };
}

/** Whether the element has no attribute of that name; where that is not known yet, it is asked for. */
function isWithout({ present, asked }: Draft, attribute: number): boolean {
  if (present !== null) {
    const bit = present.known.get(attribute);
    return bit !== undefined && (present.bits & bit) === 0;
  }
  if (!asked.has(attribute) && asked.size < mostAsked) asked.set(attribute, 1 << asked.size);
  return false;
}

/** Name of the element's own attribute that alone has the field; -1: others may have it. */
function onlyAttribute([path, ...others]: readonly CompiledPath[]): number {
  return others.length > 0 || path!.anywhere || path!.steps.length > 0 ? -1 : (path!.attribute?.id ?? -1);
}

function ownAttributes(fields: readonly (readonly CompiledPath[])[]): string | null {
  const ids = fields.map(onlyAttribute);
  return ids.includes(-1) ? null : ids.join();
}

function partsOf({ scopes, selected, attributes, captured, waiting }: Situation): number {
  return scopes.length + selected.length + attributes.length + captured.length + waiting.length;
}

/** Situations of equal ones lead to equal ones. */
function identityOf({
  asked,
  node,
  scopes,
  opensScope,
  candidates,
  selected,
  waiting,
  ...found
}: Situation): string {
  return JSON.stringify([
    node,
    scopes,
    opensScope,
    candidates,
    selected,
    found.attributes.map(({ candidate, field, path }) => [candidate, field, path]),
    found.captured,
    waiting.map(({ path, ...rest }) => [path.id, rest]),
    [...asked.keys()],
  ]);
}
