/** Documents checked by either of the validators, and by the pass that tells their places. */
import { startThread } from '../../../src/installation.ts';
import { createLibxml2Validator } from '../../../src/process/libxml2.ts';
import { createXmllintValidator } from '../../../src/process/xmllint.ts';
import { defaultEngineLimits } from '../../../src/engine/limits.ts';
import { createTokenizerKernels } from '../../../src/engine/xml/tokenizer/fast.ts';
import type { StandaloneXsdSet } from '../../../src/engine/xsd/read/standalone-set.ts';
import type { DocumentValidator } from '../../../src/ports/processes.ts';
import { checkDocuments } from '../../../src/tools/convert/check-documents.ts';
import type { InputSet } from '../../../src/inputs/list-files.ts';
import { createRejects } from '../../../src/tools/load/findings.ts';
import type { ToolSession } from '../../../src/tools/session/tool-session.ts';

export type CreateValidator = (set: StandaloneXsdSet, timeMs?: number) => Promise<DocumentValidator>;

export const inWebAssembly: CreateValidator = (set, timeMs = 60_000) =>
  createLibxml2Validator(set, { startThread: (options) => startThread('tools/validator', options), timeMs });

export const byXmllint: CreateValidator = (set, timeMs = 60_000) =>
  createXmllintValidator('xmllint', set, { timeMs });

/** What is rejected of the documents `1.xml`, `2.xml` and so on: `NAME: line L, column C: REASON`. */
export async function rejectsOf(
  validator: DocumentValidator,
  documents: readonly (string | Uint8Array)[],
): Promise<readonly string[]> {
  const rejects = createRejects(() => undefined);
  const session = {
    rejects,
    limits: defaultEngineLimits,
    kernels: createTokenizerKernels(),
    request: { onError: 'skip' },
    progress: () => undefined,
  } as unknown as ToolSession;
  const members = documents.map((document, at) => ({
    name: `${at + 1}.xml`,
    async *chunks() {
      yield typeof document === 'string' ? new TextEncoder().encode(document) : document;
    },
  }));
  const inputs = {
    members: async function* () {
      yield* members;
    },
  } as unknown as InputSet;
  const roots = { known: null, keepsOthers: false };
  await checkDocuments(session, { inputs, rowTag: null, roots }, validator);
  return rejects.messages;
}
