/**
 * Findings of a load (unmapped content, unconverted values, broken keys): counted by the readers of documents, added up over processes
 * and threads.
 */
import type { BrokenRule } from '../../engine/identity/compiled-rules.ts';
import type { IdentityChecker } from '../../engine/identity/checker.ts';
import { didYouMean } from '../../engine/closest-word.ts';
import { clarkName, isSameName, type QName } from '../../engine/model/source-model.ts';
import type { Deviations, MentionedType, UnmappedPath } from '../../engine/shred/deviations.ts';
import { nothingKept, type ConversionDetails, type KeptContent } from '../reports/conversion-result.ts';
import { InputError } from '../../engine/diagnostics.ts';
import { startsWith } from '../../engine/map/chosen-roots.ts';
import { howToUseXsd } from '../../service/jobs/xsd-inputs.ts';
import type { CatalogStore, OriginRecord } from '../../ports/stores/catalog.ts';

export interface LoadFindings {
  readonly documents: number;
  /** size of the files */
  readonly bytes: number;
  /** content that the mapping does not know, by path */
  readonly unmapped: readonly UnmappedPath[];
  /** amount of the unmapped content that is in `_unmapped` */
  readonly kept: KeptContent;
  /** values that their columns cannot hold, by column */
  readonly unconvertedValues: readonly (readonly [
    column: string,
    found: { readonly count: number; readonly sample: string },
  ])[];
  /** types named in documents that lead to no columns of their own */
  readonly namedTypes: readonly MentionedType[];
  /** values whose mappings are inactive */
  readonly ignored: number;
  /** attributes and texts outside of the row elements */
  readonly outside: number;
  /** null: the schema declares nothing to check */
  readonly identity: Pick<IdentityChecker, 'broken' | 'unfinished'> | null;
}

/** paths that the job record lists one by one, and of those the log */
const maxDetails = 1000;
const maxLines = 100;

/** `captures`: unmapped content is kept. */
export function findingsOf(
  counts: Pick<LoadFindings, 'documents' | 'bytes' | 'outside'>,
  deviations: Deviations,
  captures: boolean,
  identity: IdentityChecker | null,
): LoadFindings {
  return {
    ...counts,
    unmapped: [...deviations.paths.values()],
    kept: captures
      ? { values: deviations.total - deviations.documents, documents: deviations.documents }
      : nothingKept,
    unconvertedValues: [...deviations.unconvertedValues],
    namedTypes: [...deviations.namedTypes.values()],
    ignored: [...deviations.ignored.values()].reduce((sum, count) => sum + count, 0),
    identity: identity === null ? null : { broken: identity.broken, unfinished: identity.unfinished },
  };
}

/** Samples are those of the first that has one. */
export function addFindings(parts: readonly LoadFindings[]): LoadFindings {
  const unmapped = new Map<string, UnmappedPath>();
  const unconvertedValues = new Map<string, { count: number; readonly sample: string }>();
  const namedTypes = new Map<string, MentionedType>();
  const broken = new Map<string, BrokenRule>();
  const checked = parts.some(({ identity }) => identity !== null);
  let unfinished = 0;
  for (const part of parts) {
    for (const path of part.unmapped) count(unmapped, path.xpath, path);
    for (const [column, found] of part.unconvertedValues) count(unconvertedValues, column, found);
    for (const type of part.namedTypes) count(namedTypes, `${clarkName(type.name)} ${type.xpath}`, type);
    for (const rule of part.identity?.broken ?? [])
      count(broken, `${rule.kind} ${rule.fault} ${rule.name}`, rule);
    unfinished += part.identity?.unfinished ?? 0;
  }
  const sum = (of: (part: LoadFindings) => number): number =>
    parts.reduce((total, part) => total + of(part), 0);
  return {
    documents: sum(({ documents }) => documents),
    bytes: sum(({ bytes }) => bytes),
    ignored: sum(({ ignored }) => ignored),
    outside: sum(({ outside }) => outside),
    unmapped: [...unmapped.values()],
    kept: { values: sum(({ kept }) => kept.values), documents: sum(({ kept }) => kept.documents) },
    unconvertedValues: [...unconvertedValues],
    namedTypes: [...namedTypes.values()],
    identity: checked ? { broken: [...broken.values()], unfinished } : null,
  };
}

function count<T extends { count: number }>(known: Map<string, T>, key: string, found: Readonly<T>): void {
  const entry = known.get(key);
  if (entry === undefined) known.set(key, { ...found });
  else entry.count += found.count;
}

/** The part of the findings that the job record keeps. */
export function detailsOf(
  { unmapped, ignored, identity }: LoadFindings,
  rejects: ConversionDetails['rejects'],
): ConversionDetails {
  return {
    unmapped: unmapped.slice(0, maxDetails).map(({ xpath, count }) => ({ xpath, count })),
    ignored,
    rejects,
    ...(identity === null ? {} : { broken: identity.broken }),
  };
}

/** The lines of the findings in the log. */
export function linesOf({ outside, unmapped, unconvertedValues, identity }: LoadFindings): string[] {
  return [
    ...(outside > 0
      ? [`${outside} attributes and texts are outside the row elements and were not loaded`]
      : []),
    ...unmapped
      .slice(0, maxLines)
      .map(
        ({ xpath, kind, count, sample, where }) =>
          `unmapped ${kind} ${xpath}: ${count} times${where === undefined ? '' : `, first in ${where}`}, such as ${sample}`,
      ),
    ...unconvertedValues.map(
      ([column, { count, sample }]) => `values that do not fit ${column}: ${count}, such as ${sample}`,
    ),
    ...identityReport(identity),
  ];
}

const xsdNamespace = 'http://www.w3.org/2001/XMLSchema';

/** Lines for types that the schema does not declare. `declared`: all that it does. */
export function unknownTypeLines(
  namedTypes: LoadFindings['namedTypes'],
  declared: readonly QName[],
): string[] {
  return namedTypes
    .filter(
      ({ name }) => name.namespaceUri !== xsdNamespace && !declared.some((type) => isSameName(type, name)),
    )
    .slice(0, maxLines)
    .map(({ xpath, name, count: times, where }) => {
      const meant = didYouMean(
        name.localName,
        declared.map(({ localName }) => localName),
      );
      return `unknown type ${clarkName(name)} (xsi:type of ${xpath}): ${times} times, first in ${where}${meant}`;
    });
}

// Log lines about keys and references that documents broke.

const faults: Readonly<Record<BrokenRule['fault'], string>> = {
  repeated: 'repeated values',
  incomplete: 'elements without exactly one value for each field',
  dangling: 'references without a target',
};

/** A line for each constraint and fault, with its first place; null: the schema declares nothing to check. */
function identityReport(checker: Pick<IdentityChecker, 'broken' | 'unfinished'> | null): string[] {
  if (checker === null) return [];
  const lines = checker.broken.map(
    ({ name, kind, fault, count, sample, document, line, column }) =>
      `${kind} ${name} is broken: ${faults[fault]}: ${count}, such as "${sample}" in ${document}, line ${line}, column ${column}`,
  );
  if (checker.unfinished > 0)
    lines.push(`${checker.unfinished} documents have too many keys to check all of them`);
  return lines;
}

// Advice for a document with an unknown root: names the stored origin that knows it, if there is one.

/** origins whose models are looked into, those that look most like it first */
const maxOrigins = 20;

/** Origins of the organisation alone are named. */
export function createRootAdvice(
  catalog: Pick<CatalogStore, 'listOrigins' | 'loadOrigin'>,
  idOrg: number,
): (error: InputError) => Promise<InputError> {
  const advice = new Map<string, Promise<string>>();
  const adviceFor = (name: QName): Promise<string> => {
    const key = clarkName(name);
    const known = advice.get(key);
    if (known !== undefined) return known;
    // a failed look-up must not hide why the document is refused
    const found = originWith(catalog, idOrg, name).then(adviceOf, () => adviceOf(null));
    advice.set(key, found);
    return found;
  };
  return async (error) => {
    const { diagnostic } = error;
    const { code, name, message } = diagnostic;
    if (code === 'xsd_as_document')
      return new InputError({
        ...diagnostic,
        message: `${message}: ${howToUseXsd(diagnostic.file ?? 'FILE')}`,
      });
    if (code !== 'unknown_root' || name === undefined) return error;
    return new InputError({ ...diagnostic, message: `${message}; ${await adviceFor(name)}` });
  };
}

function adviceOf(origin: OriginRecord | null): string {
  const next =
    origin === null
      ? 'no stored origin has it: make an origin from its XSD with xsd2er and name it with -x'
      : `origin ${origin.id_sch} (${origin.name}) has it: load it with -x ${origin.id_sch}`;
  return `${next}; or keep such documents whole, beside the data, with --unmapped capture`;
}

/** The newest that has such a root. */
async function originWith(
  catalog: Pick<CatalogStore, 'listOrigins' | 'loadOrigin'>,
  idOrg: number,
  name: QName,
): Promise<OriginRecord | null> {
  const { namespaceUri, localName } = name;
  const looksAlike = ({ root_elements: roots }: OriginRecord): boolean =>
    roots.some((root) => root === localName || root.endsWith(`:${localName}`));
  const candidates = (await catalog.listOrigins(idOrg)).filter(
    ({ namespaces, target_namespace: target }) =>
      namespaceUri === '' || target === namespaceUri || Object.values(namespaces).includes(namespaceUri),
  );
  const ordered = [...candidates.filter(looksAlike), ...candidates.filter((origin) => !looksAlike(origin))];
  for (const { id_sch: idSch } of ordered.slice(0, maxOrigins)) {
    const origin = await catalog.loadOrigin(idOrg, idSch);
    if (origin !== null && startsWith(origin.model, name)) return origin.record;
  }
  return null;
}

// Documents that are left out with `--on-error skip`, or end a job, and why.

export interface Rejects {
  /** messages in the order of the inputs, with file, line and column */
  readonly messages: readonly string[];
  /** number of rejects with a root element that the schema does not have */
  readonly unknownRoots: number;
  /** the same for the job record, which lists the first of them */
  readonly details: ConversionDetails['rejects'];
  /** `inputIndex`: of the document among the inputs, from 0 */
  has(inputIndex: number): boolean;
  add(inputIndex: number, error: InputError): Promise<void>;
  /** Lists a file that is no document, which is not counted among the rejects. */
  list(document: string, message: string): void;
  /** Counts the document that ends the job; returns the error to report. */
  fatal(error: InputError): Promise<InputError>;
}

/** `explain`: adds advice to an error. */
export function createRejects(
  log: (line: string) => void,
  explain: (error: InputError) => Promise<InputError> = (error) => Promise.resolve(error),
): Rejects {
  const inputIndexes = new Set<number>();
  const messages: string[] = [];
  const details: ConversionDetails['rejects'][number][] = [];
  let unknownRoots = 0;
  const keep = ({ message: whole, diagnostic }: InputError): void => {
    const { code, file = null, line = null, column = null, message } = diagnostic;
    messages.push(whole);
    if (code === unknownRootCode) unknownRoots += 1;
    if (details.length < maxDetails) details.push({ document: file, line, column, code, message });
  };
  return {
    messages,
    details,
    get unknownRoots() {
      return unknownRoots;
    },
    has: (inputIndex) => inputIndexes.has(inputIndex),
    async add(inputIndex, error) {
      if (inputIndexes.has(inputIndex)) return;
      inputIndexes.add(inputIndex);
      const explained = await explain(error);
      keep(explained);
      log(`rejected: ${explained.message}`);
    },
    list(document, message) {
      if (details.length < maxDetails)
        details.push({ document, line: null, column: null, code: noDocumentCode, message });
    },
    async fatal(error) {
      const explained = await explain(error);
      keep(explained);
      return explained;
    },
  };
}

const unknownRootCode = 'unknown_root';
const noDocumentCode = 'no_document';
