/** A member of an archive whose first bytes decide whether it is a document: its reader gets them again. */
import { InputError } from '../../../engine/diagnostics.ts';
import type { MemberTest } from '../document-names.ts';
import type { DocumentBytes, InputMember } from '../members.ts';
import type { ChosenMember } from './members.ts';

/** number of bytes to inspect of a file whose name does not tell its type: comments may precede the first tag */
export const lookedBytes = 64 * 1024;

interface LookedMember {
  readonly chunks: InputMember['chunks'];
  /** ends the reading that was begun, if nobody continued it */
  close(): Promise<void>;
}

const nothing = (): Promise<void> => Promise.resolve();

/** Inspects a member by its first bytes, which its reader gets again. */
export async function lookAtMember(
  packed: ChosenMember,
  test: MemberTest,
): Promise<LookedMember | { readonly passedOver: string }> {
  let begun: DocumentBytes;
  try {
    begun = packed.head === undefined ? packed.chunks('fleeting') : packed.head();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    // the fault is reported when the member is read
    return { chunks: packed.chunks, close: nothing };
  }
  if (!(Symbol.asyncIterator in begun)) {
    const why = test.byContent(packed.name, Buffer.concat(begun));
    return why === null ? { chunks: packed.chunks, close: nothing } : { passedOver: why };
  }
  const rest = begun[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array(0);
  let failed: { readonly error: InputError } | null = null;
  try {
    while (head.length < lookedBytes) {
      const { done, value } = await rest.next();
      if (done === true) break;
      head = Buffer.concat([head, value]);
    }
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    // no byte is available that shows the type
    if (packed.isPacked === true && head.length === 0) return { passedOver: error.diagnostic.message };
    failed = { error };
  }
  const end = async (): Promise<void> => void (await rest.return?.());
  const why = failed === null ? test.byContent(packed.name, head) : null;
  if (why !== null) {
    await end();
    return { passedOver: why };
  }
  let isTaken = false;
  async function* whole(): AsyncIterable<Uint8Array> {
    yield head;
    if (failed !== null) throw failed.error;
    yield* { [Symbol.asyncIterator]: () => rest };
  }
  return {
    chunks(fleeting) {
      if (isTaken || packed.head !== undefined) return packed.chunks(fleeting);
      isTaken = true;
      return fleeting === undefined ? copies(whole()) : whole();
    },
    close: () => (isTaken ? nothing() : end()),
  };
}

async function* copies(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const chunk of chunks) yield new Uint8Array(chunk);
}
