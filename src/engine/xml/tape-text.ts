/** Text of a batch's records, and a line about each for tests and debugging. */
import {
  FLAG_DECODED,
  FLAG_DEFAULTED,
  FLAG_WHITE_SPACE,
  KIND_ATTRIBUTE,
  KIND_COMMENT,
  KIND_END,
  KIND_INSTRUCTION,
  KIND_MASK,
  KIND_NAMESPACE,
  KIND_START,
  KIND_TEXT,
  RECORD_INTS,
} from './tokens.ts';
import type { NameTable, TokenBatch } from './tokens.ts';
import { utf8Text } from './utf8.ts';

/** The text of a record's range. */
export function readBatchText(batch: TokenBatch, recordIndex: number): string {
  const n = recordIndex * RECORD_INTS;
  const bytes = (batch.events[n]! & FLAG_DECODED) === 0 ? batch.bytes : batch.decoded;
  return utf8Text(bytes.subarray(batch.events[n + 2]!, batch.events[n + 3]!));
}

const kindNames: Readonly<Record<number, string>> = {
  [KIND_START]: 'START',
  [KIND_END]: 'END',
  [KIND_ATTRIBUTE]: 'ATTRIBUTE',
  [KIND_TEXT]: 'TEXT',
  [KIND_NAMESPACE]: 'NAMESPACE',
  [KIND_COMMENT]: 'COMMENT',
  [KIND_INSTRUCTION]: 'INSTRUCTION',
};

/** One line about a record: `START {urn:x}a`, `ATTRIBUTE b "1" defaulted`, `TEXT "\n" white`. Says nothing of places. */
export function describeRecord(batch: TokenBatch, recordIndex: number, names: NameTable): string {
  const kindAndFlags = batch.events[recordIndex * RECORD_INTS]!;
  const nameId = batch.events[recordIndex * RECORD_INTS + 1]!;
  const kind = kindAndFlags & KIND_MASK;
  const parts = [kindNames[kind] ?? `KIND ${kind}`];
  if (kind !== KIND_TEXT && kind !== KIND_COMMENT) {
    const uri = names.namespaceUri(nameId);
    parts.push(uri === '' ? names.localName(nameId) : `{${uri}}${names.localName(nameId)}`);
  }
  if (kind !== KIND_START && kind !== KIND_END) parts.push(JSON.stringify(readBatchText(batch, recordIndex)));
  if ((kindAndFlags & FLAG_WHITE_SPACE) !== 0) parts.push('white');
  if ((kindAndFlags & FLAG_DEFAULTED) !== 0) parts.push('defaulted');
  return parts.join(' ');
}
