/** What checks documents against the XSD set of an origin (`--validate`): xmllint where it is installed, else WebAssembly. */
import { AppError } from '../errors.ts';
import type { DocumentValidator } from '../ports/document-validator.ts';
import type { ToolSession } from './tool-session.ts';

/** AppError `invalid_option` where the origin has no XSD files, or they were not kept. */
export async function openValidator(session: ToolSession, idSch: number): Promise<DocumentValidator> {
  const stored = await session.home.adapters.catalog.loadOriginFiles(session.idOrg, idSch);
  if (stored === null)
    throw new AppError(
      'invalid_option',
      `--validate: the files of the XSD set of origin ${idSch} were not kept when it was made; make its next version (xsd2er --parent ${idSch})`,
    );
  if (stored.length === 0) throw noXsdSet(`origin ${idSch} was made from documents alone`);
  const entries = stored.filter(({ entry }) => entry === true).map(({ name }) => name);
  const { standaloneXsdSet } = await import('../engine/xsd/standalone-set.ts');
  const set = standaloneXsdSet(
    stored.map(({ name, content }) => ({ name, bytes: content })),
    { limits: session.limits, ...(entries.length === 0 ? {} : { entries }) },
  );
  const { createXmllintValidator, findXmllint } = await import('../adapters/node/xmllint-validator.ts');
  const program = await findXmllint();
  if (program !== null) return createXmllintValidator(program, set, session.interrupted);
  const { createLibxml2Validator } = await import('../adapters/node/libxml2-validator.ts');
  return createLibxml2Validator(set);
}

export function noXsdSet(reason: string): AppError {
  return new AppError(
    'invalid_option',
    `--validate: ${reason}, and there is no XSD set to check documents against; make an origin of one with xsd2er and name it with -x`,
  );
}
