/** Names for formats that know letters, digits and underscores alone. */
import { byteLength, stableHash, truncateToBytes } from '../map/names/identifiers.ts';

export interface PlainNameOptions {
  /** most bytes of a name in UTF-8 */
  readonly maxBytes?: number;
  /** letters and digits of every script, not those of ASCII alone */
  readonly allScripts?: boolean;
}

/** ASCII letters, digits and underscores, no digit first. */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
}

/**
 * Returns for each name a name of letters, digits and underscores that differs from all others even if case is ignored. A name that
 * already has this form stays unchanged.
 */
export function plainNames(
  names: readonly string[],
  { maxBytes = Infinity, allScripts = false }: PlainNameOptions = {},
): readonly string[] {
  const others = allScripts ? /(?:[^A-Za-z0-9_\p{L}\p{M}\p{N}]|[\u{80}-\u{BF}])+/gu : /[^A-Za-z0-9_]+/g;
  const replaced = (name: string): string => {
    const plain = name.replaceAll(others, '_');
    return plain === '' || /^[\p{M}\p{N}]/u.test(plain) ? `_${plain}` : plain;
  };
  const stays = (name: string): boolean => replaced(name) === name && byteLength(name) <= maxBytes;
  const taken = new Set(names.filter(stays).map((name) => name.toLowerCase()));
  const seen = new Set<string>();
  return names.map((name, index) => {
    if (stays(name) && !seen.has(name.toLowerCase())) {
      seen.add(name.toLowerCase());
      return name;
    }
    const wanted = replaced(name);
    const hash = stableHash(name);
    let made = byteLength(wanted) <= maxBytes ? wanted : ended(wanted, hash, maxBytes);
    for (let number = 0; taken.has(made.toLowerCase()); number += 1)
      made = ended(wanted, number === 0 ? hash : `${hash}_${index}_${number}`, maxBytes);
    taken.add(made.toLowerCase());
    return made;
  });
}

function ended(name: string, end: string, maxBytes: number): string {
  const start = maxBytes === Infinity ? name : truncateToBytes(name, Math.max(1, maxBytes - end.length - 1));
  return `${start}_${end}`;
}

/** A map from each of the names to its plain name. */
export function plainNamesOf(
  names: readonly string[],
  options?: PlainNameOptions,
): ReadonlyMap<string, string> {
  const plain = plainNames(names, options);
  return new Map(names.map((name, index) => [name, plain[index]!]));
}
