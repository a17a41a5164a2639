/**
 * Reports components that a set declares twice. Two versions of one file repeat all of its components, so only one message is reported
 * for two files.
 */
import { clarkName, type QName } from '../../model/source-model.ts';
import type { XsdReport } from '../report.ts';
import type { Origin, SymbolSpace } from './terms.ts';

interface Duplicate {
  readonly second: Origin & { readonly space: SymbolSpace; readonly name: QName };
  readonly first: Origin;
}

export class DuplicateComponents {
  readonly #found: Duplicate[] = [];

  add(second: Duplicate['second'], first: Origin): void {
    this.#found.push({ second, first });
  }

  /** One error for each within a file, one for all that two files have in common. */
  report(report: XsdReport): void {
    const { within = [], between = [] } = Object.groupBy(this.#found, ({ second, first }) =>
      fileOf(second) === fileOf(first) ? 'within' : 'between',
    );
    for (const one of within) say(report, [one]);
    const byFile = Map.groupBy(between, ({ second }) => fileOf(second));
    for (const duplicates of byFile.values())
      for (const ofTwo of Map.groupBy(duplicates, ({ first }) => fileOf(first)).values()) say(report, ofTwo);
  }
}

function fileOf({ document }: Origin): Origin['document']['file'] {
  return document.file;
}

const entryAdvice = '; --entry FILE names the one to enter the set by';

function say(report: XsdReport, duplicates: readonly Duplicate[]): void {
  const [{ second, first }, ...others] = duplicates as [Duplicate, ...Duplicate[]];
  const location = `${fileOf(first).name}, line ${first.node.line}`;
  const what = `A second ${second.space} named ${second.name.localName}`;
  const message =
    others.length === 0
      ? `${what}; the first, at ${location}, is kept${fileOf(first) === fileOf(second) ? '' : entryAdvice}`
      : `${what}, and ${others.length} more that both files declare; the first, at ${location}, is kept, and so are the ` +
        `others there: leave one of the two files out${entryAdvice}`;
  report.error('xsd_duplicate_component', message, second, clarkName(second.name));
}
