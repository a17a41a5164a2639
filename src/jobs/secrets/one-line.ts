/** Text of strangers in a line of a log: names of documents and elements may hold anything that a name of a file or XML may. */

/** Line ends, escape sequences of terminals, and characters that change the direction of the text around them; a tab is none of these. */
const unsafe = /[^\P{Cc}\t]|[\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/gu;

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r' };

/** Replaces characters that would end the line or change its appearance by escapes: `\n`, `\u{1b}`. */
export function oneLine(text: string): string {
  return text.replaceAll(
    unsafe,
    (character) => short[character] ?? `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
