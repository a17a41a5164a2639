/** Feeds one document through the tokeniser; the thread is given back between pieces, so that sockets keep moving. */
import { createHash } from 'node:crypto';
import type { EngineLimits } from '../engine/limits.ts';
import { createFastXmlTokenizer, type TokenizerKernels } from '../engine/xml/fast-tokenizer.ts';
import { createXmlTokenizer } from '../engine/xml/tokenizer.ts';
import type { NameTable, TextLocation, TokenBatch } from '../engine/xml/tokens.ts';
import type { InputMember } from './input-files.ts';

export interface DocumentReader {
  readonly names: NameTable;
  readonly limits: EngineLimits;
  /** made once per process */
  readonly kernels: TokenizerKernels;
  /** called for every batch of tokens */
  readonly onBatch: (batch: TokenBatch, locate: (recordIndex: number) => TextLocation) => void;
  /** called after every piece of input, with its size; awaited: back-pressure */
  readonly afterChunk: (bytes: number) => Promise<void> | void;
}

/** bytes given to the tokeniser at a time: what it makes of them must fit into the output buffers */
const pieceBytes = 128 * 1024;

/** InputError: not well-formed or over a limit, with file, line and column. */
export async function readDocument(
  member: InputMember,
  reader: DocumentReader,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const locate = (recordIndex: number): TextLocation => tokenizer.locate(recordIndex);
  const tokenizer = createFastXmlTokenizer(
    {
      names: reader.names,
      limits: reader.limits,
      fileName: member.name,
      onBatch: (batch) => reader.onBatch(batch, locate),
    },
    reader.kernels,
  );
  for await (const chunk of member.chunks('fleeting')) {
    hash.update(chunk);
    bytes += chunk.length;
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      const piece = chunk.subarray(at, Math.min(at + pieceBytes, chunk.length));
      tokenizer.write(piece);
      await reader.afterChunk(piece.length);
    }
  }
  tokenizer.end();
  await reader.afterChunk(0);
  return { bytes, sha256: hash.digest('hex') };
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
