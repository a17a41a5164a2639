/** xsd2er: an XSD set becomes an origin, its logical schema and mapping. */
import { startThread } from '../../installation.ts';
import { InputError, type Diagnostic, formatDiagnostic } from '../../engine/diagnostics.ts';
import type { CompiledXsdSet } from '../../engine/xsd/compile-set.ts';
import { XsdSetError } from '../../engine/xsd/report.ts';
import { AppError } from '../../errors.ts';
import type { CompileAnswer, CompileOrder } from './xsd-set-thread.ts';
import { factsOf } from '../../engine/model/facts.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { SourceModel } from '../../engine/model/source-model.ts';
import { storesNothing } from '../../service/jobs/request/tool-request.ts';
import type { OriginRecord } from '../../ports/stores/catalog.ts';
import { noDetails, nothingKept, type Conversion } from '../reports/conversion-result.ts';
import { choicesAfterParent, storeModel } from './logical-schema.ts';
import { buildModel, modelSize } from './build-model.ts';
import { requireDocumentElements, setFingerprint } from './set-fingerprint.ts';
import { storeOrigin } from './store-origin.ts';
import { inputPaths } from '../session/resolve-inputs.ts';
import type { ToolSession } from '../session/tool-session.ts';
import { compileOptions, followOf, readXsdSet, type XsdSetFiles } from '../../inputs/xsd-files.ts';
import { posix } from 'node:path';

// Compiles an XSD set in a thread of its own, so that a set made to take for ever, or all memory, ends at its limits.

interface CompileLimits {
  readonly timeMs: number;
  readonly memoryBytes: number;
}

/** XsdSetError and InputError as `compileXsdSet`; AppError `unprocessable_input` past a limit. */
export async function compileInThread(order: CompileOrder, limits: CompileLimits): Promise<CompiledXsdSet> {
  const megabytes = Math.max(16, Math.floor(limits.memoryBytes / 1024 / 1024));
  const thread = startThread('tools/xsd-set', {
    workerData: order,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: megabytes },
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    const answer = await new Promise<CompileAnswer>((resolve, reject) => {
      thread.once('message', resolve);
      // a thread that ends of one error may report another: memory runs out while it ends
      thread.on('error', (error: NodeJS.ErrnoException) => {
        const full = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
        reject(full ? pastLimit(`compiling the XSD set needs more than ${megabytes} MiB of memory`) : error);
      });
      thread.once('exit', () => reject(new Error('the compiler ended without an answer')));
      timer = setTimeout(
        () => reject(pastLimit(`compiling the XSD set took longer than ${limits.timeMs / 1000} s`)),
        limits.timeMs,
      );
    });
    if ('compiled' in answer) return answer.compiled;
    throw answer.all === null ? new InputError(answer.first) : new XsdSetError(answer.first, answer.all);
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}

function pastLimit(text: string): AppError {
  return new AppError('unprocessable_input', text);
}

// The conversion.

/** The result of converting an XSD set. */
export interface DrawnSet {
  readonly source: SourceModel;
  readonly model: RelationalModel;
  /** null: nothing is stored */
  readonly origin: OriginRecord | null;
  readonly logical: number | null;
}

export async function convertXsd(session: ToolSession): Promise<Conversion> {
  const paths = await inputPaths(session);
  const set = await readXsdSet(paths, {
    follow: followOf(session),
    links: session.byHand ? 'follow' : 'refuse',
    limits: session.archiveLimits,
    entry: session.request.entry,
  });
  const { model, origin, logical } = await drawXsdSet(session, set);
  return {
    origin: origin?.id_sch ?? null,
    logical,
    chosen: null,
    documents: set.files.length,
    does: null,
    rejected: 0,
    unknownRoots: 0,
    kept: nothingKept,
    tables: {},
    mapped: factsOf(model).mappedPaths,
    unknown: 0,
    bytes: set.bytes,
    details: noDetails,
  };
}

/** Compiles a set, draws its tables, and stores both if the run stores anything. */
export async function drawXsdSet(session: ToolSession, set: XsdSetFiles): Promise<DrawnSet> {
  const { request, idOrg, home, steps } = session;
  const { catalog } = home.adapters;
  const { files, records } = set;
  // the next version of an origin depends on the one before, too
  const fingerprint = request.parent === undefined ? setFingerprint(set, request, session.limits) : null;
  const known = fingerprint === null ? null : await catalog.findCompiledSet(idOrg, fingerprint);
  if (known === null) steps.begin('compile');
  const { source, diagnostics } = known ?? (await compile(session, set));
  printDiagnostics(session, diagnostics);
  requireDocumentElements(source, files, diagnostics);
  session.log(
    `XSD set: ${files.length} files, ${source.elements.length} elements, ${source.types.length} types, ` +
      `${source.primaryRoots > 0 ? source.primaryRoots : source.roots.length} root elements`,
  );
  if (known === null) {
    steps.begin('map');
    session.expectWork({ elements: source.elements.length });
  }
  const model = known?.model ?? buildModel(request, source, await choicesAfterParent(session));
  session.log(modelSize(model));
  if (storesNothing(request)) return { source, model, origin: null, logical: null };
  steps.begin('store');
  const origin = await storeOrigin(session, source, 'xsd', records);
  await session.report({ idSch: origin.id_sch });
  await session.reported();
  const { idLschma: logical } = await storeModel(session, origin.id_sch, model);
  if (fingerprint !== null && known === null)
    await catalog.rememberCompiledSet(idOrg, fingerprint, logical, diagnostics);
  await session.report({ idLschma: logical, messages: files.length, progress: 1 });
  return { source, model, origin, logical };
}

/** diagnostics of components that may be missing with `--missing wildcard` */
const missingCodes = new Set(['xsd_missing_component', 'xsd_unknown_component']);

/** Reports all faults of a set, even those that make it unusable. */
async function compile(
  session: ToolSession,
  set: XsdSetFiles,
): Promise<{ readonly source: SourceModel; readonly diagnostics: readonly Diagnostic[] }> {
  const { request, limits } = session;
  const { xsdTimeMs: timeMs, xsdMemoryBytes: memoryBytes } = session.home.config.limits;
  try {
    const order = { files: set.files, options: compileOptions(set, request, limits) };
    const { model, diagnostics, entries } = await compileInThread(order, { timeMs, memoryBytes });
    if (set.entries === undefined && set.files.length > 1)
      session.log(entriesLine(entries, set.files.length));
    return { source: model, diagnostics };
  } catch (error) {
    if (!(error instanceof XsdSetError)) throw error;
    printDiagnostics(session, error.diagnostics);
    if (!missingCodes.has(error.diagnostic.code)) throw error;
    const next =
      'give the file that holds it too, or the OASIS XML Catalog that gives its location, or allow anything in its place with --missing wildcard';
    throw new AppError('unprocessable_input', `${error.message}; ${next}`, { cause: error });
  }
}

function printDiagnostics(session: ToolSession, diagnostics: readonly Diagnostic[]): void {
  for (const line of diagnosticLines(diagnostics)) session.log(line);
}

// Log lines about an XSD set: its entries, and its faults, a missing document once for all that need it.

/** lines that are printed one by one; the rest are counted */
const maxPrinted = 100;
/** places and components that a line names */
const maxNamed = 5;

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
  return `entry files: ${listed(entries)}, which no other file of the ${files} includes or imports`;
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
    ...(names.length === 0 ? [] : [`; components needed from it: ${listed(names)}`]),
  ].join('');
}

function listed(names: readonly string[]): string {
  const rest = names.length - maxNamed;
  return `${names.slice(0, maxNamed).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
