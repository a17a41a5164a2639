/**
 * Checks key, unique and keyref (XSD Part 1 §3.11.4) while documents are read: scoped as the standard says, reported, never
 * enforced. Memory: the values of the elements that declare constraints and are open, up to a limit; beyond it the rest of the
 * document goes unchecked, and is said to.
 */
import type { RelationalModel } from '../model/relational-model.ts';
import { xsiNamespace } from '../model/name-labels.ts';
import { ByteBuffer } from '../shred/rows/byte-buffer.ts';
import { NamespaceScope } from '../shred/values/namespace-scope.ts';
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
import { BrokenRules, type BrokenRule } from './broken-rules.ts';
import { Candidates, isComplete, type Candidate } from './candidates.ts';
import { pushCompared, type ComparedAs } from './compared-values.ts';
import { compileRules, type CompiledRules } from './compiled-rules.ts';
import { INNER } from './rule-values.ts';
import { RuleScope } from './rule-scopes.ts';
import { SeededHash } from './seeded-hash.ts';
import { ShortKeys } from './short-keys.ts';
import { Situations, type AttributeField, type Selected, type Situation } from './situations.ts';

export interface IdentityChecker {
  /** in the order of their first faults */
  readonly broken: readonly BrokenRule[];
  /** documents that were too large to be checked to their end */
  readonly unfinished: number;
  beginDocument(name: string, inherited?: ReadonlyMap<string, string>): void;
  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void;
}

export interface IdentityCheckerOptions {
  /** memory of values that are held at a time, in bytes, more or less (256 MiB): a million keys and as many references have a third of it */
  readonly maxHeldBytes?: number;
  /** parts of situations of elements that are known at a time (100,000, some 50 MB) */
  readonly maxSituationParts?: number;
}

/** Memory that is counted for a value in addition to its bytes. */
const heldValueBytes = 64;

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
    const bytes = length + heldValueBytes;
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
