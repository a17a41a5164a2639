/** What is known of the elements that are open while rules are checked: scopes, candidates, and paths on their way to them. */
import type { TextLocation, TokenBatch } from '../xml/tokens.ts';
import type { CompiledPath } from './compiled-rules.ts';

/** An element that declares constraints and is open. */
export interface RuleScope {
  /** by rule (key, unique): the values so far */
  readonly keys: Map<number, Set<string>>;
  /** the same of scopes inside that have ended, as far as keyrefs of this element refer to them (§3.11.5) */
  readonly inner: Map<number, Set<string>>;
  /** by keyref: values not met as keys so far */
  readonly references: Map<number, Map<string, Reference>>;
  readonly rules: readonly number[];
  /** selectors that begin with `.//`, by the first name; -1 for any name */
  readonly anywhere: ReadonlyMap<number, readonly Selection[]>;
  held: number;
}

export interface Selection {
  readonly rule: number;
  readonly path: CompiledPath;
}

export interface Reference {
  count: number;
  readonly location: TextLocation;
  /** the values, in full */
  readonly whole: string;
}

/** An element that a selector found. */
export interface Candidate {
  readonly scope: RuleScope;
  readonly rule: number;
  readonly values: (string | null)[];
  /** a field was found more than once */
  ambiguous: boolean;
}

/** A path that is followed: `step` names have been passed. */
export interface Progress {
  readonly path: CompiledPath;
  readonly step: number;
  readonly scope: RuleScope;
  readonly rule: number;
  /** a field's path; null: a selector's */
  readonly candidate: Candidate | null;
  readonly field: number;
}

export interface Capture {
  readonly candidate: Candidate;
  readonly field: number;
}

export interface ElementFrame {
  node: number;
  namespaces: number;
  nil: boolean;
  progress: Progress[] | null;
  captures: Capture[] | null;
  candidates: Candidate[] | null;
  scope: RuleScope | null;
}

/** An element whose START is being read. */
export interface OpenElement {
  readonly batch: TokenBatch;
  /** records of its attributes: from the first to the last */
  readonly attributes: number;
  readonly last: number;
  readonly frame: ElementFrame;
}

export function newFrame(): ElementFrame {
  return {
    node: -1,
    namespaces: 0,
    nil: false,
    progress: null,
    captures: null,
    candidates: null,
    scope: null,
  };
}

export function setValue(candidate: Candidate, field: number, value: string | null): void {
  if (candidate.values[field] !== null) candidate.ambiguous = true;
  else candidate.values[field] = value;
}

export function setAt(sets: Map<number, Set<string>>, rule: number): Set<string> {
  let set = sets.get(rule);
  if (set === undefined) sets.set(rule, (set = new Set()));
  return set;
}
