/** Feeds one document through the tokeniser; the thread is given back between pieces, so that sockets keep moving. */
import { createHash } from 'node:crypto';
import { InputError } from '../engine/diagnostics.ts';
import type { EngineLimits } from '../engine/limits.ts';
import { locationsBehind } from '../engine/shred/row-tag/ranges.ts';
import { createFastXmlTokenizer, type TokenizerKernels } from '../engine/xml/tokenizer/fast.ts';
import { createXmlTokenizer, type XmlTokenizerOptions } from '../engine/xml/tokenizer/portable.ts';
import type { NameTable, TextLocation, TokenBatch, XmlTokenizer } from '../engine/xml/tokens.ts';
import type { DocumentBytes, DocumentRange, InputMember } from './members.ts';
import { sha256Of } from '../storage/staging/durable-file.ts';

export interface DocumentReader {
  readonly names: NameTable;
  readonly limits: EngineLimits;
  /** made once per process */
  readonly kernels: TokenizerKernels;
  /** called for every batch of tokens */
  readonly onBatch: (batch: TokenBatch, locate: (recordIndex: number) => TextLocation) => void;
  /** called after every piece of input, with its size and the bytes read so far; awaited for back-pressure */
  readonly afterChunk: (bytes: number, read: number) => Promise<void> | void;
  /** called before the text after a range is read: most of it does not belong to the document */
  readonly beforeTrail?: () => void;
}

/** bytes given to the tokeniser at a time: its output for them must fit into the output buffers */
const pieceBytes = 128 * 1024;

export interface ReadDocument {
  readonly bytes: number;
  /** hex; of a range it is that of the whole file */
  readonly sha256: string;
}

/** Like `walkDocument`, but also returns the document's SHA-256. */
export function readDocument(
  member: InputMember,
  reader: DocumentReader,
): ReadDocument | Promise<ReadDocument> {
  const { range } = member;
  if (range !== undefined)
    return walkRange(member, range, reader).then((bytes) => ({ bytes, sha256: range.sha256 }));
  const chunks = member.chunks('fleeting');
  const { sha256 } = member;
  if (sha256 !== undefined) return walkChunks(chunks, member, reader).then((bytes) => ({ bytes, sha256 }));
  if (Symbol.asyncIterator in chunks) return readAsItComes(chunks, member, reader);
  const read = { sha256: hashAtOnce(chunks), bytes: sizeOf(chunks) };
  return walkAtOnce(chunks, member, reader)?.then(() => read) ?? read;
}

async function readAsItComes(
  chunks: AsyncIterable<Uint8Array>,
  member: InputMember,
  reader: DocumentReader,
): Promise<ReadDocument> {
  const hash = createHash('sha256');
  const bytes = await walkAsItComes(chunks, member, reader, (chunk) => void hash.update(chunk));
  return { bytes, sha256: hash.digest('hex') };
}

/**
 * Reads the document, or its range, from beginning to end; returns the number of bytes. A small document is read before this returns.
 * InputError: not well-formed or over a limit, with file, line and column.
 */
export async function walkDocument(member: InputMember, reader: DocumentReader): Promise<number> {
  if (member.range !== undefined) return walkRange(member, member.range, reader);
  return walkChunks(member.chunks('fleeting'), member, reader);
}

async function walkChunks(
  chunks: DocumentBytes,
  member: InputMember,
  reader: DocumentReader,
): Promise<number> {
  if (Symbol.asyncIterator in chunks) return walkAsItComes(chunks, member, reader, () => undefined);
  const bytes = sizeOf(chunks);
  await walkAtOnce(chunks, member, reader);
  return bytes;
}

/** Reads a small document without yielding to the event loop. Returns a promise if the caller must wait before the next one. */
function walkAtOnce(
  chunks: readonly Uint8Array[],
  member: InputMember,
  reader: DocumentReader,
): Promise<void> | undefined {
  const locate = (recordIndex: number): TextLocation => tokenizer.locate(recordIndex);
  const tokenizer = tokenizerOf(member, reader, reader.limits, (batch) => reader.onBatch(batch, locate));
  for (const chunk of chunks) tokenizer.write(chunk);
  tokenizer.end();
  const bytes = sizeOf(chunks);
  return reader.afterChunk(bytes, bytes) ?? undefined;
}

function sizeOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0);
}

function hashAtOnce(chunks: readonly Uint8Array[]): string {
  return sha256Of(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
}

async function walkAsItComes(
  chunks: AsyncIterable<Uint8Array>,
  member: InputMember,
  reader: DocumentReader,
  onChunk: (chunk: Uint8Array) => void,
): Promise<number> {
  let bytes = 0;
  const locate = (recordIndex: number): TextLocation => tokenizer.locate(recordIndex);
  const tokenizer = tokenizerOf(member, reader, reader.limits, (batch) => reader.onBatch(batch, locate));
  for await (const chunk of chunks) {
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
  // entity expansion was counted for the whole document when it was cut
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
    reader.beforeTrail?.();
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
  member: InputMember,
  { names, kernels }: DocumentReader,
  limits: EngineLimits,
  onBatch: (batch: TokenBatch) => void,
): XmlTokenizer {
  return createFastXmlTokenizer({ ...tokenizing(member), names, limits, onBatch }, kernels);
}

/** Returns the tokeniser options that the document's file determines. */
export function tokenizing({
  name,
  start,
  encoding,
  external,
}: InputMember): Pick<XmlTokenizerOptions, 'fileName' | 'start' | 'encoding' | 'external'> {
  return {
    fileName: name,
    external,
    ...(start === undefined ? {} : { start }),
    ...(encoding === undefined ? {} : { encoding }),
  };
}

/** Returns the SHA-256 (hex) of a document's bytes, as `readDocument` does. */
export async function hashDocument(member: Pick<InputMember, 'chunks'>): Promise<string> {
  const chunks = member.chunks('fleeting');
  if (!(Symbol.asyncIterator in chunks)) return hashAtOnce(chunks);
  const hash = createHash('sha256');
  for await (const chunk of chunks) hash.update(chunk);
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
    ...tokenizing(member),
    names,
    limits,
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
