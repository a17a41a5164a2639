/** Finds the line and column of a fault in the document from the validator's report. */
import type { ValidityFault } from '../../ports/processes/document-validator.ts';
import {
  KIND_ATTRIBUTE,
  KIND_END,
  KIND_MASK,
  KIND_START,
  RECORD_INTS,
  type NameTable,
  type TextLocation,
  type TokenBatch,
} from '../../engine/xml/tokens.ts';

type Locate = (recordIndex: number) => TextLocation;

const lineFeed = 0x0a;

/** The fields that locate a fault: line, path, and the names and message of the validator. */
export interface FaultLead extends Pick<ValidityFault, 'line' | 'path'> {
  /** names as the validator gives them, if it does */
  readonly element?: ValidityFault['element'];
  readonly attribute?: ValidityFault['attribute'];
  readonly message?: ValidityFault['message'];
}

/** A tag of the document, as a check sees it. */
interface SeenTag {
  readonly isStart: boolean;
  readonly localName: string;
  readonly start: TextLocation;
  /** line of its end, in the text that the program was given */
  readonly endLine: number;
}

/** Returns whose start is the place: that of the tag's element, or of its parent; null for neither. */
type TagCheck = (tag: SeenTag) => 'element' | 'parent' | null;

/**
 * Finds the start tag, or the attribute, that a fault refers to: a fault at the end of an element belongs to the element. `marked`: the
 * fault's line is that of the marked document.
 */
export function createFaultFinder(fault: FaultLead, marked: boolean, names: NameTable) {
  const check = fault.path === null ? createLineCheck(fault, marked) : createPathCheck(fault.path);
  /** start locations of the open elements */
  const starts: TextLocation[] = [];
  let tags = 0;
  let last = -1;
  let location: TextLocation | null = null;
  return {
    /** null until it is found */
    get location(): TextLocation | null {
      return location;
    },
    take(batch: TokenBatch, locate: Locate): void {
      for (let record = 0; record < batch.count && location === null; record += 1) {
        const n = record * RECORD_INTS;
        const kind = batch.events[n]! & KIND_MASK;
        if (kind !== KIND_START && kind !== KIND_END) continue;
        const isStart = kind === KIND_START;
        const start = locate(record);
        // START and END of an empty element are one tag
        if (start.offset !== last) tags += 1;
        last = start.offset;
        const text = batch.bytes.subarray(batch.events[n + 2], batch.events[n + 3]);
        const lines = text.reduce((sum, byte) => sum + (byte === lineFeed ? 1 : 0), 0);
        const endLine = start.line + lines + (marked ? tags : 0);
        if (isStart) starts.push(start);
        const own = isStart ? start : starts.pop()!;
        const found = check({ isStart, localName: names.localName(batch.events[n + 1]!), start, endLine });
        if (found === 'element')
          location = (isStart ? attributeLocation(batch, record, locate) : null) ?? own;
        if (found === 'parent') location = starts.at(isStart ? -2 : -1) ?? own;
      }
    },
  };

  function attributeLocation(batch: TokenBatch, tag: number, locate: Locate): TextLocation | null {
    for (let record = tag + 1; record < batch.count; record += 1) {
      const kind = batch.events[record * RECORD_INTS]! & KIND_MASK;
      if (kind === KIND_START || kind === KIND_END) return null;
      if (kind !== KIND_ATTRIBUTE) continue;
      if (names.localName(batch.events[record * RECORD_INTS + 1]!) === fault.attribute) return locate(record);
    }
    return null;
  }
}

function createPathCheck(path: readonly number[]): TagCheck {
  /** children so far, of each element of the path that has been found */
  const counts: number[] = [0];
  let depth = 0;
  let found = 0;
  return ({ isStart }) => {
    depth += isStart ? 1 : -1;
    if (!isStart || depth !== found + 1) return null;
    counts[found]! += 1;
    if (counts[found] !== path[found]) return null;
    found += 1;
    counts[found] = 0;
    return found === path.length ? 'element' : null;
  };
}

function createLineCheck(fault: FaultLead, marked: boolean): TagCheck {
  const { line, element = null, message = '' } = fault;
  // reported at the end of the text, which is after the tag of that line
  const ofText = /: Character content /.test(message);
  // reported for an element at the start of one of its children
  const ofChild = /: Element content is not allowed/.test(message);
  return ({ isStart, localName, endLine }) => {
    // in the text before the tag
    if (endLine > line && marked) return isStart ? 'parent' : 'element';
    if (endLine !== line) return null;
    if (ofText) return isStart ? 'element' : 'parent';
    if (ofChild && isStart) return 'parent';
    return marked || element === null || localName === element ? 'element' : null;
  };
}
