/** The options of a script: `--help` prints the comment that the script's file begins with, and what cannot be read ends with 2. */
import { readFileSync } from 'node:fs';
import { parseArgs, type ParseArgsConfig } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;
type Values<T extends Options> = ReturnType<typeof parseArgs<{ options: T }>>['values'];

/** `file`: the script's own, as `import.meta.filename` names it. */
export function scriptOptions<const T extends Options>(
  file: string,
  options: T,
  args: string[] = process.argv.slice(2),
): Values<T> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${openingComment(readFileSync(file, 'utf8'))}\n`);
    process.exit(0);
  }
  try {
    return parseArgs({ args, options }).values as Values<T>;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n--help tells what there is\n`);
    return process.exit(2);
  }
}

function openingComment(source: string): string {
  const [, comment = ''] = /^\/\*\*(.*?)\*\//s.exec(source) ?? [];
  return comment.replaceAll(/^ ?\*? ?/gm, '').trim();
}
