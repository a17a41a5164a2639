/** Values of options: moments, renamed columns, parts of names, reserved names, and letters of modes. */
import type { RequestDraft } from '../request/tool-request.ts';
import { hasHiddenCharacters } from '../../engine/hidden-characters.ts';
import type { OptionSpec } from './specification.ts';
import { isReservedColumn } from '../../engine/model/reserved-columns.ts';
import { fileKeyName, hasOwnPrefix, ownPrefix } from '../../engine/model/side-tables.ts';
import type { SaveMode } from '../../ports/rows/sink.ts';
import type { ParseMode } from '../request/shape.ts';

// `--at`: a moment, as it is stored.

/** ISO 8601; a time says its zone, a date alone is its beginning in UTC. */
export function moment(draft: RequestDraft, value: string): string | null {
  const isMoment = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/.test(value);
  if (value !== 'all' && (!isMoment || Number.isNaN(Date.parse(value))))
    return 'must be all, a date, or a moment with its time zone, such as 2026-11-25T08:00:00Z';
  draft.at = value === 'all' ? value : new Date(value).toISOString();
  return null;
}

// `--rename`: other names of tables and columns.

/** Returns the fault of the value, or null if there is none. */
export function renames(draft: RequestDraft, value: string): string | null {
  const fault = namePart(value);
  if (fault !== null) return fault;
  const pairs: [string, string][] = [];
  for (const part of value.split(',')) {
    const equals = part.indexOf('=');
    const [from, to] = [part.slice(0, Math.max(equals, 0)).trim(), part.slice(equals + 1).trim()];
    if (from === '' || to === '') return 'must be OLD=NEW, several separated by commas';
    if (pairs.some(([known]) => known === from)) return `renames ${from} twice`;
    const fault = reservedName(to);
    if (fault !== null) return fault;
    pairs.push([from, to]);
  }
  draft.rename = [...(draft.rename ?? []), ...pairs];
  return null;
}

// Characters that names may have which people read.

/**
 * Checks a part of the names of tables and columns, which people read: it may contain no invisible characters, nor any that change the
 * direction of the text around it.
 */
export function namePart(value: string): string | null {
  return hasHiddenCharacters(value)
    ? 'must not hold control characters, line ends, characters without width or marks that turn text around'
    : null;
}

/** Like `namePart`, for requests alone: the rule does not apply to a person's own command line. */
export const ofRequests =
  (apply: OptionSpec['apply']): OptionSpec['apply'] =>
  (draft, value, rest) =>
    (rest === null ? null : namePart(value)) ?? apply(draft, value, rest);

// Names that options may not give to tables and columns, because a target could not distinguish them from its own.

/** Returns the fault of a name of a table or column, or null if there is none. */
export function reservedName(name: string): string | null {
  if (hasOwnPrefix(name)) return `${name}: ${reservedPrefix}`;
  if (isReservedColumn(name))
    return `${name} is reserved: databases and table formats have columns of that name of their own; choose another`;
  return name.toLowerCase() === fileKeyName
    ? `${name} is reserved: in every table it is the key of the document`
    : null;
}

/** Returns the fault of a prefix for all names of tables, or null if there is none. */
export function reservedStart(prefix: string): string | null {
  return prefix.toLowerCase().startsWith(ownPrefix) ? reservedPrefix : null;
}

const reservedPrefix = `names that begin with ${ownPrefix} are reserved for what a load makes for a while; choose another`;

// The letters of save modes and parse modes on the command line, on the wire and in stored requests; elsewhere modes have names.

export const saveModeLetters = {
  error: 'e',
  append: 'a',
  overwrite: 'o',
  ignore: 'i',
  merge: 'm',
  'write-schema': 'w',
  'print-schema': 'p',
} as const satisfies Readonly<Record<SaveMode, string>>;

export const saveModes: Readonly<Record<(typeof saveModeLetters)[SaveMode], SaveMode>> = {
  e: 'error',
  a: 'append',
  o: 'overwrite',
  i: 'ignore',
  m: 'merge',
  w: 'write-schema',
  p: 'print-schema',
};

export const parseModeLetters = {
  all: 'a',
  data: 'd',
  statistics: 's',
} as const satisfies Readonly<Record<ParseMode, string>>;

export const parseModes: Readonly<Record<(typeof parseModeLetters)[ParseMode], ParseMode>> = {
  a: 'all',
  d: 'data',
  s: 'statistics',
};

/** Returns the modes of a stored request by their names; unknown letters stay, for the check of the request to refuse. */
export function modesByName(stored: object): object {
  const { saveMode, parseMode } = stored as { readonly saveMode?: unknown; readonly parseMode?: unknown };
  return {
    ...(saveMode === undefined ? {} : { saveMode: valueOr(saveModes, saveMode) }),
    ...(parseMode === undefined ? {} : { parseMode: valueOr(parseModes, parseMode) }),
  };
}

function valueOr(names: Readonly<Record<string, string>>, letter: unknown): unknown {
  return typeof letter === 'string' && Object.hasOwn(names, letter) ? names[letter] : letter;
}
