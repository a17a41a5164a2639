/** Translates libxml2 messages about documents and XSD sets into our faults. */
import type { StandaloneXsdSet } from '../engine/xsd/read/standalone-set.ts';
import { AppError } from '../errors.ts';
import type { Unjudged, Validity, ValidityFault } from '../ports/processes.ts';

/** faults of one document that are kept; the rest are counted */
const maxFaults = 20;
/** characters of a message that are kept: a faulty value may be as long as the document */
const maxMessage = 500;

type FaultLocation = Pick<ValidityFault, 'line' | 'path'>;

/** Gathers the messages about one document. */
export interface ValidityList extends Validity {
  readonly faults: ValidityFault[];
  count: number;
  unjudged: Unjudged | null;
}

export function emptyValidity(): ValidityList {
  return { faults: [], count: 0, unjudged: null };
}

/** Adds `Element '{ns}a', attribute 'b': …`, or an internal error of the program, after which it does not judge further. */
export function addMessage(list: ValidityList, text: string, locationOf: () => FaultLocation): void {
  const [, internal] = /^Internal error: (.*)/s.exec(text) ?? [];
  if (internal !== undefined) {
    list.unjudged ??= { reason: reasonOf(oneLine(internal)), location: locationOf() };
    return;
  }
  list.count += 1;
  if (list.faults.length >= maxFaults) return;
  const [, element = null, attribute = null] =
    /^Element '(?:\{[^}]*\})?([^']*)'(?:, attribute '(?:\{[^}]*\})?([^']*)')?:/.exec(text) ?? [];
  list.faults.push({ ...locationOf(), message: oneLine(text), element, attribute });
}

/** Returns the result for a document. One with faults is invalid, whatever could not be checked. */
export function judged({ faults, count, unjudged }: ValidityList): Validity {
  return { faults, count, unjudged: count > 0 ? null : unjudged };
}

export function notJudged(reason: string, location: FaultLocation | null = null): Validity {
  return { faults: [], count: 0, unjudged: { reason, location } };
}

/** Size of a document for which it gets the time limit once more: the slowest real sets take a fraction of it. */
const bytesPerLimit = 8 * 1024 * 1024;

/** Milliseconds that a document of so many bytes may take. */
export function allowedMs(timeMs: number, bytes: number): number {
  return timeMs * (1 + Math.floor(bytes / bytesPerLimit));
}

export function notInTime(withinMs: number): Validity {
  const reason = `it could not be checked within ${Math.round(withinMs / 100) / 10} s (svc.limits.validation_time)`;
  return { faults: [], count: 0, unjudged: { reason, isLate: true, location: null } };
}

function reasonOf(text: string): string {
  return text.includes('pattern facet')
    ? 'a value needs too many steps to be matched with the pattern of its type'
    : text;
}

/** Joins lines, because programs print values unchanged, and one of them prints line by line. */
function oneLine(text: string): string {
  const whole = text.trim().replaceAll(/\r\n|[\n\r\u2028\u2029]/g, ' ');
  return whole.length <= maxMessage ? whole : `${whole.slice(0, maxMessage)} …`;
}

/** The XSD set is more, or otherwise, than libxml2 can read: that says nothing of the documents. */
export function uncheckable(program: string, set: StandaloneXsdSet, faults: readonly SetFault[]): AppError {
  const sources = new Map(set.files.map(({ name, source }) => [name, source]));
  const shown = faults.slice(0, 3).map(({ file, line, message }) => {
    const name = sources.get(file.slice(file.lastIndexOf('/') + 1)) ?? null;
    const prefix = name === null ? '' : `${name}: line ${line}: `;
    return prefix + message.replaceAll(/\bf\d+\.xsd\b/g, (known) => sources.get(known) ?? known).trim();
  });
  const reasons = shown.length === 0 ? '' : ` (${shown.join('; ')})`;
  return new AppError(
    'unprocessable_input',
    `--validate: ${program} cannot compile the XSD set${reasons}; omit --validate to load without the check`,
  );
}

export interface SetFault {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}
