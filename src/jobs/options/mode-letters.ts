/** The letters of save modes and parse modes on the command line, on the wire and in stored requests; elsewhere modes have names. */
import type { SaveMode } from '../../ports/rows/sink.ts';
import type { ParseMode } from '../request/shape.ts';

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
