/** What libxml2 says of documents and XSD sets, as faults of ours. */
import type { StandaloneXsdSet } from '../../engine/xsd/standalone-set.ts';
import { AppError } from '../../errors.ts';
import type { Validity, ValidityFault } from '../../ports/document-validator.ts';

/** faults of one document that are kept; the rest are counted */
const maxFaults = 20;
/** characters of a message that are kept: a faulty value may be as long as the document */
const maxMessage = 500;

/** `Element '{ns}a', attribute 'b': …` */
export function validityFault(line: number, text: string): ValidityFault {
  const [, element = null, attribute = null] =
    /^Element '(?:\{[^}]*\})?([^']*)'(?:, attribute '(?:\{[^}]*\})?([^']*)')?:/.exec(text) ?? [];
  const whole = text.trim();
  const message = whole.length <= maxMessage ? whole : `${whole.slice(0, maxMessage)} …`;
  return { line, message, element, attribute };
}

export interface FaultList extends Validity {
  readonly faults: ValidityFault[];
  count: number;
}

export function addFault(list: FaultList, fault: ValidityFault): void {
  list.count += 1;
  if (list.faults.length < maxFaults) list.faults.push(fault);
}

/** The XSD set is more, or otherwise, than libxml2 can read: that says nothing of the documents. */
export function uncheckable(
  program: string,
  set: StandaloneXsdSet,
  faults: readonly { readonly file: string; readonly line: number; readonly message: string }[],
): AppError {
  const sources = new Map(set.files.map(({ name, source }) => [name, source]));
  const shown = faults.slice(0, 3).map(({ file, line, message }) => {
    const name = sources.get(file.slice(file.lastIndexOf('/') + 1)) ?? null;
    const place = name === null ? '' : `${name}: line ${line}: `;
    return place + message.replaceAll(/\bf\d+\.xsd\b/g, (known) => sources.get(known) ?? known).trim();
  });
  const reasons = shown.length === 0 ? '' : ` (${shown.join('; ')})`;
  return new AppError(
    'unprocessable_input',
    `--validate: ${program} cannot compile the XSD set${reasons}; leave --validate out to load without the check`,
  );
}
