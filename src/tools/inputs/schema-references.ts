/** Finds the references of schema documents. Reading stops after the last reference. */
import { InputError } from '../../engine/diagnostics.ts';
import { createNameTable } from '../../engine/xml/names/expanded-names.ts';
import { readBatchText } from '../../engine/xml/kernel/tape.ts';
import { createFastXmlTokenizer, createTokenizerKernels } from '../../engine/xml/tokenizer/fast.ts';
import {
  KIND_ATTRIBUTE,
  KIND_END,
  KIND_MASK,
  KIND_START,
  RECORD_INTS,
  type NameTable,
  type TokenBatch,
} from '../../engine/xml/tokens.ts';

export interface SetReference {
  readonly location: string | null;
  /** the namespace that an import names */
  readonly namespace: string | null;
}

/** A reference to a file beside the one that has it, not an address or a path of the whole machine. */
export function isRelativeLocation(location: string | null): location is string {
  return location !== null && !/^(?:[A-Za-z][A-Za-z0-9+.-]*:|[/\\])/.test(location);
}

const xsNamespace = 'http://www.w3.org/2001/XMLSchema';
const kinds: ReadonlySet<string> = new Set(['include', 'import', 'redefine', 'override']);
/** Start tags of these names, and entities, whose text may hold some. */
const mayRefer = /<(?:[^ \t\r\n/<>:]+:)?(?:include|import|redefine|override)[\s/>]|<!ENTITY/g;
/** most schema documents have all of theirs within the first of these */
const pieceBytes = 4096;

/** Returns a reader of references. It returns none for text that is not well-formed as far as it is read; the compiler reports that. */
export function createReferenceReader(): (bytes: Uint8Array<ArrayBuffer>) => readonly SetReference[] {
  const names = createNameTable();
  const kernels = createTokenizerKernels(0);
  return (bytes) => {
    const most = mostReferences(bytes);
    if (most === 0) return [];
    const reading = new ReferenceReading(names);
    const { references } = reading;
    const onBatch = (batch: TokenBatch): void => reading.take(batch);
    const tokenizer = createFastXmlTokenizer({ names, windowBytes: pieceBytes, onBatch }, kernels);
    try {
      for (let from = 0; from < bytes.length && references.length < most; from += pieceBytes)
        tokenizer.write(bytes.subarray(from, from + pieceBytes));
      tokenizer.end();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      // an error after stopping early is no fault of the document
      if (references.length < most) return [];
    }
    return references;
  };
}

/**
 * Returns an upper bound for the number of references, including apparent ones in comments and annotations. Infinity if the bytes alone
 * do not tell.
 */
function mostReferences(bytes: Uint8Array<ArrayBuffer>): number {
  // tags are written otherwise than in ASCII by two bytes or four for each character, or behind the escapes of ISO-2022-JP
  if (bytes.subarray(0, 4).some((byte) => byte === 0 || byte > 0xef) || bytes.includes(0x1b)) return Infinity;
  const found = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('latin1')
    .match(mayRefer);
  return found?.includes('<!ENTITY') ? Infinity : (found?.length ?? 0);
}

class ReferenceReading {
  readonly references: { location: string | null; namespace: string | null }[] = [];
  readonly #names: NameTable;
  #depth = 0;

  constructor(names: NameTable) {
    this.#names = names;
  }

  take(batch: TokenBatch): void {
    let isWithin = false;
    for (let record = 0; record < batch.count; record += 1) {
      const kind = batch.events[record * RECORD_INTS]! & KIND_MASK;
      const name = batch.events[record * RECORD_INTS + 1]!;
      if (kind === KIND_END) this.#depth -= 1;
      else if (kind === KIND_START) {
        this.#depth += 1;
        isWithin = this.#depth === 2 && this.#isReference(name);
        if (isWithin) this.references.push({ location: null, namespace: null });
      } else if (kind === KIND_ATTRIBUTE && isWithin) this.#note(batch, record, this.#names.localName(name));
    }
  }

  #isReference(name: number): boolean {
    return this.#names.namespaceUri(name) === xsNamespace && kinds.has(this.#names.localName(name));
  }

  #note(batch: TokenBatch, record: number, attribute: string): void {
    if (attribute !== 'schemaLocation' && attribute !== 'namespace') return;
    const which = attribute === 'namespace' ? 'namespace' : 'location';
    this.references.at(-1)![which] ??= readBatchText(batch, record).trim() || null;
  }
}
