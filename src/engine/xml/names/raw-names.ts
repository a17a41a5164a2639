/** Raw names, with their prefixes as written, and the facts that are stored for each. */
import { ByteInterner, grown, hashBytes } from './byte-interner.ts';
import { COLON, NAME_START, isWideNameStart, nameClass } from '../characters.ts';
import type { TokenizerMemory } from '../tokenizer/memory.ts';

/** Name without a prefix. */
export const NAME_LOCAL = 0;
/** `prefix:local`. */
export const NAME_PREFIXED = 1;
/** `xmlns` or `xmlns:prefix`: as an attribute, a namespace declaration. */
export const NAME_DECLARATION = 2;

/**
 * Qualified names as written in the document, interned by bytes, with the facts that the scanner has learnt about each. The columns are
 * indexed by raw name id; id 0 is the empty name, which predicts nothing.
 */
export class RawNames {
  readonly interner: ByteInterner;
  kinds: Int32Array;
  /** raw id of the prefix ('' = 0); of `xmlns:p`, the id of `p` */
  prefixes: Int32Array;
  /** namespace context that `elementNames` holds for; -1 for none yet */
  elementContexts: Int32Array;
  /** expanded name id as an element, or as a prefixed attribute */
  elementNames: Int32Array;
  /** expanded name id as an attribute without prefix; -1 until asked for */
  attributeNames: Int32Array;
  /** serial of the last start tag that had an attribute of this name */
  seenIn: Int32Array;
  /** attribute name that came next last time */
  nextAttributes: Int32Array;
  /** element name that came next last time: [2 * id] after its start tag, [2 * id + 1] after its end tag */
  nextElements: Int32Array;
  readonly locals: string[] = [''];

  constructor(memory: TokenizerMemory) {
    const { names } = memory;
    this.interner = new ByteInterner(memory);
    this.kinds = memory.ints(names);
    this.prefixes = memory.ints(names);
    this.elementContexts = memory.ints(names).fill(-1);
    this.elementNames = memory.ints(names);
    this.attributeNames = memory.ints(names).fill(-1);
    this.seenIn = memory.ints(names);
    this.nextAttributes = memory.ints(names);
    this.nextElements = memory.ints(names * 2);
  }

  /** Id of a name of valid name characters; -1 when it is not a qualified name (Namespaces in XML 1.0 §4). */
  intern(bytes: Uint8Array, from: number, to: number, hash: number): number {
    const known = this.interner.intern(bytes, from, to, hash);
    if (known >= 0) return this.kinds[known]! < 0 ? -1 : known;
    return this.describe(-1 - known, bytes, from, to);
  }

  private describe(id: number, bytes: Uint8Array, from: number, to: number): number {
    while (id >= this.kinds.length) this.grow();
    const text = this.interner.text(id);
    const colon = text.indexOf(':');
    this.locals[id] = text.slice(colon + 1);
    if (colon < 0) {
      this.kinds[id] = text === 'xmlns' ? NAME_DECLARATION : NAME_LOCAL;
      return id;
    }
    if (!isNcName(text.slice(0, colon)) || !isNcName(text.slice(colon + 1))) {
      this.kinds[id] = -1;
      return -1;
    }
    const declares = text.startsWith('xmlns:');
    const split = from + bytes.subarray(from, to).indexOf(COLON);
    const prefix = declares ? this.internPart(bytes, split + 1, to) : this.internPart(bytes, from, split);
    this.kinds[id] = declares ? NAME_DECLARATION : NAME_PREFIXED;
    this.prefixes[id] = prefix;
    return id;
  }

  private internPart(bytes: Uint8Array, from: number, to: number): number {
    return this.intern(bytes, from, to, hashBytes(bytes, from, to));
  }

  private grow(): void {
    const size = this.kinds.length;
    this.kinds = grown(this.kinds);
    this.prefixes = grown(this.prefixes);
    this.elementContexts = grown(this.elementContexts).fill(-1, size);
    this.elementNames = grown(this.elementNames);
    this.attributeNames = grown(this.attributeNames).fill(-1, size);
    this.seenIn = grown(this.seenIn);
    this.nextAttributes = grown(this.nextAttributes);
    this.nextElements = grown(this.nextElements);
  }
}

/** True if a part of a name may be on either side of the colon. Its characters are known to be name characters. */
function isNcName(part: string): boolean {
  const first = part.codePointAt(0);
  if (first === undefined || part.includes(':')) return false;
  return first < 0x80 ? nameClass[first] === NAME_START : isWideNameStart(first);
}
