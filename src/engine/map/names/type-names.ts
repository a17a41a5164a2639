/**
 * Names for tables of shared types. Standards put parts into the names of types that a person would leave out of a table's name: the set
 * they belong to (`POCD_MT000040.Act`), their version (`PartyIdentification32`), and that they are types (`AddressType`,
 * `Line_VersionStructure`). Each type gets the shortest of its names that no other type could have and that no element of another type has.
 * The result depends only on the set of types.
 */
import type { SourceModel } from '../../model/source-model.ts';
import { defaultNaming, rememberedIdentifiers, type Identifiers } from './identifiers.ts';
import type { UsePrinter } from './paths.ts';

/** A prefix belongs to the set if at least so many names, and this share of all, begin with it. */
const leastPrefixed = 5;
const leastShare = 1 / 3;

/** Returns, by type that has a name, the name for a table of its rows, in the words of the schema. */
export function typeNames({
  types,
  elements,
}: Pick<SourceModel, 'types' | 'elements'>): ReadonlyMap<number, string> {
  const named = types.flatMap(({ name, complex }, index) =>
    name !== null && complex ? [{ index, local: name.localName }] : [],
  );
  const prefixes = commonPrefixes(named.map(({ local }) => local));
  const called = elementNames(elements);
  const candidates = named.map(({ index, local }) => {
    const names = namesOf(local, prefixes);
    const only = called.get(index);
    // rather than a name that says it is a type, or another's name
    const at = only === undefined || saysTypeByLetter(local, only) ? 0 : Math.max(1, names.length - 1);
    const all = only === undefined ? names : names.toSpliced(at, 0, only);
    return { all, usual: names.at(-1)! };
  });
  const identifiers = rememberedIdentifiers(defaultNaming.nameMode);
  // keyed by name: the types whose tables could have this name
  const claims = new Map<string, Set<number>>();
  const claim = (name: string, type: number): void => {
    const claimed = claims.get(identifiers(name));
    if (claimed === undefined) claims.set(identifiers(name), new Set([type]));
    else claimed.add(type);
  };
  for (const [at, { index }] of named.entries()) for (const name of candidates[at]!.all) claim(name, index);
  for (const { name, type } of elements) if (types[type]!.complex) claim(name.localName, type);
  return new Map(
    named.map(({ index }, at) => {
      const { all, usual } = candidates[at]!;
      return [index, all.find((name) => claims.get(identifiers(name))!.size === 1) ?? usual];
    }),
  );
}

/** Like `typeNames`, but computed on the first call. */
export function rememberedTypeNames(
  declared: Pick<SourceModel, 'types' | 'elements'>,
): () => ReadonlyMap<number, string> {
  let known: ReadonlyMap<number, string> | undefined;
  return () => (known ??= typeNames(declared));
}

/** Tests for a name that says "type" by a letter: `TNFe` of `NFe`, `tProcess` of `process`. */
function saysTypeByLetter(local: string, element: string): boolean {
  return endsWord(local, 1) && local.slice(1).toLowerCase() === element.toLowerCase();
}

/** Returns, by type, the name of all of its elements, if they have the same name. */
function elementNames(elements: SourceModel['elements']): ReadonlyMap<number, string> {
  const names = new Map<number, Set<string>>();
  for (const { name, type } of elements) {
    const known = names.get(type);
    if (known === undefined) names.set(type, new Set([name.localName]));
    else known.add(name.localName);
  }
  return new Map(
    [...names].flatMap(([type, [one, ...more]]) => (more.length === 0 ? [[type, one!] as const] : [])),
  );
}

/** Returns names, the shortest first; the last one is the name used before shorter ones existed. */
function namesOf(local: string, prefixes: readonly string[]): string[] {
  const prefix = prefixes.find((one) => local.startsWith(one) && endsWord(local, one.length)) ?? '';
  const bare = local.slice(prefix.length);
  const usual = withoutType(local);
  const names = [
    withoutVersion(withoutStructure(withoutType(bare))),
    withoutStructure(withoutType(bare)),
    withoutVersion(withoutStructure(usual)),
    withoutStructure(usual),
    withoutVersion(usual),
  ];
  return [...new Set([...names.toSorted((a, b) => a.length - b.length), usual])];
}

/** `AddressType` -> `Address`: the word "type" says nothing in the name of a table. */
function withoutType(local: string): string {
  // a word of its own: prototype, subtype
  if (/^(?:arche|data|proto|stereo|sub|super)type$/i.test(local)) return local;
  return shortened(local, local.replace(/[-_.]?(?:[Cc]omplex)?[Tt]ype$/, ''));
}

/** `PartyIdentification32`, `Party40Choice` -> `PartyIdentification`, `PartyChoice`; a year, or a short word with its number, stays. */
export function withoutVersion(local: string): string {
  return shortened(local, local.replace(/(?<=[a-z]{3})\d{1,3}(?=(?:Choice)?$)/, ''));
}

/** `Line_VersionStructure`, `linesInFrame_RelStructure`, `Call_VersionedChildStructure` -> `Line`, `linesInFrame`, `Call`. */
function withoutStructure(local: string): string {
  return shortened(local, local.replace(/[-_.]?(?:(?:Version(?:edChild)?|Rel)[-_.]?)?Structure$/i, ''));
}

function shortened(local: string, short: string): string {
  return /[A-Za-z]{2}/.test(short) ? short : local;
}

/**
 * Tests for a prefix that ends with a word: `POCD_MT000040.` of `POCD_MT000040.Act`, `T` of `TEndereco`, and of `TNFe` if both occur; not
 * `T` of `Transport`.
 */
function endsWord(local: string, at: number): boolean {
  return at !== 1 || /^[A-Za-z][A-Z]/.test(local);
}

/**
 * Returns the prefixes that end at the end of a word, the longest first. A letter before a word (`TEndereco`, `tProcess`) is a prefix; the
 * first letter of an acronym is not.
 */
function commonPrefixes(locals: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const local of locals)
    for (const { index } of local.matchAll(/[-_.](?=[A-Za-z])|^[A-Za-z](?=[A-Z][a-z])/g)) {
      const prefix = local.slice(0, index + 1);
      counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
    }
  return [...counts]
    .filter(([, count]) => count >= Math.max(leastPrefixed, locals.length * leastShare))
    .map(([prefix]) => prefix)
    .toSorted((a, b) => b.length - a.length);
}

/**
 * The roles of elements in their rows, which precede their kinds in names. `LegalMonetaryTotal` of the type `MonetaryTotalType` is a
 * monetary total in a legal role; `LineExtensionAmount`, which has a type of its own, has no role.
 */
export interface Roles {
  /** returns `legal` for `legal_monetary_total`; undefined if it has no role, or if elements of that name are of several kinds */
  roleOf(step: string): string | undefined;
  /** the name of a step without its role, if no other step of the set is of the same kind; otherwise undefined */
  soleKind(step: string): string | undefined;
}

/** Creates the roles, which are computed on first use. `declared`: all that the schema declares, whether or not documents have it. */
export function createRoles(
  declared: Pick<SourceModel, 'elements' | 'types'>,
  identifiers: Identifiers,
): Roles {
  let known: KnownRoles | undefined;
  const knownRoles = (): KnownRoles => (known ??= findRoles(declared, identifiers));
  return {
    roleOf: (step) => knownRoles().roles.get(step) ?? undefined,
    soleKind: (step) => {
      const { roles, kinds } = knownRoles();
      const role = roles.get(step);
      if (role == null) return undefined;
      const kind = step.slice(role.length + 1);
      return kinds.get(kind)!.size === 1 ? kind : undefined;
    },
  };
}

interface KnownRoles {
  /** keyed by step; null: none, or several */
  readonly roles: ReadonlyMap<string, string | null>;
  /** keyed by kind: its steps */
  readonly kinds: ReadonlyMap<string, ReadonlySet<string>>;
}

function findRoles(
  { elements, types }: Pick<SourceModel, 'elements' | 'types'>,
  identifiers: Identifiers,
): KnownRoles {
  const roles = new Map<string, string | null>();
  const kinds = new Map<string, Set<string>>();
  const namesOfTypes = new Map<number, readonly string[]>();
  for (const { name, type } of elements) {
    const step = identifiers(name.localName);
    let names = namesOfTypes.get(type);
    if (names === undefined) {
      const own = types[type]!;
      names = own.name === null || !own.complex ? [] : namesOf(own.name.localName, []).map(identifiers);
      namesOfTypes.set(type, names);
    }
    const kind = names.find((one) => step === one || step.endsWith(`_${one}`));
    const role = kind === undefined || kind === step ? null : step.slice(0, -kind.length - 1);
    if (kind !== undefined) kinds.set(kind, (kinds.get(kind) ?? new Set()).add(step));
    const isOne = role !== null && (!roles.has(step) || roles.get(step) === role) && !joinsWords(role);
    roles.set(step, isOne ? role : null);
  }
  return { roles, kinds };
}

/** Tests for a role such as `request_for_quotation`, whose kind (`request`) precedes a short word instead of ending the name. */
function joinsWords(role: string): boolean {
  const words = role.split('_');
  return words.length > 1 && words.some(({ length }) => length <= 3);
}

// Types of a standard's next version that replace others: `PartyIdentification32` has become `PartyIdentification135`.

const namedType = /(\((?:type|as) )([^()]+)(?=\))/g;

/**
 * Translates paths of an earlier version, given in the namespaces of the later one, to the type names of the later version. A type that is
 * gone is matched with the type that differs only in the version at the end of its name, if no other matches.
 */
export function typeTranslation(
  paths: Iterable<string>,
  { types }: Pick<SourceModel, 'types'>,
  uses: UsePrinter,
): (path: string) => string {
  const later = new Set(types.flatMap(({ name }) => (name === null ? [] : [uses.element(name)])));
  const earlier = new Set<string>();
  for (const path of paths) for (const [, , name] of path.matchAll(namedType)) earlier.add(name!);
  const lost = [...earlier].filter((name) => !later.has(name));
  if (lost.length === 0) return (path) => path;
  const gone = Map.groupBy(lost, withoutVersion);
  const come = Map.groupBy(
    [...later].filter((name) => !earlier.has(name)),
    withoutVersion,
  );
  const counterparts = new Map(
    [...gone].flatMap(([bare, [before, ...others]]) => {
      const [after, ...more] = come.get(bare) ?? [];
      return after === undefined || others.length > 0 || more.length > 0 ? [] : [[before!, after] as const];
    }),
  );
  if (counterparts.size === 0) return (path) => path;
  return (path) =>
    path.replace(namedType, (_, word: string, name: string) => word + (counterparts.get(name) ?? name));
}
