/** Names of tables and columns: from local names to identifiers, unique and within a limit. */

export interface NamingOptions {
  /** l lower_case with underscores (default), u UPPER_CASE, c as in the source */
  readonly nameMode: 'l' | 'u' | 'c';
  readonly tablePrefix: string;
  readonly tableSuffix: string;
  /** limit of every identifier, in bytes of UTF-8 */
  readonly maxBytes: number;
  /** OLD -> NEW, applied to table and column names as they would have been */
  readonly rename: ReadonlyMap<string, string>;
}

export const defaultNaming: NamingOptions = {
  nameMode: 'l',
  tablePrefix: '',
  tableSuffix: '',
  maxBytes: 63,
  rename: new Map(),
};

/**
 * Converts a name: `shipTo` -> `ship_to`, `HTTPStatus-Code` -> `http_status_code`, `IBAN` -> `iban`, `NFeProc` -> `nfe_proc`. Letters of
 * any script are kept; every other character becomes an underscore. The result is never empty.
 */
export function identifierOf(localName: string, mode: NamingOptions['nameMode']): string {
  if (mode === 'c') return localName;
  const words = splitWords(withWholeAcronyms(localName));
  const name = words === '' ? 'x' : words;
  return mode === 'u' ? name.toUpperCase() : name.toLowerCase();
}

/**
 * Puts an underscore between the words of a name, which begin with a capital letter after a small one, and in place of other characters.
 */
export function splitWords(localName: string): string {
  return localName
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1_$2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '');
}

/** Names of formats and units that mix capital and small letters. */
const mixedWords = /(?:mzML|FpML|[kMGT]Wh|[kMG]Hz|(?<![\p{L}\p{N}])pH(?=$|\P{L}|\p{Lu}\p{Ll}))(?!\p{Ll})/gu;

/**
 * Words that follow an acronym in small letters in names (`FIELDref`, `URLname`), if the acronym's last letter could be mistaken for
 * their first. No word is included that ends a longer word common after acronyms: `order` ends `Border`.
 */
const wordsBehindAcronyms = new RegExp(
  `(?<=\\p{Lu}{2})(?:${[
    'address|amount|attribute|body|class|code|count|data|date|desc|description|element|event|field|file|flag|format|group|header|http|id|image|index',
    'info|item|key|label|level|line|link|list|map|message|mode|name|no|node|nr|num|number|object|page|party|path|point|position|price|rate',
    'reference|ref|request|response|role|section|server|service|set|size|status|tag|text|time|total|type|unit|uri|url|user|value|version|xml',
  ].join('|')})+s?(?!\\p{Ll})`,
  'gu',
);

/** Returns the same name with each acronym in letters of one case, so that no word begins or ends within it. */
function withWholeAcronyms(localName: string): string {
  return (
    localName
      .replace(mixedWords, (word) => `_${word.toLowerCase()}_`)
      .replace(wordsBehindAcronyms, (word) => `_${word}_`)
      // the plural `IDs`, and the e for "electronic": `NFe`
      .replace(/\p{Lu}{2,}[es](?!\p{Ll})/gu, (word) => `${word.toUpperCase()}_`)
      .replace(/(?<=\p{N})\p{Lu}(?=$|[^\p{L}\p{N}]|\p{Lu}\p{Ll})/gu, (letter) => letter.toLowerCase())
  );
}

export type Identifiers = (localName: string) => string;

/** Returns `identifierOf` with a cache: a model has the same few thousand names in hundreds of thousands of places. */
export function rememberedIdentifiers(nameMode: NamingOptions['nameMode']): Identifiers {
  const known = new Map<string, string>();
  return (localName) => {
    let identifier = known.get(localName);
    if (identifier === undefined) {
      identifier = identifierOf(localName, nameMode);
      known.set(localName, identifier);
    }
    return identifier;
  };
}

/** Returns structure words (`key`, `position`) in the case of the other names. */
export function structureWord(word: string, mode: NamingOptions['nameMode']): string {
  return mode === 'u' ? word.toUpperCase() : word;
}

const utf8 = new TextEncoder();

/** Returns the length of a name in UTF-8. */
export function byteLength(name: string): number {
  for (let at = 0; at < name.length; at += 1) if (name.charCodeAt(at) > 0x7f) return utf8.encode(name).length;
  return name.length;
}

/** Returns the longest start of `name` that has at most `maxBytes` bytes of UTF-8. */
export function truncateToBytes(name: string, maxBytes: number): string {
  let bytes = 0;
  let result = '';
  for (const character of name) {
    bytes += byteLength(character);
    if (bytes > maxBytes) break;
    result += character;
  }
  return result;
}

/** Returns eight hexadecimal digits of FNV-1a over the text's UTF-8: the same in all versions, runs and machines. */
export function stableHash(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of utf8.encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}

/** Returns the name unchanged if it fits, or else cut and followed by a hash of `path`, so that the database never truncates it. */
export function shortenName(name: string, path: string, maxBytes: number): string {
  if (byteLength(name) <= maxBytes) return name;
  const short = outerWords(name, Math.max(1, maxBytes - 9));
  return truncateToBytes(`${short}_${stableHash(path)}`, maxBytes);
}

/**
 * Returns the name unchanged if it fits, or else cut, so that the database never truncates it. `steps`: the steps of the name, joined by
 * underscores, if they are known: whole steps are left out, those in the middle unless `choose` chooses others.
 */
export function fittingName(
  name: string,
  maxBytes: number,
  steps: readonly string[] = [],
  choose?: StepChooser,
): string {
  if (byteLength(name) <= maxBytes) return name;
  const room = Math.max(1, maxBytes);
  return steps.length > 1 && steps.join('_') === name
    ? outerSteps(choose?.shorten(steps, room) ?? steps, room)
    : outerWords(name, room);
}

/**
 * Shortens `buyer` `tax_representative` `postal_address` `country_code` to 35 bytes as `buyer_postal_address_country_code`: the last step,
 * the first, and as many of the steps before the last as fit. A name cut at its end would say where a value is and not what it is.
 */
function outerSteps(steps: readonly string[], maxBytes: number): string {
  const last = steps.at(-1)!;
  if (steps.length === 1) return byteLength(last) <= maxBytes ? last : outerWords(last, maxBytes);
  let room = maxBytes - byteLength(last);
  if (room < 0) return outerWords(last, maxBytes);
  const [first, ...between] = steps.slice(0, -1);
  const kept = [last];
  const start = firstWords(first!, room - 1);
  if (start !== '') kept.unshift(start);
  room -= byteLength(start) + 1;
  for (const step of start === first ? between.toReversed() : []) {
    const part = firstWords(step, room - 1);
    if (part !== '') kept.splice(1, 0, part);
    if (part !== step) break;
    room -= byteLength(step) + 1;
  }
  return kept.join('_');
}

/** Returns the last word, and as many from the start as fit before it. */
function outerWords(name: string, maxBytes: number): string {
  const at = name.lastIndexOf('_');
  const last = name.slice(at + 1);
  const start = at < 0 ? '' : firstWords(name.slice(0, at), maxBytes - byteLength(last) - 1);
  return start === '' ? truncateToBytes(name, maxBytes).replace(/_+$/, '') : `${start}_${last}`;
}

/** Returns as many whole words from the end as fit. If not even the last word fits, it is cut. */
export function lastWords(name: string, maxBytes: number): string {
  let rest = name;
  while (byteLength(rest) > maxBytes) {
    const at = rest.indexOf('_', 1);
    if (at < 0) return truncateToBytes(rest, maxBytes);
    rest = rest.slice(at + 1);
  }
  return rest;
}

/** Returns as many whole words from the start as fit. */
export function firstWords(name: string, maxBytes: number): string {
  if (byteLength(name) <= maxBytes) return name;
  const cut = truncateToBytes(name, Math.max(0, maxBytes + 1));
  return cut.slice(0, Math.max(0, cut.lastIndexOf('_')));
}

/** The purpose of a name (`meaning`, as in the meanings of the scope), and how it is shortened: see `fittingName`. */
export interface NameClaim {
  readonly meaning?: string;
  readonly steps?: readonly string[];
  readonly choose?: StepChooser;
}

/** If more names than this are the same, a hash distinguishes them. */
const maxNumbered = 99;

/** Case-insensitively unique names within one scope. */
export class NameScope {
  readonly #taken = new Set<string>();
  readonly #maxBytes: number;
  readonly #meanings: ReadonlyMap<string, string | null>;
  readonly #isReserved: (name: string) => boolean;
  readonly #allowed: (name: string) => string;

  /**
   * `meanings`: names in lower case that have a meaning already, and are not used for another; null: they are not used at all.
   * `isReserved`: names that must not be used; they begin with an underscore. `allowed`: returns the name itself, or a permitted one in its
   * place.
   */
  constructor(
    maxBytes: number,
    meanings: ReadonlyMap<string, string | null> = new Map(),
    isReserved: (name: string) => boolean = () => false,
    allowed: (name: string) => string = (name) => name,
  ) {
    this.#maxBytes = maxBytes;
    this.#meanings = meanings;
    this.#isReserved = isReserved;
    this.#allowed = allowed;
  }

  isFree(name: string, meaning?: string): boolean {
    const lower = name.toLowerCase();
    if (this.#taken.has(lower)) return false;
    const known = this.#meanings.get(lower);
    return known === undefined || known === meaning;
  }

  /** Claims a name that an earlier version gave, reserved or not. */
  keep(name: string, path: string, claim: NameClaim): string {
    return this.isFree(name, claim.meaning) ? this.#take(name) : this.claimName([name], path, claim);
  }

  /** Claims the first candidate that is free; otherwise the first with a number; otherwise the last with a hash of the path. */
  claimName(candidates: readonly string[], path: string, { meaning, steps, choose }: NameClaim = {}): string {
    const isFree = (name: string): boolean => this.isFree(name, meaning) && !this.#isReserved(name);
    for (const candidate of candidates) {
      const name = this.#allowed(fittingName(candidate, this.#maxBytes, steps, choose));
      if (isFree(name)) return this.#take(name);
    }
    const first = this.#allowed(candidates[0] ?? 'x');
    for (let number = 2; number <= maxNumbered && !this.#isReserved(first); number += 1) {
      const end = `_${number}`;
      const name = fittingName(first, this.#maxBytes - byteLength(end), steps, choose) + end;
      if (isFree(name)) return this.#take(name);
    }
    const last = this.#allowed(candidates.find((name) => this.#isReserved(name)) ?? candidates.at(-1) ?? 'x');
    for (let round = 0; ; round += 1) {
      const hash = stableHash(round === 0 ? path : `${path}#${round}`);
      const hashed = `${truncateToBytes(last, this.#maxBytes - 9)}_${hash}`;
      const name = this.#isReserved(hashed) ? hashed.replace(/^_+/, '') : hashed;
      if (this.isFree(name, meaning)) return this.#take(name);
    }
  }

  #take(name: string): string {
    this.#taken.add(name.toLowerCase());
    return name;
  }
}

/** Chooses the steps that stay in a name that is too long. They keep their order, and the last step always stays. */
export interface StepChooser {
  /** returns steps that have at most `maxBytes` bytes when joined by underscores, if possible */
  shorten(steps: readonly string[], maxBytes: number): readonly string[];
  /** returns as few steps as `maxBytes` requires, chosen, as far as possible, so that no other name fits those that stay */
  tellApart(steps: readonly string[], maxBytes: number, staying: StayingSteps): readonly string[];
  /**
   * like `tellApart`, for paths that differ only in their last step: the same steps stay in all names; null if the paths need different
   * steps
   */
  tellAlike(
    siblings: readonly (readonly string[])[],
    maxBytes: number,
    staying: StayingSteps,
  ): readonly (readonly string[])[] | null;
}

export interface StayingSteps {
  /** the number of steps that stay, however long they are; not less than `last` */
  readonly fewest: number;
  /** the number of last steps that stay */
  readonly last: number;
  /** the step before the last is left out before all others; if it cannot be, no steps are returned */
  readonly withoutOwner?: true;
  /** no steps are returned if those that say whose the value is do not fit */
  readonly withOwner?: true;
  /** steps are compared, not their words: a short name may be possible by steps although none is by words */
  readonly bySteps?: true;
}

/**
 * Joins steps by underscores. Words at the end of one step that the next one begins with are said once: `sub_type`, `sub_type_code` is
 * `sub_type_code`.
 */
export function joinedSteps(steps: readonly string[]): string {
  let words: readonly string[] = [];
  for (const step of steps) {
    const next = step.split('_');
    let shared = Math.min(words.length, next.length);
    while (
      shared > 0 &&
      !next.slice(0, shared).every((word, at) => word === words[words.length - shared + at])
    )
      shared -= 1;
    words = [...words, ...next.slice(shared)];
  }
  return words.join('_');
}

// Default names of constraints.

/**
 * Returns the name that PostgreSQL gives to an unnamed constraint, as `makeObjectName` in its source code does. The name has at most 63
 * bytes, or `maxBytes`.
 */
export function constraintName(
  table: string,
  column: string,
  label: 'fkey' | 'not_null' | 'idx' | 'codes' | 'ukey',
  maxBytes = 63,
): string {
  const room = maxBytes - `__${label}`.length;
  let tableBytes = byteLength(table);
  let columnBytes = byteLength(column);
  while (tableBytes + columnBytes > room) {
    if (tableBytes > columnBytes) tableBytes -= 1;
    else columnBytes -= 1;
  }
  return `${truncateToBytes(table, tableBytes)}_${truncateToBytes(column, columnBytes)}_${label}`;
}
