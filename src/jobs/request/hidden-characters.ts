/** Characters of a name that people do not see, so that it looks like another one. */

/** What joins letters, as some scripts need it, is none of them. */
const hidden = /[\p{Cc}\p{Bidi_Control}\u{AD}\u{200B}\u{2028}\u{2029}\u{2060}-\u{2064}\u{FEFF}]/u;

/** Controls, line ends, marks that turn text around, and what has no width. */
export function hasHiddenCharacters(name: string): boolean {
  return hidden.test(name);
}
