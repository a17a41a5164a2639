/** Names of tables and columns: from local names to identifiers, unique and within a limit (engine.md §5). */

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
 * `shipTo` -> `ship_to`, `HTTPStatus-Code` -> `http_status_code`, `IBAN` -> `iban`. Letters of any script are kept;
 * everything else becomes an underscore. Never empty.
 */
export function identifierOf(localName: string, mode: NamingOptions['nameMode']): string {
  if (mode === 'c') return localName;
  const words = localName
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1_$2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '');
  const name = words === '' ? 'x' : words;
  return mode === 'u' ? name.toUpperCase() : name.toLowerCase();
}

export type Identifiers = (localName: string) => string;

/** `identifierOf`, worked out once for each name: a model says the same few thousand in hundreds of thousands of places. */
export function rememberedIdentifiers(mode: NamingOptions['nameMode']): Identifiers {
  const known = new Map<string, string>();
  return (localName) => {
    let identifier = known.get(localName);
    if (identifier === undefined) {
      identifier = identifierOf(localName, mode);
      known.set(localName, identifier);
    }
    return identifier;
  };
}

/** Structure words (`key`, `position`) in the case of the other names. */
export function structureWord(word: string, mode: NamingOptions['nameMode']): string {
  return mode === 'u' ? word.toUpperCase() : word;
}

const utf8 = new TextEncoder();

/** Of the name in UTF-8. */
export function byteLength(name: string): number {
  for (let at = 0; at < name.length; at += 1) if (name.charCodeAt(at) > 0x7f) return utf8.encode(name).length;
  return name.length;
}

/** The longest start of `name` that has at most `maxBytes` bytes of UTF-8. */
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

/** Eight hexadecimal digits of FNV-1a over the text's UTF-8: stable over versions, runs and machines. */
export function stableHash(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of utf8.encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}

/** Within the limit as it is, or cut and closed with a hash of `path`, so that the database never truncates. */
export function shortenName(name: string, path: string, maxBytes: number): string {
  if (byteLength(name) <= maxBytes) return name;
  const head = truncateToBytes(name, Math.max(1, maxBytes - 9)).replace(/_+$/, '');
  return truncateToBytes(`${head}_${stableHash(path)}`, maxBytes);
}

/** Case-insensitively unique names within one scope. */
export class NameScope {
  readonly #taken = new Set<string>();
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  has(name: string): boolean {
    return this.#taken.has(name.toLowerCase());
  }

  /** Takes the first of the candidates that is free, else the last one with a hash of the path. */
  claim(candidates: readonly string[], path: string): string {
    for (const candidate of candidates) {
      const name = shortenName(candidate, path, this.#maxBytes);
      if (!this.has(name)) return this.#take(name);
    }
    const last = candidates.at(-1) ?? 'x';
    for (let round = 0; ; round += 1) {
      const hash = stableHash(round === 0 ? path : `${path}#${round}`);
      const name = `${truncateToBytes(last, this.#maxBytes - 9)}_${hash}`;
      if (!this.has(name)) return this.#take(name);
    }
  }

  #take(name: string): string {
    this.#taken.add(name.toLowerCase());
    return name;
  }
}
