/** Facts that the driver sends to the tool in lines of its log: `@spark `, a mark, and a JSON object (scripts/spark/driver.py). */

/** Absent: nothing new of that. */
export interface Facts {
  readonly application?: string;
  readonly master?: string;
  /** units of the present order that are done */
  readonly done?: number;
  /** number of an order that is done; may be reported several times */
  readonly order?: number;
  /** why a unit failed */
  readonly failure?: string;
}

const told = (mark: string): RegExp =>
  new RegExp(`@spark ${mark} (\\{(?:[^{}"]|"(?:[^"\\\\]|\\\\.)*")*\\})`, 'g');

/**
 * Returns a function that reads the facts of a line, and returns the rest of it. Python and Java write into one pipe independently: a
 * line of either may be inside a line of the other, before its end. Half a fact is ignored. `mark`: letters and digits that the driver
 * was given, and that no document knows.
 */
export function createFactReader(mark: string): (line: string) => {
  readonly facts: readonly Facts[];
  readonly rest: string;
} {
  const pattern = told(mark);
  return (line) => {
    if (!line.includes(mark)) return { facts: [], rest: line };
    const facts: Facts[] = [];
    const rest = line.replaceAll(pattern, (_, text: string) => {
      facts.push(JSON.parse(text) as Facts);
      return '';
    });
    return { facts, rest };
  };
}
