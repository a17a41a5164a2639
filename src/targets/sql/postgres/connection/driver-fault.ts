/** What a fault of the driver tells: what it was and where, without values. */

/** characters */
const longestWords = 300;

/**
 * The kind of the fault, the module and line that it came from, and its words. Values stay out, as rows and passwords may be among
 * them: Node's messages end with the value that was `Received`, and those of what could not be read as JSON or as a number begin with it.
 */
export function driverFaultWords(error: TypeError | RangeError | SyntaxError): string {
  const origin = originOf(error);
  const kind = origin === null ? error.name : `${error.name} in ${origin}`;
  if (error instanceof SyntaxError) return kind;
  const [line = ''] = error.message.split('\n');
  const words = line
    .replace(/\.? Received .*$/s, '')
    .trim()
    .slice(0, longestWords);
  return words === '' ? kind : `${kind}: ${words}`;
}

/** Package or folder, file and line of the first module of ours or of a package in the stack; null: there is none. */
function originOf({ stack = '' }: Error): string | null {
  const frame = /^ +at (?:.*\/node_modules|.*?\/src)\/((?:[\w@.-]+\/)*[\w.-]+\.[cm]?[jt]s:\d+):\d+\)?$/m;
  return frame.exec(stack)?.[1] ?? null;
}
