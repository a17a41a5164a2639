/**
 * The typed request of a tool, read from a command line or from the items of a REST request, and stored with the job
 * (docs/decisions/service/tools-are-processes.md). Only form is checked here: paths, hosts and ids are checked by the caller.
 */
import type { ParseMode, StoredRequest } from './shape.ts';

/** An option that was given: its long form, and its value as written, or null if it takes none. */
export interface GivenOption {
  readonly long: string;
  readonly value: string | null;
}

/** Absent members were not given; members that are always there hold their default then. */
export interface ToolRequest extends StoredRequest {
  /** the options in their order, for the record of the job alone: it is not stored, as values may be secrets */
  readonly given: readonly GivenOption[];
}

/** A request that is being read. */
export type RequestDraft = { -readonly [Member in keyof ToolRequest]: ToolRequest[Member] };

/** The defaults of members that no option set. */
export const requestDefaults = {
  given: [],
  inputs: [],
  json: false,
  dryRun: false,
  saveMode: 'append',
  extraColumns: [],
  keys: 'sequence',
  validate: false,
  unmapped: 'capture',
  keepsOtherRoots: false,
  onError: 'fail',
  prune: false,
  tables: 'used',
  skipLoaded: false,
  concatenated: false,
  missing: 'fail',
  noSamples: false,
  engine: 'local',
  sparkConf: {},
} as const satisfies Omit<ToolRequest, 'tool'>;

/** One item as given: an option with its flag, or (flag null) an input in `value`. */
export interface RequestItem {
  /** JSON pointer of the item; '' on a command line */
  readonly pointer: string;
  /** `-g` or `--map`; null: an input */
  readonly flag: string | null;
  /** absent and '' both mean none */
  readonly value?: string;
}

/** A dry run, and a run that prints tables alone: neither stores an origin, a logical schema or statistics. */
export function storesNothing(request: Pick<ToolRequest, 'dryRun' | 'saveMode'>): boolean {
  return request.dryRun || request.saveMode === 'print-schema';
}

/**
 * Returns the mode. The default without `-e` is `all` with a target, otherwise `statistics`
 * (docs/decisions/service/tools-are-processes.md).
 */
export function parseModeOf(request: Pick<ToolRequest, 'parseMode' | 'out'>): ParseMode {
  return request.parseMode ?? (request.out === undefined ? 'statistics' : 'all');
}

// Formats text as one word of a POSIX shell, on one line: the parameters of a tool can be pasted after its name.

/** The words that a shell, zsh included, takes literally in any position. */
const plain = /^[\p{L}\p{N}_@%+:,./-][\p{L}\p{N}_@%+=:,./-]*$/u;

/** Ends a line or moves a cursor; a tab asks a shell at a terminal for proposals. */
const unprintable = /[\p{Cc}\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/u;

/** Quotes the text if a shell would interpret it differently. */
export function shellWord(text: string): string {
  if (unprintable.test(text)) return printed(text);
  return plain.test(text) ? text : quoted(text);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * Quotes with `printf`, which every shell has: dash does not support $'…'. The shell strips line ends from the output of a command:
 * those come from IFS.
 */
function printed(text: string): string {
  const [, body = '', ends = ''] = /^([^]*?)(\n*)$/.exec(text) ?? [];
  const escaped = Array.from(body, (character) => {
    if (character === '%' || character === '\\') return character.repeat(2);
    return unprintable.test(character) ? octal(character) : character;
  });
  const words = body === '' ? '' : `"$(printf ${quoted(escaped.join(''))})"`;
  return words + '"${IFS#??}"'.repeat(ends.length);
}

function octal(character: string): string {
  const bytes = new TextEncoder().encode(character);
  return Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
