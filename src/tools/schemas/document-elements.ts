/** Refuses XSD sets without any element that a document could start with. */
import { formatDiagnostic, type Diagnostic } from '../../engine/diagnostics.ts';
import type { SourceModel } from '../../engine/model/source-model.ts';
import { AppError } from '../../errors.ts';

/** files and references that the message names */
const mostNamed = 5;

/** AppError `unprocessable_input`: no global element that is not abstract is declared. */
export function requireDocumentElements(
  source: SourceModel,
  files: readonly { readonly name: string }[],
  diagnostics: readonly Diagnostic[],
): void {
  if (source.roots.length > 0) return;
  const missing = diagnostics.filter(
    ({ code }) => code === 'xsd_missing_document' || code === 'xsd_catalog_target',
  );
  const where = listed(
    files.map(({ name }) => name),
    'files',
  );
  const said =
    missing.length === 0 ? '' : `; not found: ${listed(missing.map(formatDiagnostic), 'references')}`;
  const next =
    missing.length === 0
      ? 'give the files that declare the elements of documents, too'
      : 'give the files that are missing, too, in one folder or archive with these, and where their names are URNs or URLs the OASIS XML Catalog (catalog.xml) that says where they lie';
  throw new AppError(
    'unprocessable_input',
    `nothing can be a document of this set: no global element that is not abstract is declared in ${where}${said}; ${next}`,
  );
}

function listed(names: readonly string[], what: string): string {
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more ${what}` : '';
  return `${names.slice(0, mostNamed).join(', ')}${more}`;
}
