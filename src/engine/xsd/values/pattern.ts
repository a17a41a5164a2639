/**
 * Regular expressions of XSD Part 2, Appendix F, translated to JavaScript's. Patterns are user input: here they are only checked;
 * matching one may take time without bound.
 */

/** The translation, anchored at both ends; null when the pattern is not a regular expression of the standard. */
export function translatePattern(pattern: string): RegExp | null {
  try {
    const source = createTranslator(pattern).translate();
    return new RegExp(`^(?:${source})$`, 'v');
  } catch (error) {
    if (error instanceof PatternError || error instanceof SyntaxError) return null;
    throw error;
  }
}

class PatternError extends Error {}

const maxNesting = 500;

const nameStart = '[_:\\p{L}]';
const nameCharacter = '[_:\\-.\\p{L}\\p{Nd}\\p{Mc}\\p{Mn}\\u00B7]';
const classEscapes: Readonly<Record<string, string>> = {
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  s: '[ \\t\\n\\r]',
  S: '[^ \\t\\n\\r]',
  i: nameStart,
  I: `[^${nameStart}]`,
  c: nameCharacter,
  C: `[^${nameCharacter}]`,
  w: '[^\\p{P}\\p{Z}\\p{C}]',
  W: '[\\p{P}\\p{Z}\\p{C}]',
};
const characterEscapes: Readonly<Record<string, string>> = { n: '\\n', r: '\\r', t: '\\t' };
const singleEscapes = '\\|.?*+(){}-[]^nrt';
const categories = /^(L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|Z[slp]?|S[mcko]?|C[cfon]?)$/u;

/** A character as itself, inside a class or outside. */
function literal(character: string): string {
  const special = /[\^$\\.*+?()[\]{}|/\-&!#%,:;<=>@`~]/u.test(character);
  return special ? `\\u{${character.codePointAt(0)!.toString(16)}}` : character;
}

function createTranslator(pattern: string) {
  const characters = [...pattern];
  let at = 0;
  let depth = 0;
  const fail = (): never => {
    throw new PatternError(pattern);
  };
  const escape = (): { text: string; single: string | null } => {
    const character = characters[at++] ?? fail();
    if (character === 'p' || character === 'P') {
      if (characters[at++] !== '{') fail();
      const end = characters.indexOf('}', at);
      if (end < 0) fail();
      const property = characters.slice(at, end).join('');
      at = end + 1;
      if (/^Is[a-zA-Z0-9-]+$/u.test(property))
        return { text: character === 'p' ? '[\\s\\S]' : '[\\s\\S]', single: null };
      if (!categories.test(property)) fail();
      return { text: `\\${character}{${property}}`, single: null };
    }
    const classEscape = classEscapes[character];
    if (classEscape !== undefined) return { text: classEscape, single: null };
    if (!singleEscapes.includes(character)) fail();
    const text = characterEscapes[character] ?? literal(character);
    return {
      text,
      single:
        characterEscapes[character] === undefined ? character : { n: '\n', r: '\r', t: '\t' }[character]!,
    };
  };

  /** A class after its opening bracket, up to and with the closing one. */
  const characterClass = (): string => {
    if (++depth > maxNesting) fail();
    const negated = characters[at] === '^';
    if (negated) at++;
    const parts: string[] = [];
    let subtracted = '';
    let previous: string | null = null;
    for (;;) {
      const character = characters[at++] ?? fail();
      if (character === ']') {
        if (parts.length === 0) fail();
        break;
      }
      if (character === '-' && characters[at] === '[') {
        if (parts.length === 0) fail();
        at++;
        subtracted = characterClass();
        if (characters[at++] !== ']') fail();
        break;
      }
      if (character === '[') fail();
      if (character === '-' && previous !== null && characters[at] !== ']' && characters[at] !== undefined) {
        const next = characters[at++]!;
        if (next === '[') fail();
        const end: string | null = next === '\\' ? escape().single : next;
        if (end === null || previous.codePointAt(0)! > end.codePointAt(0)!) fail();
        parts[parts.length - 1] = `${literal(previous)}-${literal(end!)}`;
        previous = null;
        continue;
      }
      if (character === '\\') {
        const { text, single } = escape();
        parts.push(text);
        previous = single;
      } else {
        parts.push(literal(character));
        previous = character;
      }
    }
    depth--;
    const positive = `[${negated ? '^' : ''}${parts.join('')}]`;
    return subtracted === '' ? positive : `[${positive}--${subtracted}]`;
  };

  const quantifier = (): string => {
    const character = characters[at];
    if (character === '?' || character === '*' || character === '+') {
      at++;
      return character;
    }
    if (character !== '{') return '';
    const end = characters.indexOf('}', at);
    const text = end < 0 ? '' : characters.slice(at, end + 1).join('');
    const bounds = /^\{(\d+)(,(\d*))?\}$/u.exec(text) ?? fail();
    if (bounds[3] !== undefined && bounds[3] !== '' && Number(bounds[1]) > Number(bounds[3])) fail();
    at = end + 1;
    return text;
  };

  const expression = (): string => {
    if (++depth > maxNesting) fail();
    let source = '';
    for (;;) {
      const character = characters[at];
      if (character === undefined || character === ')') break;
      at++;
      if (character === '|') {
        source += '|';
        continue;
      }
      let atom: string;
      if (character === '(') {
        atom = `(?:${expression()})`;
        if (characters[at++] !== ')') fail();
      } else if (character === '[') atom = characterClass();
      else if (character === '\\') atom = escape().text;
      else if (character === '.') atom = '[^\\n\\r]';
      else if ('?*+{}]'.includes(character)) atom = fail();
      else atom = literal(character);
      source += atom + quantifier();
    }
    depth--;
    return source;
  };

  return {
    translate(): string {
      const source = expression();
      if (at < characters.length) fail();
      return source;
    },
  };
}
