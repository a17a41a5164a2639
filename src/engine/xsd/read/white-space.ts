/** White space in XSD documents (XSD Part 2 §4.3.6). */

/** Collapses white space: leading and trailing off, runs to one space. */
export function collapse(text: string): string {
  return /^\s|\s$|\s\s|[\t\r\n]/u.test(text)
    ? text.replace(/[ \t\r\n]+/gu, ' ').replace(/^ | $/gu, '')
    : text;
}
