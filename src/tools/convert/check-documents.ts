/**
 * The pass over documents before any of them is loaded: whether they are well-formed, start as they may and, with `--validate`, are
 * valid.
 */
import {
  KIND_END,
  KIND_MASK,
  KIND_START,
  RECORD_INTS,
  type TextLocation,
  type TokenBatch,
  KIND_ATTRIBUTE,
  type NameTable,
} from '../../engine/xml/tokens.ts';
import { InputError } from '../../engine/diagnostics.ts';
import type { RowElementName } from '../../engine/shred/row-tag/elements.ts';
import { createRootCheck, type RootRule } from '../../engine/shred/open-document.ts';
import { createFastXmlTokenizer } from '../../engine/xml/tokenizer/fast.ts';
import { createNameTable } from '../../engine/xml/names/interned.ts';
import type { DocumentValidator, Unjudged, Validity, ValidityFault } from '../../ports/processes.ts';
import { createDocumentCut, documentName, type DocumentCut } from '../load/document-cut.ts';
import type { InputSet } from '../../inputs/list-files.ts';
import { tokenizing, walkDocument, type DocumentReader } from '../../inputs/read-document.ts';
import type { Rejects } from '../load/findings.ts';
import type { ToolSession } from '../session/tool-session.ts';
import type { EngineLimits } from '../../engine/limits.ts';
import { withInternalSubset } from '../../engine/xml/dtd/as-internal.ts';
import { namesParts } from '../../inputs/external-files.ts';
import type { InputMember } from '../../inputs/members.ts';

// Maps lines to tags for validators, which report lines although a document may have only one. Each tag of a checked document gets a line
// end of its own (white space before `>` means nothing). The reported line then identifies the tag, with its line and column in the
// document.

type Locate = (recordIndex: number) => TextLocation;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const lessThan = 0x3c;
const greaterThan = 0x3e;
const slash = 0x2f;
const exclamation = 0x21;
const question = 0x3f;
const lineEnd = Uint8Array.of(lineFeed);

/** Whether offsets of the tokeniser, which are those of the text in UTF-8, are those of the bytes. */
export function isUtf8(bytes: Uint8Array): boolean {
  const head = String.fromCharCode(...bytes.subarray(0, 200));
  if (/^(?:\xfe\xff|\xff\xfe)|\0|^(?:\xef\xbb\xbf)?<\?xml\s+version\s*=\s*["']1\.1/.test(head)) return false;
  const [, encoding = 'utf-8'] =
    /^(?:\xef\xbb\xbf)?<\?xml[^>]*\sencoding\s*=\s*["']([^"']*)/.exec(head) ?? [];
  return /^(?:utf-8|us-ascii)$/i.test(encoding);
}

/** A CR alone is a line end, too, and some programs do not count it. */
function withLineFeeds(document: Uint8Array): Uint8Array {
  let at = document.indexOf(carriageReturn);
  if (at < 0) return document;
  const changed = document.slice();
  for (; at >= 0; at = document.indexOf(carriageReturn, at + 1))
    if (document[at + 1] !== lineFeed) changed[at] = lineFeed;
  return changed;
}

/** The tags of a batch; an empty element's tag once. */
function* tagsOf({ events, count }: TokenBatch): Iterable<number> {
  let last = -1;
  for (let record = 0; record < count; record += 1) {
    const n = record * RECORD_INTS;
    const kind = events[n]! & KIND_MASK;
    if (kind !== KIND_START && kind !== KIND_END) continue;
    const start = events[n + 2]!;
    if (kind === KIND_END && start === last) continue;
    last = start;
    yield record;
  }
}

/** Collects the ends of a document's tags, batch by batch. */
export function createTagMarker() {
  const starts: number[] = [];
  const ends: number[] = [];
  return {
    take(batch: TokenBatch, locate: Locate): void {
      for (const record of tagsOf(batch)) {
        const n = record * RECORD_INTS;
        const { offset } = locate(record);
        starts.push(offset);
        ends.push(offset + batch.events[n + 3]! - batch.events[n + 2]!);
      }
    },
    /** Returns the document with a line end before the end of each tag, or null if it has tags in the text of entities. */
    marked(given: Uint8Array): Uint8Array | null {
      const document = withLineFeeds(given);
      const marked = new Uint8Array(document.length + ends.length);
      let from = 0;
      let to = 0;
      for (const [tag, end] of ends.entries()) {
        if (document[starts[tag]!] !== lessThan || document[end - 1] !== greaterThan) return null;
        const at = document[end - 2] === slash ? end - 2 : end - 1;
        marked.set(document.subarray(from, at), to);
        to += at - from;
        marked[to++] = lineFeed;
        from = at;
      }
      marked.set(document.subarray(from), to);
      return marked;
    },
  };
}

/** Limit for the size of a tag whose end is not known yet. An apparent tag in a comment is not awaited longer. */
const maxHeldBytes = 64 * 1024 * 1024;

/** Marks a document that comes bit by bit, as its tokeniser finds the tags. */
export function createStreamMarker() {
  /** bytes that have not been passed on yet */
  let held: Uint8Array = new Uint8Array(0);
  let heldFrom = 0;
  /** start and end of each tag, as offsets in the buffered bytes */
  let tags: { readonly start: number; readonly end: number }[] = [];
  /** false: the text of entities contains tags; from the first of them on, tags have no lines of their own */
  let isWhole = true;
  return {
    take(batch: TokenBatch, locate: Locate): void {
      for (const record of tagsOf(batch)) {
        const n = record * RECORD_INTS;
        const start = locate(record).offset;
        tags.push({ start, end: start + batch.events[n + 3]! - batch.events[n + 2]! });
      }
    },
    /** Returns the part of the document that is final so far, with its tags marked. The tokeniser has already processed `piece`. */
    marked(piece: Uint8Array): Uint8Array {
      held = held.length === 0 ? piece.slice() : Buffer.concat([held, piece]);
      const done = tags.at(-1)?.end ?? heldFrom;
      return release(Math.max(done - heldFrom, sureBytes(Math.max(0, done - heldFrom))));
    },
    rest: (): Uint8Array => release(held.length),
  };

  /** Returns the number of bytes up to a possible incomplete tag, or half of a line end. */
  function sureBytes(from: number): number {
    if (held.length - from > maxHeldBytes) return held.length;
    for (let at = held.indexOf(lessThan, from); at >= 0; at = held.indexOf(lessThan, at + 1)) {
      const next = held[at + 1];
      if (next !== exclamation && next !== question) return at;
    }
    return held.at(-1) === carriageReturn ? held.length - 1 : held.length;
  }

  function release(bytes: number): Uint8Array {
    const sure = withLineFeeds(held.subarray(0, bytes));
    const parts: Uint8Array[] = [];
    let from = 0;
    for (const { start, end } of tags) {
      const [at, behind] = [start - heldFrom, end - heldFrom];
      if (!isWhole || sure[at] !== lessThan || sure[behind - 1] !== greaterThan) {
        isWhole = false;
        break;
      }
      const close = sure[behind - 2] === slash ? behind - 2 : behind - 1;
      parts.push(sure.subarray(from, close), lineEnd);
      from = close;
    }
    parts.push(sure.subarray(from));
    tags = [];
    held = held.subarray(bytes);
    heldFrom += bytes;
    return Buffer.concat(parts);
  }
}

// The pass.

/** Larger documents are streamed to the validator; many smaller ones are checked at a time. */
const smallBytes = 8 * 1024 * 1024;
const batchBytes = 32 * 1024 * 1024;
const batchDocuments = 500;
const pieceBytes = 128 * 1024;

interface Waiting {
  readonly inputIndex: number;
  readonly name: string;
  readonly bytes: Uint8Array;
  /** its tags have lines of their own */
  readonly marked: boolean;
}

interface Invalid {
  readonly name: string;
  readonly validity: Validity;
  readonly marked: boolean;
}

export interface DocumentsToCheck {
  readonly inputs: InputSet;
  readonly rowTag: RowElementName | null;
  readonly roots: RootRule;
}

/**
 * Rejects documents that are not well-formed, have a root that is not allowed, or are invalid: `--on-error fail` throws the InputError
 * of the first such document, `skip` adds entries to the session's rejects. `validator` null: validity is not checked.
 */
export async function checkDocuments(
  session: ToolSession,
  documents: DocumentsToCheck,
  validator: DocumentValidator | null,
): Promise<void> {
  const { inputs } = documents;
  const check = new DocumentCheck(session, documents, validator);
  let inputIndex = 0;
  for await (const member of inputs.members()) {
    await check.take(member, inputIndex);
    inputIndex += 1;
  }
  await check.finish();
}

class DocumentCheck {
  readonly #session: ToolSession;
  readonly #inputs: InputSet;
  readonly #validator: DocumentValidator | null;
  readonly #rejects: Rejects;
  readonly #names = createNameTable();
  readonly #documents: DocumentCut;
  /** faults by input index, reported in the order of the inputs */
  readonly #broken = new Map<number, InputError>();
  readonly #invalid = new Map<number, Invalid>();
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  /** documents and bytes that were read */
  #count = 0;
  #bytes = 0;

  constructor(
    session: ToolSession,
    { inputs, rowTag, roots }: DocumentsToCheck,
    validator: DocumentValidator | null,
  ) {
    this.#session = session;
    this.#inputs = inputs;
    this.#validator = validator;
    this.#rejects = session.rejects;
    const check = createRootCheck(roots, this.#names);
    this.#documents = createDocumentCut(rowTag, this.#names, {
      begin: (file, number) => check.begin(documentName(file, number)),
      consume: (batch, locate) => check.consume(batch, locate),
      end: () => undefined,
    });
  }

  async take(member: InputMember, inputIndex: number): Promise<void> {
    this.#count += 1;
    try {
      if (this.#validator === null) await this.#read(member);
      else await this.#validate(member, inputIndex, this.#validator);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      this.#broken.set(inputIndex, error);
      if (this.#session.request.onError !== 'skip') await this.finish();
    }
    if (this.#waitingBytes > batchBytes || this.#waiting.length >= batchDocuments) await this.#checkWaiting();
  }

  async finish(): Promise<void> {
    await this.#checkWaiting();
    const errors = new Map([...this.#broken, ...(await this.#locateInvalid())]);
    for (const [inputIndex, error] of [...errors].toSorted(([a], [b]) => a - b)) {
      if (this.#session.request.onError !== 'skip') throw error;
      await this.#rejects.add(inputIndex, error);
    }
  }

  #tell(bytes: number): void {
    this.#bytes = bytes;
    this.#session.progress(0, { pass: 'checking', documents: this.#count, bytes, rows: null });
  }

  /** The document to its end; `seen` is given each piece when it has been found well-formed so far. */
  #read(member: InputMember, onBatch: DocumentReader['onBatch'] = () => undefined): Promise<unknown> {
    const { limits, kernels } = this.#session;
    this.#documents.beginFile(member.name);
    const before = this.#bytes;
    return walkDocument(member, {
      names: this.#names,
      limits,
      kernels,
      onBatch: (batch, locate) => {
        this.#documents.consume(batch, locate);
        onBatch(batch, locate);
      },
      afterChunk: (_, read) => this.#tell(before + read),
    });
  }

  async #validate(member: InputMember, inputIndex: number, validator: DocumentValidator): Promise<void> {
    const chunks = selfContained(member, this.#session.limits);
    try {
      await this.#validateChunks(member, inputIndex, validator, chunks);
    } finally {
      // a document that is given up in the middle keeps its file open otherwise
      await chunks.return(undefined);
    }
  }

  async #validateChunks(
    member: InputMember,
    inputIndex: number,
    validator: DocumentValidator,
    chunks: AsyncIterator<Uint8Array>,
  ): Promise<void> {
    const head: Uint8Array[] = [];
    let bytes = 0;
    let next = await chunks.next();
    for (; next.done !== true && bytes <= smallBytes; next = await chunks.next()) {
      head.push(next.value);
      bytes += next.value.length;
    }
    if (next.done === true) {
      await this.#await(member, inputIndex, new Uint8Array(Buffer.concat(head)));
      return;
    }
    const first = next.value;
    const all = async function* (): AsyncIterable<Uint8Array> {
      yield* head.splice(0);
      yield first;
      for (let more = await chunks.next(); more.done !== true; more = await chunks.next()) yield more.value;
    };
    const marker = isUtf8(Buffer.concat(head)) ? createStreamMarker() : null;
    const validity = await validator.check(this.#sound(member, all(), validator, marker));
    if (isValid(validity)) return;
    this.#invalid.set(inputIndex, { name: member.name, validity, marked: marker !== null });
  }

  /** A small document, until there are enough to be checked. */
  async #await(member: InputMember, inputIndex: number, bytes: Uint8Array): Promise<void> {
    const marker = isUtf8(bytes) ? createTagMarker() : null;
    const whole: InputMember = { ...member, chunks: () => [bytes] };
    await this.#read(whole, (batch, locate) => marker?.take(batch, locate));
    const marked = marker?.marked(bytes) ?? null;
    this.#waiting.push({ inputIndex, name: member.name, bytes: marked ?? bytes, marked: marked !== null });
    this.#waitingBytes += bytes.length;
  }

  async #checkWaiting(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (this.#validator === null || waiting.length === 0) return;
    const answers = await this.#validator.checkAll(waiting.map(({ bytes }) => bytes));
    for (const [at, validity] of answers.entries()) {
      if (isValid(validity)) continue;
      const { inputIndex, name, marked } = waiting[at]!;
      this.#invalid.set(inputIndex, { name, validity, marked });
    }
    if (this.#invalid.size > 0 && this.#session.request.onError !== 'skip') await this.finish();
  }

  /**
   * Yields the pieces of a document after our own reader has accepted each: no other parser sees content that is over a limit or
   * unsafe.
   */
  async *#sound(
    member: InputMember,
    chunks: AsyncIterable<Uint8Array>,
    { maxTextBytes, program }: DocumentValidator,
    marker: ReturnType<typeof createStreamMarker> | null,
  ): AsyncIterable<Uint8Array> {
    const { kernels } = this.#session;
    const xmlMaxTextBytes = Math.min(this.#session.limits.xmlMaxTextBytes, maxTextBytes);
    const limits = { ...this.#session.limits, xmlMaxTextBytes };
    this.#documents.beginFile(member.name);
    const locate = (record: number): TextLocation => tokenizer.locate(record);
    const onBatch = (batch: TokenBatch): void => {
      this.#documents.consume(batch, locate);
      marker?.take(batch, locate);
    };
    const options = { ...tokenizing(member), names: this.#names, limits, onBatch };
    const tokenizer = createFastXmlTokenizer(options, kernels);
    try {
      for await (const chunk of chunks) {
        for (let at = 0; at < chunk.length; at += pieceBytes) {
          const piece = chunk.subarray(at, at + pieceBytes);
          tokenizer.write(piece);
          this.#tell(this.#bytes + piece.length);
          yield marker?.marked(piece) ?? piece;
        }
      }
      tokenizer.end();
      if (marker !== null) yield marker.rest();
    } catch (error) {
      const isTooLong = error instanceof InputError && error.diagnostic.code === 'xml_text_limit';
      if (!isTooLong || this.#session.limits.xmlMaxTextBytes <= maxTextBytes) throw error;
      const message = `--validate: a value has more than ${maxTextBytes / 1024 ** 2} MiB, which would take ${program} hours; load this document without --validate`;
      throw new InputError({ ...error.diagnostic, message });
    }
  }

  /** Returns errors with line and column: invalid documents are read up to the tags that the validator reported. */
  async #locateInvalid(): Promise<Map<number, InputError>> {
    const errors = new Map<number, InputError>();
    if (this.#invalid.size === 0) return errors;
    let inputIndex = 0;
    for await (const member of this.#inputs.members()) {
      const invalid = this.#invalid.get(inputIndex);
      if (invalid !== undefined) {
        errors.set(inputIndex, await this.#errorOf(member, invalid));
        if (errors.size === this.#invalid.size) break;
      }
      inputIndex += 1;
    }
    this.#invalid.clear();
    return errors;
  }

  /** Its line and column in the document, whatever the program was given. */
  async #errorOf(member: InputMember, { name, validity, marked }: Invalid): Promise<InputError> {
    const { faults, unjudged } = validity;
    // a fault without a location is reported at the root element
    const told = faults[0] ?? unjudged?.location ?? { line: 1, path: [1] };
    const linesBefore = (member.start?.line ?? 1) - 1;
    const lead = { ...told, line: told.line + linesBefore };
    const found = await this.#locationOf(member, lead, marked);
    return new InputError({
      code: unjudged === null ? 'xml_not_valid' : 'xml_not_judged',
      severity: 'error',
      message: unjudged === null ? invalidity(validity) : this.#unjudged(unjudged),
      file: name,
      line: found?.line ?? (marked ? linesBefore + 1 : lead.line),
      column: found?.column ?? 1,
    });
  }

  #unjudged({ reason, isLate = false }: Unjudged): string {
    if (isLate) return `--validate: ${reason}; load it without --validate, or raise the limit`;
    const program = this.#validator?.program ?? '';
    const install = program.includes('xmllint')
      ? ''
      : ', or install xmllint (libxml2-utils), which may be able to';
    return `--validate: ${program} cannot check this document: ${reason}; load it without --validate${install}`;
  }

  async #locationOf(member: InputMember, lead: FaultLead, marked: boolean): Promise<TextLocation | null> {
    const finder = createFaultFinder(lead, marked, this.#names);
    await this.#read(member, (batch, locate) => finder.take(batch, locate));
    return finder.location;
  }
}

/** bytes of a document with a DTD that are searched for its root element */
const prologBytes = 256 * 1024;

/** Yields the document with the declarations of its external DTD included, because the validator reads no other file. */
async function* selfContained(
  { chunks, external }: InputMember,
  limits: EngineLimits,
): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const chunk of chunks()) {
    const isNamed =
      isFirst && external !== undefined && namesParts(chunk) && isUtf8(chunk.subarray(0, prologBytes));
    isFirst = false;
    const own = isNamed ? withInternalSubset(chunk.subarray(0, prologBytes), external, limits) : null;
    if (own === null) yield chunk;
    else {
      yield own;
      if (chunk.length > prologBytes) yield chunk.subarray(prologBytes);
    }
  }
}

function isValid({ count, unjudged }: Validity): boolean {
  return count === 0 && unjudged === null;
}

function invalidity({ faults, count }: Validity): string {
  return `not valid: ${faults[0]!.message}${count === 1 ? '' : ` (the first of ${count} faults)`}`;
}

// Finds the line and column of a fault in the document from the validator's report.

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
