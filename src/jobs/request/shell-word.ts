/** Formats text as one word of a POSIX shell, on one line: the parameters of a tool can be pasted after its name. */

/** The words that a shell, zsh included, takes literally in any position. */
const plain = /^[\p{L}\p{N}_@%+:,./-][\p{L}\p{N}_@%+=:,./-]*$/u;

/** Ends a line or moves a cursor; a tab asks a shell at a terminal for proposals. */
const unprintable = /[\p{Cc}\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/u;

/** Quotes the text if a shell would interpret it differently. */
export function shellWord(text: string): string {
  if (unprintable.test(text)) return printed(text);
  return plain.test(text) ? text : quoted(text);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * Quotes with `printf`, which every shell has: dash does not support $'…'. The shell strips line ends from the output of a command:
 * those come from IFS.
 */
function printed(text: string): string {
  const [, body = '', ends = ''] = /^([^]*?)(\n*)$/.exec(text) ?? [];
  const escaped = Array.from(body, (character) => {
    if (character === '%' || character === '\\') return character.repeat(2);
    return unprintable.test(character) ? octal(character) : character;
  });
  const words = body === '' ? '' : `"$(printf ${quoted(escaped.join(''))})"`;
  return words + '"${IFS#??}"'.repeat(ends.length);
}

function octal(character: string): string {
  const bytes = new TextEncoder().encode(character);
  return Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
