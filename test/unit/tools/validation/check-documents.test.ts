/** Documents that are checked against their XSD. */
import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defaultEngineLimits } from '../../../../src/engine/limits.ts';
import { createTokenizerKernels } from '../../../../src/engine/xml/tokenizer/fast.ts';
import type { DocumentValidator } from '../../../../src/ports/processes.ts';
import { checkDocuments } from '../../../../src/tools/convert/check-documents.ts';
import { openInputs } from '../../../../src/inputs/list-files.ts';
import { createRejects } from '../../../../src/tools/load/findings.ts';
import type { ToolSession } from '../../../../src/tools/session/tool-session.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'check-documents-'));
  const value = 'x'.repeat(3 * 1024 * 1024);
  await writeFile(join(folder, 'a.xml'), `<r>${`<v>${value}</v>`.repeat(3)}</r>`);
  await writeFile(join(folder, 'b.xml'), `<r>\n<v>${value}<!-- -->${value}${value}</v></r>`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('a value that the validator would take hours for ends the check of its document, with place and what to do', async () => {
  const given: number[] = [];
  const validator: DocumentValidator = {
    program: 'slow program',
    maxTextBytes: 4 * 1024 * 1024,
    checkAll: () => Promise.reject(new Error('not asked')),
    async check(chunks) {
      let bytes = 0;
      for await (const chunk of chunks) bytes += chunk.length;
      given.push(bytes);
      return { faults: [], count: 0, unjudged: null };
    },
    close: () => Promise.resolve(),
  };
  const rejects = createRejects(() => undefined);
  const session = {
    rejects,
    limits: defaultEngineLimits,
    kernels: createTokenizerKernels(),
    request: { onError: 'skip' },
    progress: () => undefined,
  } as unknown as ToolSession;
  const inputs = await openInputs([folder], (name) => name.endsWith('.xml'));
  await checkDocuments(
    session,
    { inputs, rowTag: null, roots: { known: null, keepsOthers: false } },
    validator,
  );
  expect(given).toHaveLength(1);
  expect(rejects.messages).toEqual([
    expect.stringMatching(
      /^b\.xml: line 2, column \d+: --validate: a value has more than 4 MiB, which would take slow program hours; load this document without --validate \(\/r\/v\)$/,
    ),
  ]);
  expect((await openFiles()).filter((path) => path.startsWith(folder))).toEqual([]);
});

/** What this process holds open. */
async function openFiles(): Promise<string[]> {
  const numbers = await readdir('/proc/self/fd');
  return Promise.all(numbers.map((number) => readlink(`/proc/self/fd/${number}`).catch(() => '')));
}
