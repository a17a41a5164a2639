/**
 * Opens the validator that checks documents against the XSD set of an origin (`--validate`): libxml2 in WebAssembly. If xmllint is
 * installed, it checks large documents.
 */
import { startThread } from '../../installation.ts';
import { notInTime } from '../../process/validator-messages.ts';
import { AppError } from '../../errors.ts';
import type { DocumentValidator, Validity } from '../../ports/processes.ts';
import type { ToolSession } from '../session/tool-session.ts';

/** AppError `invalid_option` if the origin has no XSD files. */
export async function openValidator(session: ToolSession, idSch: number): Promise<DocumentValidator> {
  const stored = await session.home.adapters.catalog.loadOriginFiles(session.idOrg, idSch);
  if (stored.length === 0) throw noXsdSet(`origin ${idSch} was made from documents alone`);
  const entries = stored.filter(({ entry }) => entry === true).map(({ name }) => name);
  const { standaloneXsdSet } = await import('../../engine/xsd/read/standalone-set.ts');
  const set = standaloneXsdSet(
    stored.map(({ name, content }) => ({ name, bytes: content })),
    { limits: session.limits, ...(entries.length === 0 ? {} : { entries }) },
  );
  if (set.assertions > 0)
    session.log(`assertions (XSD 1.1) of the XSD set are not checked: ${set.assertions}`);
  const { createLibxml2Validator } = await import('../../process/libxml2.ts');
  const { createXmllintValidator, findXmllint } = await import('../../process/xmllint.ts');
  const { interrupted } = session;
  const { validationTimeMs: timeMs } = session.home.config.limits;
  const own = await createLibxml2Validator(set, {
    startThread: (options) => startThread('tools/validator', options),
    timeMs,
    interrupted,
  });
  const program = await findXmllint();
  if (program === null) return own;
  return together(own, await createXmllintValidator(program, set, { timeMs, interrupted }), timeMs);
}

/**
 * Combines two validators. The first checks all documents that both can process, so that places and messages are the same wherever it
 * runs; the other checks those too large for a tree, or over a limit of the first.
 */
function together(own: DocumentValidator, xmllint: DocumentValidator, timeMs: number): DocumentValidator {
  return {
    program: `${own.program}, and ${xmllint.program} for large documents`,
    maxTextBytes: xmllint.maxTextBytes,
    async checkAll(documents) {
      const answers: Validity[] = [];
      for (const document of documents) {
        const begunMs = performance.now();
        const [answer] = (await own.checkAll([document])) as [Validity];
        const leftMs = timeMs - (performance.now() - begunMs);
        const asksAgain = answer.unjudged !== null && answer.unjudged.isLate !== true && leftMs > 0;
        const [other] = (asksAgain ? await xmllint.checkAll([document], leftMs) : [answer]) as [Validity];
        if (other.unjudged === null) answers.push(other);
        else answers.push(other.unjudged.isLate === true ? notInTime(timeMs) : answer);
      }
      return answers;
    },
    check: (chunks) => xmllint.check(chunks),
    async close() {
      await own.close();
      await xmllint.close();
    },
  };
}

export function noXsdSet(reason: string): AppError {
  return new AppError(
    'invalid_option',
    `--validate: ${reason}, so there is no XSD set to check documents against; make an origin from an XSD set with xsd2er and name it with -x`,
  );
}
