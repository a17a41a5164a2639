/** Refuses JSON that JSON.parse accepts but readers understand differently: repeated members, and nesting that is too deep. */

/** Whether arrays and objects are nested deeper than `limit`; of text that may not be JSON. */
export function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === openBrace || code === openBracket) {
      depth += 1;
      if (depth > limit) return true;
    } else if (code === closeBrace || code === closeBracket) depth -= 1;
  }
  return false;
}

/** Whether arrays and objects have more values than `limit`, all together; of text that may not be JSON. */
export function hasMoreValuesThan(text: string, limit: number): boolean {
  let values = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === comma || code === openBrace || code === openBracket) {
      values += 1;
      if (values > limit) return true;
    }
  }
  return false;
}

/**
 * Finds ambiguities in text that JSON.parse has accepted: a member that occurs twice in an object, of which some readers use the first
 * and some the last; or half a surrogate pair, which UTF-8 cannot encode and each reader replaces differently. Returns null if there is
 * neither.
 */
export function ambiguity(text: string): string | null {
  const halves = /\\u[dD][89a-fA-F]/.test(text);
  /** names of the objects that are open; null for an array */
  const open: (Set<string> | null)[] = [];
  let isName = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = endOfString(text, at);
      const names = open.at(-1);
      if (halves || (isName && names)) {
        const value = JSON.parse(text.slice(at, end + 1)) as string;
        if (!value.isWellFormed()) return 'contains an unpaired surrogate';
        if (isName && names && names.size === names.add(value).size) return 'has a member twice';
      }
      at = end;
      isName = false;
    } else if (code === openBrace) {
      open.push(new Set());
      isName = true;
    } else if (code === openBracket) {
      open.push(null);
      isName = false;
    } else if (code === closeBrace || code === closeBracket) open.pop();
    else if (code === comma) isName = open.at(-1) !== null;
  }
  return null;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Place of the quote that ends the string which begins at `at`. */
function endOfString(text: string, at: number): number {
  for (at += 1; at < text.length && text.charCodeAt(at) !== quote; at += 1)
    if (text.charCodeAt(at) === backslash) at += 1;
  return at;
}
