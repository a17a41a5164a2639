/**
 * Checks key, unique and keyref (XSD Part 1 §3.11.4) while documents are read: scoped as the standard says, reported, never
 * enforced. Memory: the values of the elements that declare constraints and are open, up to a limit; beyond it the rest of the
 * document goes unchecked, and is said to.
 */
import type { RelationalModel } from '../model/relational-model.ts';
import { xsiNamespace } from '../model/name-labels.ts';
import { ByteBuffer } from '../shred/rows/byte-buffer.ts';
import { NamespaceScope } from '../shred/values/namespace-scope.ts';
import { rangeText } from '../shred/xml-capture.ts';
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
import {
  newFrame,
  setAt,
  setValue,
  type Candidate,
  type ElementFrame,
  type OpenElement,
  type Progress,
  type RuleScope,
  type Selection,
} from './open-scopes.ts';
import { BrokenRules, type BrokenRule } from './broken-rules.ts';
import { compileRules, type CompiledRules } from './compiled-rules.ts';
import { ShortKeys } from './short-keys.ts';
import { utf8Text } from '../xml/utf8.ts';

export interface IdentityChecker {
  /** in the order in which they were first met */
  readonly broken: readonly BrokenRule[];
  /** documents that were too large to be checked to their end */
  readonly unfinished: number;
  beginDocument(name: string, inherited?: ReadonlyMap<string, string>): void;
  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void;
}

export interface IdentityCheckerOptions {
  /** memory of values that are held at a time, in bytes, more or less (256 MiB): a million keys and as many references have a third of it */
  readonly maxHeldBytes?: number;
}

/** What a value costs beside its characters, as a string and as a member of a set. */
const heldValueBytes = 64;

/** Between the values of several fields: no character of XML, so that no value has it. */
const betweenFields = '\0';

/** null: the model declares nothing to check. */
export function createIdentityChecker(
  model: RelationalModel,
  names: NameTable,
  options: IdentityCheckerOptions = {},
): IdentityChecker | null {
  if ((model.identityRules ?? []).length === 0) return null;
  return new Checker(compileRules(model, names), names, options.maxHeldBytes ?? 256 * 1024 * 1024);
}

class Checker implements IdentityChecker {
  unfinished = 0;
  readonly #rules: CompiledRules;
  readonly #names: NameTable;
  readonly #maxHeld: number;
  readonly #frames: ElementFrame[] = [];
  readonly #scopes: RuleScope[] = [];
  readonly #namespaces = new NamespaceScope();
  readonly #shortKeys = new ShortKeys();
  #text = new ByteBuffer(256);
  readonly #xsiType: number;
  readonly #xsiNil: number;
  readonly #faults: BrokenRules;
  #locate: (recordIndex: number) => TextLocation = () => ({ line: 0, column: 0, offset: 0 });
  /** record that is being read */
  #at = 0;
  #depth = 0;
  #held = 0;
  #stopped = false;

  constructor(rules: CompiledRules, names: NameTable, maxHeld: number) {
    this.#rules = rules;
    this.#faults = new BrokenRules(rules.rules);
    this.#names = names;
    this.#maxHeld = maxHeld;
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
    this.#scopes.length = 0;
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
      } else if (kind === KIND_TEXT && this.#depth > 0 && this.#frames[this.#depth - 1]!.captures !== null) {
        const source = (flags & FLAG_DECODED) === 0 ? batch.bytes : batch.decoded;
        this.#text.push(source, events[i * RECORD_INTS + 2]!, events[i * RECORD_INTS + 3]!);
        if (this.#held + this.#text.length > this.#maxHeld) this.#stop();
      }
    }
  }

  #start(batch: TokenBatch, at: number): number {
    const { events, count } = batch;
    const nameId = events[at * RECORD_INTS + 1]!;
    const parent = this.#depth === 0 ? null : this.#frames[this.#depth - 1]!;
    const frame = (this.#frames[this.#depth] ??= newFrame());
    this.#depth += 1;
    frame.namespaces = this.#namespaces.size;
    let last = at;
    while (last + 1 < count && (events[(last + 1) * RECORD_INTS]! & KIND_MASK) === KIND_NAMESPACE) {
      last += 1;
      this.#namespaces.declare(
        this.#names.localName(events[last * RECORD_INTS + 1]!),
        rangeText(batch, last),
      );
    }
    const attributes = last + 1;
    while (last + 1 < count && (events[(last + 1) * RECORD_INTS]! & KIND_MASK) === KIND_ATTRIBUTE) last += 1;
    frame.node = parent === null ? this.#rules.root(nameId) : this.#rules.child(parent.node, nameId);
    frame.nil = false;
    for (let i = attributes; i <= last; i += 1) {
      const attribute = events[i * RECORD_INTS + 1];
      if (attribute === this.#xsiType) {
        const type = this.#namespaces.resolve(rangeText(batch, i).trim());
        if (type !== null) frame.node = this.#rules.typed(frame.node, type);
      } else if (attribute === this.#xsiNil) frame.nil = /^\s*(true|1)\s*$/.test(rangeText(batch, i));
    }
    const element: OpenElement = { batch, attributes, last, frame };
    if (parent !== null && parent.progress !== null)
      for (const progress of parent.progress) this.#advance(progress, nameId, element);
    for (const scope of this.#scopes) {
      this.#begin(scope, scope.anywhere.get(nameId), nameId, element);
      this.#begin(scope, scope.anywhere.get(-1), nameId, element);
    }
    const rules = this.#rules.rulesOf(frame.node);
    if (rules.length > 0) this.#openScope(rules, element);
    return last;
  }

  #begin(
    scope: RuleScope,
    selections: readonly Selection[] | undefined,
    nameId: number,
    element: OpenElement,
  ): void {
    if (selections === undefined) return;
    for (const { rule, path } of selections)
      this.#advance({ path, step: 0, scope, rule, candidate: null, field: 0 }, nameId, element);
  }

  #openScope(rules: readonly number[], element: OpenElement): void {
    const scope: RuleScope = {
      keys: new Map(),
      inner: new Map(),
      references: new Map(),
      rules,
      anywhere: this.#rules.anywhere(rules),
      held: 0,
    };
    element.frame.scope = scope;
    this.#scopes.push(scope);
    for (const rule of rules) {
      for (const path of this.#rules.rules[rule]!.selector) {
        if (path.anywhere) continue;
        this.#follow({ path, step: 0, scope, rule, candidate: null, field: 0 }, element);
      }
    }
  }

  /** An element below one where `progress` stood. */
  #advance(progress: Progress, nameId: number, element: OpenElement): void {
    const { path, step } = progress;
    // a field's `.//` stays at each level
    if (path.anywhere && step === 0 && progress.candidate !== null)
      (element.frame.progress ??= []).push(progress);
    if (path.steps[step]!(nameId)) this.#follow({ ...progress, step: step + 1 }, element);
  }

  /** `element` is where the path has come to. */
  #follow(progress: Progress, element: OpenElement): void {
    const { path, step, candidate, field, scope, rule } = progress;
    const { frame } = element;
    if (step < path.steps.length) {
      (frame.progress ??= []).push(progress);
    } else if (candidate === null) {
      this.#select(scope, rule, element);
    } else if (path.attribute === null) {
      (frame.captures ??= []).push({ candidate, field });
    } else {
      const { batch, attributes, last } = element;
      for (let i = attributes; i <= last; i += 1) {
        const name = batch.events[i * RECORD_INTS + 1]!;
        if (path.attribute(name))
          setValue(candidate, field, this.#rules.attributeValue(frame.node, name, rangeText(batch, i)));
      }
    }
  }

  #select(scope: RuleScope, rule: number, element: OpenElement): void {
    const { fields } = this.#rules.rules[rule]!;
    const candidate: Candidate = { scope, rule, values: fields.map(() => null), ambiguous: false };
    (element.frame.candidates ??= []).push(candidate);
    for (const [field, paths] of fields.entries()) {
      for (const path of paths) this.#follow({ path, step: 0, scope, rule, candidate, field }, element);
    }
  }

  #end(): void {
    this.#depth -= 1;
    const frame = this.#frames[this.#depth]!;
    if (frame.captures !== null) {
      const text = utf8Text(this.#text.bytes.subarray(0, this.#text.length));
      this.#text.length = 0;
      const value = frame.nil ? null : this.#rules.textValue(frame.node, text);
      for (const { candidate, field } of frame.captures) setValue(candidate, field, value);
    }
    for (const candidate of frame.candidates ?? []) this.#settle(candidate);
    if (frame.scope !== null) this.#closeScope(frame.scope);
    this.#namespaces.leave(frame.namespaces);
    // the next element here may come late, or never: what was held for this one is not to wait for it
    frame.progress = null;
    frame.captures = null;
    frame.candidates = null;
    frame.scope = null;
  }

  #settle({ scope, rule, values, ambiguous }: Candidate): void {
    const { kind, refers } = this.#rules.rules[rule]!;
    if (ambiguous || values.includes(null)) {
      // only a key demands its fields
      if (ambiguous || kind === 'key') this.#faults.note(rule, 'incomplete', values, this.#location());
      return;
    }
    const whole = values.join(betweenFields);
    const tuple = this.#shortKeys.of(whole);
    if (kind !== 'keyref') {
      const keys = setAt(scope.keys, rule);
      if (keys.has(tuple)) this.#faults.note(rule, 'repeated', values, this.#location());
      else {
        keys.add(tuple);
        this.#hold(scope, tuple);
      }
      return;
    }
    if (refers === null || scope.keys.get(refers)?.has(tuple) === true) return;
    let references = scope.references.get(rule);
    if (references === undefined) scope.references.set(rule, (references = new Map()));
    const known = references.get(tuple);
    if (known !== undefined) known.count += 1;
    else {
      references.set(tuple, { count: 1, location: this.#location(), whole });
      this.#hold(scope, whole);
    }
  }

  /** Where the element ends that has just ended. */
  #location(): TextLocation {
    return this.#locate(this.#at);
  }

  #hold(scope: RuleScope, tuple: string): void {
    const bytes = tuple.length + heldValueBytes;
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
    this.#frames.length = 0;
    this.#shortKeys.clear();
    this.#text = new ByteBuffer(256);
  }

  #closeScope(scope: RuleScope): void {
    this.#scopes.pop();
    this.#held -= scope.held;
    for (const [rule, references] of scope.references) {
      const { refers } = this.#rules.rules[rule]!;
      const keys = scope.keys.get(refers!);
      const inner = scope.inner.get(refers!);
      for (const [tuple, { count, location, whole }] of references) {
        if (keys?.has(tuple) !== true && inner?.has(tuple) !== true)
          this.#faults.note(rule, 'dangling', whole.split(betweenFields), location, count);
      }
    }
    for (const outer of this.#scopes) {
      for (const refers of this.#rules.referredFrom(outer.rules)) {
        const keys = scope.keys.get(refers);
        if (keys === undefined) continue;
        const known = setAt(outer.inner, refers);
        for (const tuple of keys) {
          if (known.has(tuple)) continue;
          known.add(tuple);
          this.#hold(outer, tuple);
        }
      }
    }
  }
}
