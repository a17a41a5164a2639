/** The inputs of xml2er: an XSD among them is a schema and no document, unless the schema in use describes XSDs. */
import { AppError } from '../../errors.ts';
import { isXsdName, xsdIsNoDocument } from '../../jobs/options/xsd-inputs.ts';
import { documentNames } from './document-names.ts';
import { openInputs, type InputSet } from './list-files.ts';
import { inputPaths } from '../session/resolve-inputs.ts';
import type { ToolSession } from '../session/tool-session.ts';

/** AppError `unprocessable_input`: an XSD is named, or lies beside documents that are to tell their schema themselves. */
export async function openDocuments(session: ToolSession, takesXsd: boolean): Promise<InputSet> {
  const links = session.byHand ? 'follow' : 'refuse';
  const paths = await inputPaths(session);
  const accept = documentNames(takesXsd);
  if (takesXsd) return openInputs(paths, accept, session.archiveLimits, links);
  const { originId, logicalId } = session.request;
  const hasSchema = originId !== undefined || logicalId !== undefined;
  let told = false;
  return openInputs(
    paths,
    (name) => {
      if (isXsdName(name)) {
        if (!hasSchema) throw xsdAmongDocuments(name);
        if (!told) session.log(`${name}: XSD files among the inputs are no documents, and passed over`);
        told = true;
      }
      return accept(name);
    },
    session.archiveLimits,
    links,
    (input) => {
      if (isXsdName(input)) throw xsdAmongDocuments(input);
    },
  );
}

function xsdAmongDocuments(name: string): AppError {
  return new AppError('unprocessable_input', xsdIsNoDocument(name));
}
