/** Log lines about an XSD set: its entries, and its faults, a missing document once for all that need it. */
import { posix } from 'node:path';
import { formatDiagnostic, type Diagnostic } from '../../engine/diagnostics.ts';

/** lines that are printed one by one; the rest are counted */
const maxPrinted = 100;
/** places and components that a line names */
const mostNamed = 5;

/** diagnostics that concern many components are reported once for all of them */
const repeatedCodes: ReadonlySet<string> = new Set([
  'xsd_alternative_tests_ignored',
  'xsd_assertion_ignored',
]);

const missingDocument = 'xsd_missing_document';
const missingComponent = 'xsd_missing_component';

export function diagnosticLines(diagnostics: readonly Diagnostic[]): readonly string[] {
  const groups = new Map<string, Diagnostic[]>();
  const known = new Map(
    diagnostics.flatMap((one) =>
      one.code === missingDocument ? [[locationOf(one), pathOf(one)] as const] : [],
    ),
  );
  for (const [at, diagnostic] of diagnostics.entries()) {
    // the document that needs a component need not be the one that refers to the missing document
    const key =
      diagnostic.code === missingDocument
        ? pathOf(diagnostic)
        : diagnostic.code === missingComponent
          ? (known.get(locationOf(diagnostic)) ?? locationOf(diagnostic))
          : repeatedCodes.has(diagnostic.code)
            ? diagnostic.code
            : `${at}`;
    groups.set(key, [...(groups.get(key) ?? []), diagnostic]);
  }
  const lines = [...groups].map(([document, group]) =>
    group.length === 1
      ? `${group[0]!.severity}: ${formatDiagnostic(group[0]!)}`
      : repeatedCodes.has(document)
        ? `${group[0]!.severity}: ${formatDiagnostic(group[0]!)}; so ${group.length - 1} more`
        : missingLine(document, group),
  );
  const rest = lines.length - maxPrinted;
  return rest > 0 ? [...lines.slice(0, maxPrinted), `… and ${rest} more diagnostics`] : lines;
}

/** `entered by order.xsd, which no other file of the 14 includes or imports` */
export function entriesLine(entries: readonly string[], files: number): string {
  return `entered by ${listed(entries)}, which no other file of the ${files} includes or imports`;
}

/** The document that is missing, as the set refers to it: a location, or its namespace. */
function locationOf({ message }: Diagnostic): string {
  return (
    (/document "([^"]*)"/.exec(message) ?? /document of the namespace (\S+),/.exec(message))?.[1] ?? message
  );
}

/** Returns the path that the document would have in the set if its location is relative, otherwise the location. */
function pathOf(diagnostic: Diagnostic): string {
  const location = locationOf(diagnostic);
  const isRelative = !/^(?:[A-Za-z][A-Za-z0-9+.-]*:|\/)/.test(location);
  return isRelative ? posix.join(posix.dirname(diagnostic.file ?? '.'), location) : location;
}

function missingLine(document: string, group: readonly Diagnostic[]): string {
  const severity = group.some((one) => one.severity === 'error') ? 'error' : 'warning';
  const references = group.filter(({ code }) => code === missingDocument);
  const components = group.filter(({ code }) => code === missingComponent);
  const locations = references.map(({ file, line }) => `${file}${line === undefined ? '' : ` line ${line}`}`);
  const names = [...new Set(components.map(({ path, message }) => path ?? message))];
  return [
    `${severity}: the document ${document} is not in the set`,
    ...(locations.length === 0 ? [] : [`; it is referred to by ${listed(locations)}`]),
    ...(names.length === 0 ? [] : [`; needed of it: ${listed(names)}`]),
  ].join('');
}

function listed(names: readonly string[]): string {
  const rest = names.length - mostNamed;
  return `${names.slice(0, mostNamed).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
