/**
 * The fingerprint of an XSD set: two sets with the same one are compiled and mapped to the same models. Refuses sets that describe no
 * document.
 */
import type { EngineLimits } from '../../engine/limits.ts';
import type { ToolRequest } from '../../service/jobs/request/tool-request.ts';
import { engineIdentity } from '../../installation.ts';
import { sha256Of } from '../../storage/staging/durable-file.ts';
import type { XsdSetFiles } from '../../inputs/xsd-files.ts';
import { defaultMapLevel } from './choice.ts';
import { formatDiagnostic, type Diagnostic } from '../../engine/diagnostics.ts';
import type { SourceModel } from '../../engine/model/source-model.ts';
import { AppError } from '../../errors.ts';

/** SHA-256, hexadecimal, of the files, the options that shape models, and the program itself. */
export function setFingerprint(
  { records, entries }: Pick<XsdSetFiles, 'records' | 'entries'>,
  request: ToolRequest,
  limits: EngineLimits,
): string {
  // an option that is omitted and one that has its default value must give the same fingerprint
  const mapLevel = request.mapLevel ?? defaultMapLevel;
  const options = { ...shapingOptions(request), mapLevel, missing: request.missing };
  const files = records.map(({ name, sha256 }) => [name, sha256]);
  return sha256Of(JSON.stringify([files, entries ?? null, options, limits, engineIdentity()]));
}

const shaping = [
  'mapLevel',
  'nameMode',
  'prefix',
  'suffix',
  'nameMaxLen',
  'defaultVarcharLen',
  'rename',
  'root',
  'extraColumns',
] as const satisfies readonly (keyof ToolRequest)[];

/** Returns the options that shape every model. */
export function shapingOptions(request: ToolRequest): Readonly<Record<string, unknown>> {
  return Object.fromEntries(shaping.map((name) => [name, request[name]]));
}

// Refuses XSD sets without any element that a document could start with.

/** files and references that the message names */
const maxNamed = 5;

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
      : 'give the files that are missing, too, in one folder or archive with these, and, if their names are URNs or URLs, the OASIS XML Catalog (catalog.xml) that gives their locations';
  throw new AppError(
    'unprocessable_input',
    `no document can be valid against this set: it declares no global element that is not abstract in ${where}${said}; ${next}`,
  );
}

function listed(names: readonly string[], what: string): string {
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more ${what}` : '';
  return `${names.slice(0, maxNamed).join(', ')}${more}`;
}
