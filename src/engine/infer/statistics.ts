/** The statistics of documents' content, for each distinct path. They are stored with a schema and merged over runs. Plain JSON. */
import { ALL_CLASSES } from './value-classes.ts';

export interface ValueStatistics {
  /** values seen, empty ones included */
  count: number;
  empty: number;
  /** src/engine/infer/value-classes.ts: classes that every non-empty value has; all bits set while there was none */
  classes: number;
  /** characters */
  minLength: number;
  maxLength: number;
  /** digits before and after the point over all numbers */
  wholeDigits: number;
  minFraction: number;
  maxFraction: number;
  /**
   * least and greatest value, numbers before texts and by size, texts by their characters; truncated to 200 characters; null with
   * --no-samples
   */
  min: string | null;
  max: string | null;
  /** the least hashes of distinct values (k minimum values): an estimate of how many there are */
  sketch: number[];
  /** number of dates with times that have an offset from UTC other than `Z`; absent: none */
  withOffset?: number;
}

export interface ChildStatistics {
  /**
   * index into `elements`: a separate node, or a node of the same name on the path to this one (recursion). The first element directly
   * within one of its own name has a separate node, whose children are those of the outer one if their names are the same.
   */
  element: number;
  /** per parent occurrence */
  minOccurs: number;
  maxOccurs: number;
  /** ordinals of siblings that some parent had before this one, as `packOrdinals` writes them */
  precededBy: number[];
}

export interface AttributeStatistics {
  readonly namespaceUri: string;
  readonly localName: string;
  count: number;
  /** documents that have it somewhere on this path */
  documents: number;
  readonly value: ValueStatistics;
}

export interface ElementStatistics {
  readonly namespaceUri: string;
  readonly localName: string;
  /** it is directly within an element of its own name but, according to the schema, of another type: the two have no common paths */
  readonly apart?: true;
  count: number;
  documents: number;
  /** elements with child elements, with text that is not white space, with both */
  withChildren: number;
  withText: number;
  mixed: number;
  nil: number;
  /** number of pieces of text between tags, including those of white space; 0 if the schema allows no text beside child elements */
  textRuns: number;
  /** elements with attributes that only a wildcard of the schema allows; absent: none */
  withOthers?: number;
  readonly text: ValueStatistics;
  readonly attributes: AttributeStatistics[];
  /** in the order of the siblings' first occurrence */
  readonly children: ChildStatistics[];
}

export interface DocumentStatistics {
  readonly format: 1;
  documents: number;
  bytes: number;
  /** prefix -> uri as the documents declared them */
  readonly namespaces: Record<string, string>;
  readonly elements: ElementStatistics[];
  /** indexes of root elements */
  readonly roots: number[];
  /**
   * Statistics of the same documents, with elements of types that xsi:type names counted separately, under names given by
   * src/engine/infer/declared-places.ts. Absent: no such type has columns or tables of its own.
   */
  byType?: DocumentStatistics;
}

export const sketchSize = 64;

export function emptyValueStatistics(): ValueStatistics {
  return {
    count: 0,
    empty: 0,
    classes: ALL_CLASSES,
    minLength: 0,
    maxLength: 0,
    wholeDigits: 0,
    minFraction: 0,
    maxFraction: 0,
    min: null,
    max: null,
    sketch: [],
  };
}

export function emptyStatistics(): DocumentStatistics {
  return { format: 1, documents: 0, bytes: 0, namespaces: {}, elements: [], roots: [] };
}

export function emptyElementStatistics(namespaceUri: string, localName: string): ElementStatistics {
  return {
    namespaceUri,
    localName,
    count: 0,
    documents: 0,
    withChildren: 0,
    withText: 0,
    mixed: 0,
    nil: 0,
    textRuns: 0,
    text: emptyValueStatistics(),
    attributes: [],
    children: [],
  };
}

/** Adds a hash to a sketch, keeping its least distinct members in ascending order. */
export function addToSketch(sketch: number[], hash: number): void {
  const { length } = sketch;
  if (length === sketchSize && hash >= sketch[length - 1]!) return;
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sketch[middle]! < hash) low = middle + 1;
    else high = middle;
  }
  if (sketch[low] === hash) return;
  sketch.splice(low, 0, hash);
  if (sketch.length > sketchSize) sketch.pop();
}

/** Returns the number of distinct values that a sketch represents: exact below its size, within about 13 % beyond. */
export function distinctEstimate(sketch: readonly number[]): number {
  if (sketch.length < sketchSize) return sketch.length;
  return Math.round((sketchSize - 1) / (sketch[sketchSize - 1]! / 0x100000000));
}

const shortNumber = /^-?(?:\d{1,15}(?:\.\d{1,15})?|\.\d{1,15})$/;
const plainNumber = /^-?(?:\d+(?:\.\d+)?|\.\d+)$/;
const numberParts = /^(-?)0*(\d*)(?:\.(\d+?)0*)?$/;

/** True if `a` precedes `b`: plain decimals before texts and by size, texts by their characters. */
export function isLess(a: string, b: string): boolean {
  if (shortNumber.test(a) && shortNumber.test(b)) {
    // rounding keeps the order of numbers that remain distinct
    const [roundedA, roundedB] = [Number(a), Number(b)];
    if (roundedA !== roundedB) return roundedA < roundedB;
  }
  const [numberA, numberB] = [readNumber(a), readNumber(b)];
  if (numberA === null || numberB === null) {
    return numberA === null && numberB === null ? compareText(a, b) < 0 : numberA !== null;
  }
  const order = compareNumbers(numberA, numberB);
  return order === 0 ? compareText(a, b) < 0 : order < 0;
}

interface PlainNumber {
  readonly negative: boolean;
  /** significant digits, before and after the point */
  readonly whole: string;
  readonly fraction: string;
}

function readNumber(text: string): PlainNumber | null {
  if (!plainNumber.test(text)) return null;
  const [, sign, whole, fraction = ''] = numberParts.exec(text)!;
  const digits = fraction === '0' ? '' : fraction;
  return { negative: sign === '-' && (whole !== '' || digits !== ''), whole: whole!, fraction: digits };
}

function compareNumbers(a: PlainNumber, b: PlainNumber): number {
  if (a.negative !== b.negative) return a.negative ? -1 : 1;
  const size =
    a.whole.length - b.whole.length || compareText(a.whole, b.whole) || compareText(a.fraction, b.fraction);
  return a.negative ? -size : size;
}

/** Compares by code points, as the bytes of UTF-8 sort; strings themselves compare by UTF-16 units. */
function compareText(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at += 1) {
    const [unitA, unitB] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (unitA !== unitB) return codePointRank(unitA) - codePointRank(unitB);
  }
  return a.length - b.length;
}

/** Surrogates represent characters beyond all others. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** Discards the statistics of digits, which are meaningless if some values are not numbers. */
export function forgetDigits(value: ValueStatistics): void {
  value.wholeDigits = 0;
  value.minFraction = 0;
  value.maxFraction = 0;
}
