/**
 * Checks key, unique and keyref (XSD Part 1 §3.11.4) while documents are read: scoped as the standard says, reported, never
 * enforced. Memory: the values of the elements that declare constraints and are open, up to a limit; beyond it the rest of the
 * document goes unchecked, and is said to.
 */
import type { RelationalModel } from '../model/relational-model.ts';
import { xsiNamespace } from '../model/name-labels.ts';
import { ByteBuffer } from '../shred/byte-buffer.ts';
import { NamespaceScope } from '../shred/namespace-scope.ts';
import { rangeText, sourceOf } from '../shred/xml-capture.ts';
import {
  FLAG_DECODED,
  KIND_ATTRIBUTE,
  KIND_END,
  KIND_MASK,
  KIND_NAMESPACE,
  KIND_START,
  KIND_TEXT,
  RECORD_INTS,
  type NameTable,
  type TextLocation,
  type TokenBatch,
} from '../xml/tokens.ts';
import { utf8Text } from '../xml/utf8.ts';
import {
  BrokenRules,
  type BrokenRule,
  pushCompared,
  type ComparedAs,
  compileRules,
  type CompiledRules,
  type CompiledPath,
  type CompiledRule,
  type Selection,
  type Test,
} from './compiled-rules.ts';
import { INNER, RuleScope, SeededHash } from './rule-values.ts';

export interface IdentityChecker {
  /** in the order of their first faults */
  readonly broken: readonly BrokenRule[];
  /** documents that were too large to be checked to their end */
  readonly unfinished: number;
  beginDocument(name: string, inherited?: ReadonlyMap<string, string>): void;
  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void;
}

interface IdentityCheckerOptions {
  /** memory of values that are held at a time, in bytes, more or less (256 MiB): a million keys and as many references have a third of it */
  readonly maxHeldBytes?: number;
  /** parts of situations of elements that are known at a time (100,000, some 50 MB) */
  readonly maxSituationParts?: number;
}

/** Memory that is counted for a value in addition to its bytes. */
const bufferedValueBytes = 64;

/** Between the values of several fields: no character of XML, so that no value has it. */
const betweenFields = 0;

/** Longer values, in bytes, are held in a short form. */
const longValue = 16_000;
/** Bytes that certainly include all characters of a sample. */
const longSample = 1024;

const utf8 = new TextEncoder();

/** Returns null if the model declares nothing to check. */
export function createIdentityChecker(
  model: RelationalModel,
  names: NameTable,
  options: IdentityCheckerOptions = {},
): IdentityChecker | null {
  if ((model.identityRules ?? []).length === 0) return null;
  return new Checker(compileRules(model, names), names, options);
}

class Checker implements IdentityChecker {
  unfinished = 0;
  readonly #rules: CompiledRules;
  readonly #names: NameTable;
  readonly #maxHeld: number;
  readonly #situations: Situations;
  readonly #candidates = new Candidates();
  // arrays of the open elements, indexed by depth from 0
  readonly #open: Situation[] = [];
  readonly #nil: boolean[] = [];
  readonly #namespacesBefore: number[] = [];
  #depth = 0;
  /** scopes of the elements that declare rules; those after the open ones are reused */
  readonly #scopes: RuleScope[] = [];
  #openScopes = 0;
  #openCandidates = 0;
  readonly #namespaces = new NamespaceScope();
  readonly #hash = new SeededHash();
  readonly #shortKeys = new ShortKeys();
  #text = new ByteBuffer(256);
  readonly #xsiType: number;
  readonly #xsiNil: number;
  readonly #faults: BrokenRules;
  #locate: (recordIndex: number) => TextLocation = () => ({ line: 0, column: 0, offset: 0 });
  /** record that is being read */
  #at = 0;
  #held = 0;
  #stopped = false;

  constructor(
    rules: CompiledRules,
    names: NameTable,
    { maxHeldBytes = 256 * 1024 * 1024, maxSituationParts = 100_000 }: IdentityCheckerOptions,
  ) {
    this.#rules = rules;
    this.#faults = new BrokenRules(rules.rules);
    this.#names = names;
    this.#maxHeld = maxHeldBytes;
    this.#situations = new Situations(rules, maxSituationParts);
    this.#xsiType = names.intern(xsiNamespace, 'type');
    this.#xsiNil = names.intern(xsiNamespace, 'nil');
  }

  get broken(): readonly BrokenRule[] {
    return this.#faults.list;
  }

  beginDocument(name: string, inherited?: ReadonlyMap<string, string>): void {
    this.#faults.document = name;
    this.#depth = 0;
    this.#held = 0;
    this.#stopped = false;
    this.#openScopes = 0;
    this.#openCandidates = 0;
    this.#shortKeys.clear();
    this.#text.length = 0;
    this.#namespaces.leave(0);
    for (const [prefix, uri] of inherited ?? []) this.#namespaces.declare(prefix, uri);
  }

  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void {
    const { events, count } = batch;
    this.#locate = locate;
    for (let i = 0; i < count && !this.#stopped; i += 1) {
      const flags = events[i * RECORD_INTS]!;
      const kind = flags & KIND_MASK;
      if (kind === KIND_START) i = this.#start(batch, i);
      else if (kind === KIND_END) {
        this.#at = i;
        this.#end();
      } else if (kind === KIND_TEXT && this.#depth > 0 && this.#open[this.#depth - 1]!.captured.length > 0) {
        const source = (flags & FLAG_DECODED) === 0 ? batch.bytes : batch.decoded;
        this.#text.push(source, events[i * RECORD_INTS + 2]!, events[i * RECORD_INTS + 3]!);
        if (this.#held + this.#text.length > this.#maxHeld) this.#stop();
      }
    }
    for (let at = 0; at < this.#openScopes; at += 1) this.#scopes[at]!.placeAll(locate, this.#refers);
  }

  #start(batch: TokenBatch, at: number): number {
    const { events, count } = batch;
    const nameId = events[at * RECORD_INTS + 1]!;
    const depth = this.#depth;
    this.#namespacesBefore[depth] = this.#namespaces.size;
    let last = at;
    while (last + 1 < count && (events[(last + 1) * RECORD_INTS]! & KIND_MASK) === KIND_NAMESPACE) {
      last += 1;
      this.#namespaces.declare(
        this.#names.localName(events[last * RECORD_INTS + 1]!),
        rangeText(batch, last),
      );
    }
    const attributes = last + 1;
    let typed = -1;
    let nil = false;
    while (last + 1 < count && (events[(last + 1) * RECORD_INTS]! & KIND_MASK) === KIND_ATTRIBUTE) {
      last += 1;
      const attribute = events[last * RECORD_INTS + 1];
      if (attribute === this.#xsiType) typed = last;
      else if (attribute === this.#xsiNil) nil = /^\s*(true|1)\s*$/.test(rangeText(batch, last));
    }
    const parent = depth === 0 ? this.#situations.outside : this.#open[depth - 1]!;
    let situation = this.#situations.child(parent, nameId);
    if (typed >= 0) situation = this.#typed(parent, nameId, situation, rangeText(batch, typed));
    if (situation.asked.size > 0) {
      const bits = bitsOf(situation.asked, batch, attributes, last);
      situation = this.#situations.withAttributes(parent, nameId, situation, bits);
    }
    this.#open[depth] = situation;
    this.#nil[depth] = nil;
    this.#depth = depth + 1;
    if (!situation.isQuiet) this.#enter(situation, batch, attributes, last);
    return last;
  }

  #typed(parent: Situation, nameId: number, situation: Situation, written: string): Situation {
    const type = this.#namespaces.resolve(written.trim());
    const node = type === null ? situation.node : this.#rules.typed(situation.node, type);
    return node === situation.node ? situation : this.#situations.typed(parent, nameId, node);
  }

  /** An element starts that rules have to do with; its attributes are the records from `first` to `last`. */
  #enter(situation: Situation, batch: TokenBatch, first: number, last: number): void {
    const { selected, attributes } = situation;
    if (situation.opensScope) {
      const scope = (this.#scopes[this.#openScopes] ??= new RuleScope());
      scope.begin(this.#rules.rulesOf(situation.node));
      this.#openScopes += 1;
    }
    for (let at = 0; at < selected.length; at += 1) {
      const { scope, rule, fields } = selected[at]!;
      const declaring = this.#scopes[this.#openScopes + scope]!;
      this.#candidates.begin(this.#openCandidates++, declaring, rule, fields);
    }
    for (let field = 0; field < attributes.length; field += 1) {
      const attribute = attributes[field]!;
      const { id } = attribute.test;
      for (let i = first; i <= last; i += 1) {
        const name = batch.events[i * RECORD_INTS + 1]!;
        if (id < 0 ? attribute.test.passes(name) : id === name)
          this.#setAttribute(situation, attribute, batch, i);
      }
    }
  }

  #setAttribute(situation: Situation, attribute: AttributeField, batch: TokenBatch, at: number): void {
    const { events } = batch;
    const name = events[at * RECORD_INTS + 1]!;
    let as = attribute.as.get(name);
    if (as === undefined) {
      as = this.#rules.attribute(situation.node, name);
      attribute.as.set(name, as);
    }
    const [start, end] = [events[at * RECORD_INTS + 2]!, events[at * RECORD_INTS + 3]!];
    const candidate = this.#candidates.at(this.#openCandidates + attribute.candidate);
    setValue(candidate, attribute.field, as, sourceOf(batch, at), start, end);
  }

  #end(): void {
    this.#depth -= 1;
    const situation = this.#open[this.#depth]!;
    if (!situation.isQuiet) this.#leave(situation);
    this.#namespaces.leave(this.#namespacesBefore[this.#depth]!);
  }

  #leave({ captured, textAs, selected, opensScope }: Situation): void {
    const open = this.#openCandidates;
    if (captured.length > 0) {
      const text = this.#text;
      const isNil = this.#nil[this.#depth]!;
      const as = isNil ? null : textAs;
      for (const { candidate, field } of captured)
        setValue(this.#candidates.at(open + candidate), field, as, text.bytes, 0, text.length);
      text.length = 0;
    }
    const first = open - selected.length;
    this.#openCandidates = first;
    for (let at = 0; at < selected.length && !this.#stopped; at += 1)
      this.#settle(selected[at]!, this.#candidates.at(first + at).scope, open);
    if (opensScope && !this.#stopped) this.#closeScope();
  }

  /** `open`: candidates, those of the element among them. */
  #settle({ rule, kind, refers, valued: at }: Selected, scope: RuleScope, open: number): void {
    const valued = this.#candidates.at(open + at);
    if (valued.ambiguous || !isComplete(valued)) {
      // only a key demands its fields
      if (valued.ambiguous || kind === 'key') this.#note(rule, 'incomplete', valued);
      return;
    }
    const { values } = scope;
    const whole = this.#wholeValue(valued);
    const isLong = whole.length > longValue;
    const { bytes, length } = isLong ? this.#shortForm(whole) : whole;
    const hash = isLong ? this.#hash.of(bytes, length) : valued.hash;
    if (kind !== 'keyref') {
      if (values.add(rule, bytes, length, hash) >= 0) this.#hold(scope, length);
      else this.#note(rule, 'repeated', valued);
      return;
    }
    if (refers === null || values.find(refers, bytes, length, hash) >= 0) return;
    const entry = values.add(rule, bytes, length, hash);
    if (entry < 0) {
      values.countOneMore(-1 - entry);
      return;
    }
    if (!scope.referring.includes(rule)) scope.referring.push(rule);
    scope.unplaced.push(entry, this.#at);
    if (isLong) scope.longTexts.set(entry, utf8Text(whole.bytes.subarray(0, longSample)));
    this.#hold(scope, length);
  }

  /** Returns the values of all fields, and sets the candidate's hash. Rules with the same values ask for them consecutively. */
  #wholeValue(candidate: Candidate): ByteBuffer {
    const { values, fields, tuple } = candidate;
    const whole = fields > 1 ? tuple : values[0]!;
    if (candidate.isWhole) return whole;
    if (fields > 1) {
      whole.clear();
      for (let field = 0; field < fields; field += 1) {
        if (field > 0) whole.pushByte(betweenFields);
        whole.push(values[field]!.bytes, 0, values[field]!.length);
      }
    }
    candidate.isWhole = true;
    if (whole.length <= longValue) candidate.hash = this.#hash.of(whole.bytes, whole.length);
    return whole;
  }

  #shortForm({ bytes, length }: ByteBuffer): { readonly bytes: Uint8Array; readonly length: number } {
    const short = utf8.encode(this.#shortKeys.of(utf8Text(bytes.subarray(0, length))));
    return { bytes: short, length: short.length };
  }

  #note(rule: number, fault: BrokenRule['fault'], candidate: Candidate): void {
    this.#faults.note(rule, fault, () => ({
      values: candidate.values
        .slice(0, candidate.fields)
        .map(({ bytes, length }, field) =>
          candidate.isSet[field] === 0 ? '' : utf8Text(bytes.subarray(0, length)),
        ),
      place: this.#locate(this.#at),
    }));
  }

  #hold(scope: RuleScope, length: number): void {
    const bytes = length + bufferedValueBytes;
    scope.held += bytes;
    this.#held += bytes;
    if (this.#held + this.#shortKeys.held > this.#maxHeld) this.#stop();
  }

  /** The rest of the document goes unchecked, and nothing of it is held any longer. */
  #stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.unfinished += 1;
    this.#scopes.length = 0;
    this.#openScopes = 0;
    this.#shortKeys.clear();
    this.#text = new ByteBuffer(256);
  }

  /** Returns the key that a keyref refers to, or -1 for other rules, and for keys of elements inside. */
  readonly #refers = (rule: number): number => (rule < INNER ? (this.#rules.rules[rule]!.refers ?? -1) : -1);

  #closeScope(): void {
    this.#openScopes -= 1;
    const scope = this.#scopes[this.#openScopes]!;
    const { values } = scope;
    this.#held -= scope.held;
    scope.placeAll(this.#locate, this.#refers);
    for (const entry of scope.dangling(this.#refers))
      this.#faults.note(
        values.rule(entry),
        'dangling',
        () => ({
          values: (scope.longTexts.get(entry) ?? utf8Text(values.bytes(entry))).split('\0'),
          place: values.place(entry),
        }),
        values.times(entry),
      );
    for (let at = 0; at < this.#openScopes && !this.#stopped; at += 1) this.#handUp(scope, this.#scopes[at]!);
    scope.clear();
  }

  /** Keys of an element are keys for the references of those around it, too (§3.11.5). */
  #handUp({ values }: RuleScope, outer: RuleScope): void {
    const referred = this.#rules.referredFrom(outer.rules);
    if (referred.length === 0) return;
    for (let entry = 0; entry < values.count && !this.#stopped; entry += 1) {
      const rule = values.rule(entry);
      if (referred.includes(rule) && outer.values.addOf(values, entry, rule + INNER))
        this.#hold(outer, values.length(entry));
    }
  }
}

/** The bits of those names that the attributes from `first` to `last` have. */
function bitsOf(
  asked: ReadonlyMap<number, number>,
  { events }: TokenBatch,
  first: number,
  last: number,
): number {
  let bits = 0;
  for (let i = first; i <= last; i += 1) bits |= asked.get(events[i * RECORD_INTS + 1]!) ?? 0;
  return bits;
}

/** `as` null: the element says that it has none. */
function setValue(
  candidate: Candidate,
  field: number,
  as: ComparedAs | null,
  source: Uint8Array,
  start: number,
  end: number,
): void {
  if (candidate.isSet[field] === 1) candidate.ambiguous = true;
  else if (as !== null) {
    candidate.isSet[field] = 1;
    const value = candidate.values[field]!;
    value.clear();
    pushCompared(as, source, start, end, value);
  }
}

// Determines how rules apply to an element: the rules that select it, the fields it has, and the paths that continue below it. All of
// this depends only on the names on the way to the element. It is therefore computed once, and elements of the same name in the same
// situation share the result.

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
  /** keyed by the bits of the present attributes */
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
interface Selected {
  readonly scope: number;
  readonly rule: number;
  // properties of the rule, copied because it is one of hundreds
  readonly kind: CompiledRule['kind'];
  readonly refers: number | null;
  readonly fields: number;
  /** the candidate that has the values: a different one if an earlier rule has the same fields */
  valued: number;
}

interface Field {
  /** set anew once all candidates of the element are known */
  candidate: number;
  readonly field: number;
}

interface AttributeField extends Field {
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
const maxAsked = 31;

/** The size that is counted for a situation in addition to its parts. */
const ownParts = 8;
/**
 * The most parts of a situation that is kept. Larger ones are created again for each element, because many nested levels of rules hardly
 * ever repeat.
 */
const maxParts = 64;

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
    if (parts > maxParts) return made;
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
  if (!asked.has(attribute) && asked.size < maxAsked) asked.set(attribute, 1 << asked.size);
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

// Elements that selectors have found and that are open, with the values of their fields.

/** An element that a selector found. Objects are reused. */
interface Candidate {
  scope: RuleScope;
  rule: number;
  /** 1: has a value */
  readonly isSet: Uint8Array;
  /** values as they are compared; only the first `fields` of them are used */
  readonly values: readonly ByteBuffer[];
  fields: number;
  /** a field was found more than once */
  ambiguous: boolean;
  /** the values of several fields as one, and the hash of the whole value, once `isWhole` says that they are made */
  readonly tuple: ByteBuffer;
  hash: number;
  isWhole: boolean;
}

class Candidates {
  readonly #all: Candidate[] = [];

  at(index: number): Candidate {
    return this.#all[index]!;
  }

  /** Begins the one at a place, above all that are open. */
  begin(index: number, scope: RuleScope, rule: number, fields: number): void {
    const known = this.#all[index];
    if (known === undefined || known.values.length < fields) {
      this.#all[index] = {
        scope,
        rule,
        isSet: new Uint8Array(fields),
        values: Array.from({ length: fields }, () => new ByteBuffer(32)),
        fields,
        ambiguous: false,
        tuple: new ByteBuffer(fields > 1 ? 64 : 0),
        hash: 0,
        isWhole: false,
      };
      return;
    }
    known.scope = scope;
    known.rule = rule;
    known.isSet.fill(0);
    known.fields = fields;
    known.ambiguous = false;
    known.isWhole = false;
  }
}

function isComplete({ isSet, fields }: Candidate): boolean {
  for (let field = 0; field < fields; field += 1) if (isSet[field] === 0) return false;
  return true;
}

// Short forms of long values, whose pieces are stored once. JavaScript engines use the length of a long string (V8: of more than 16,383
// characters) as its hash, so many such pieces of one length in one map would take quadratic time.

/** characters of a piece */
const pieceLength = 16_000;

/** Begins the form of a long value: no character of XML, so that no value begins so. */
const longMark = '\u{FFFF}';

class ShortKeys {
  /** characters of the pieces that are held */
  held = 0;
  readonly #pieces = new Map<string, number>();

  /** The value itself, unless it is long; equal for equal values alone, until `clear`. */
  of(value: string): string {
    if (value.length <= pieceLength) return value;
    const ids: number[] = [];
    for (let from = 0; from < value.length; from += pieceLength) {
      const piece = value.slice(from, from + pieceLength);
      let id = this.#pieces.get(piece);
      if (id === undefined) {
        id = this.#pieces.size;
        this.#pieces.set(piece, id);
        this.held += piece.length;
      }
      ids.push(id);
    }
    return longMark + ids.join(' ');
  }

  clear(): void {
    this.#pieces.clear();
    this.held = 0;
  }
}
