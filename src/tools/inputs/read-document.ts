/** Feeds one document through the tokeniser; the thread is given back between pieces, so that sockets keep moving. */
import { createHash } from 'node:crypto';
import { InputError } from '../../engine/diagnostics.ts';
import type { EngineLimits } from '../../engine/limits.ts';
import { locationsBehind } from '../../engine/shred/row-tag/ranges.ts';
import { createFastXmlTokenizer, type TokenizerKernels } from '../../engine/xml/tokenizer/fast.ts';
import { createXmlTokenizer } from '../../engine/xml/tokenizer/portable.ts';
import type { NameTable, TextLocation, TokenBatch, XmlTokenizer } from '../../engine/xml/tokens.ts';
import type { DocumentRange, InputMember } from './members.ts';

export interface DocumentReader {
  readonly names: NameTable;
  readonly limits: EngineLimits;
  /** made once per process */
  readonly kernels: TokenizerKernels;
  /** called for every batch of tokens */
  readonly onBatch: (batch: TokenBatch, locate: (recordIndex: number) => TextLocation) => void;
  /** called after every piece of input, with its size and what has been read by then; awaited: back-pressure */
  readonly afterChunk: (bytes: number, read: number) => Promise<void> | void;
}

/** bytes given to the tokeniser at a time: what it makes of them must fit into the output buffers */
const pieceBytes = 128 * 1024;

/** As `walkDocument`, with the document's SHA-256 (hex); of a range it is that of the whole file. */
export async function readDocument(
  member: InputMember,
  reader: DocumentReader,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  if (member.range !== undefined)
    return { bytes: await walkRange(member, member.range, reader), sha256: member.range.sha256 };
  const hash = createHash('sha256');
  const bytes = await walkWhole(member, reader, (chunk) => void hash.update(chunk));
  return { bytes, sha256: hash.digest('hex') };
}

/**
 * The document, or the range of it, from beginning to end; answers how many bytes that is. InputError: not well-formed or over a
 * limit, with file, line and column.
 */
export async function walkDocument(member: InputMember, reader: DocumentReader): Promise<number> {
  return member.range === undefined
    ? walkWhole(member, reader, () => undefined)
    : walkRange(member, member.range, reader);
}

async function walkWhole(
  member: InputMember,
  reader: DocumentReader,
  onChunk: (chunk: Uint8Array) => void,
): Promise<number> {
  let bytes = 0;
  const locate = (recordIndex: number): TextLocation => tokenizer.locate(recordIndex);
  const tokenizer = tokenizerOf(member, reader, reader.limits, (batch) => reader.onBatch(batch, locate));
  for await (const chunk of member.chunks('fleeting')) {
    onChunk(chunk);
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      const piece = chunk.subarray(at, Math.min(at + pieceBytes, chunk.length));
      tokenizer.write(piece);
      bytes += piece.length;
      const pause = reader.afterChunk(piece.length, bytes);
      if (pause !== undefined) await pause;
    }
  }
  tokenizer.end();
  const pause = reader.afterChunk(0, bytes);
  if (pause !== undefined) await pause;
  return bytes;
}

/** The tokeniser sees a document of its own: the range between the tags that are open around it. */
async function walkRange(member: InputMember, range: DocumentRange, reader: DocumentReader): Promise<number> {
  const encoder = new TextEncoder();
  const lead = encoder.encode(range.lead);
  const locationOf = locationsBehind(lead, range.location);
  const locate = (recordIndex: number): TextLocation => locationOf(tokenizer.locate(recordIndex));
  // what entities expand to was counted when the document was cut, and is a matter of its whole
  const limits = {
    ...reader.limits,
    xmlMaxEntityExpansionBytes: Infinity,
    xmlMaxEntityAmplification: Infinity,
  };
  let complaint: unknown;
  const tokenizer = tokenizerOf(member, reader, limits, (batch) => {
    try {
      reader.onBatch(batch, locate);
    } catch (error) {
      complaint = error;
      throw error;
    }
  });
  let bytes = 0;
  try {
    for await (const chunk of member.chunks('fleeting')) {
      // the size of the first piece decides how the document is read
      const first = bytes === 0 ? Buffer.concat([lead, chunk]) : chunk;
      for (let at = 0; at < first.length; at += pieceBytes) {
        const piece = first.subarray(at, Math.min(at + pieceBytes, first.length));
        tokenizer.write(piece);
        await reader.afterChunk(piece.length, bytes + Math.min(at + piece.length, chunk.length));
      }
      bytes += chunk.length;
    }
    tokenizer.write(encoder.encode(range.trail));
    tokenizer.end();
    await reader.afterChunk(0, bytes);
  } catch (error) {
    // the reader's own have the place in the document already
    if (!(error instanceof InputError) || error === complaint) throw error;
    const { line, column = 1 } = error.diagnostic;
    if (line === undefined) throw error;
    throw new InputError({ ...error.diagnostic, ...locationOf({ line, column }) });
  }
  return bytes;
}

function tokenizerOf(
  { name }: InputMember,
  { names, kernels }: DocumentReader,
  limits: EngineLimits,
  onBatch: (batch: TokenBatch) => void,
): XmlTokenizer {
  return createFastXmlTokenizer({ names, limits, fileName: name, onBatch }, kernels);
}

/** SHA-256 (hex) of a document's bytes, as `readDocument` answers it. */
export async function hashDocument(member: InputMember): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of member.chunks('fleeting')) hash.update(chunk);
  return hash.digest('hex');
}

/** The name of the root element, from the first bytes of a document. */
export async function peekRootName(
  member: InputMember,
  names: NameTable,
  limits: EngineLimits,
): Promise<number | null> {
  const found: { root: number | null } = { root: null };
  const tokenizer = createXmlTokenizer({
    names,
    limits,
    fileName: member.name,
    onBatch: (batch) => {
      if (found.root === null && batch.count > 0) found.root = batch.events[1]!;
    },
  });
  for await (const chunk of member.chunks('fleeting')) {
    for (let at = 0; at < chunk.length && found.root === null; at += 16_384) {
      tokenizer.write(chunk.subarray(at, Math.min(at + 16_384, chunk.length)));
    }
    if (found.root !== null) break;
  }
  if (found.root === null) tokenizer.end();
  return found.root;
}
