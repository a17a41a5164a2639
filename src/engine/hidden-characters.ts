/** Characters that a reader of a name cannot see, so that two names look alike, or that control a terminal. */

/** U+200C and U+200D are allowed: some scripts need them between letters. */
const hidden = /[\p{Cc}\p{Bidi_Control}\u{AD}\u{200B}\u{2028}\u{2029}\u{2060}-\u{2064}\u{FEFF}]/u;

/** True if a name has control characters, line ends, bidirectional marks or characters without width. */
export function hasHiddenCharacters(name: string): boolean {
  return hidden.test(name);
}

/** Returns the name with each such character escaped, for messages: `\n`, `\r`, otherwise `\u{…}`. */
export function withoutHiddenCharacters(name: string): string {
  return name.replace(new RegExp(hidden, 'gu'), (character) => {
    if (character === '\n') return '\\n';
    return character === '\r' ? '\\r' : `\\u{${character.codePointAt(0)!.toString(16)}}`;
  });
}

const longestShown = 200;

/** The name for messages: without hidden characters, its middle left out if it is long. */
export function shortName(name: string): string {
  if (name.length <= longestShown) return withoutHiddenCharacters(name);
  const half = longestShown / 2;
  return withoutHiddenCharacters(`${name.slice(0, half)}…${name.slice(-half)}`.toWellFormed());
}
