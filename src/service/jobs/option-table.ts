/**
 * The options that each tool has: an allow-list (docs/decisions/service/tools-are-processes.md). An option that is not in this table does
 * not exist.
 */
import type { RequestDraft } from './request/tool-request.ts';
import { maskSecrets } from './mask-secrets.ts';
import type { Tool } from './request/tools.ts';
import { hasHiddenCharacters } from '../../engine/hidden-characters.ts';
import { isReservedColumn, isReservedTable } from '../../engine/model/reserved-names.ts';
import { fileKeyName, hasOwnPrefix, ownPrefix } from '../../engine/model/side-tables.ts';
import type { SaveMode } from '../../ports/row-sink.ts';
import type { ParseMode, ExtraColumn } from './request/shape.ts';
import { isReservedName } from '../../ports/stores/catalog.ts';
import { ByteBuffer } from '../../engine/shred/byte-buffer.ts';
import { copyTextEncoder } from '../../engine/shred/row-output.ts';
import { conversionFor, EMPTY, UNCONVERTED } from '../../engine/shred/conversion.ts';
import { rowSourceOf } from './request/row-source.ts';
import { parsePartition } from '../../engine/sql/partition-wish.ts';
import { credentialName } from '../files/remote-location.ts';
import { layoutNames } from '../../ports/layouts.ts';
import { fileNameFault } from './request/target.ts';

// Settings of Spark, as people may give and see them.

/** Matches the settings that Spark's own `spark.redaction.regex` regards as secret, and keys of storage accounts. */
const secretName = /secret|passw|token|credential|access[._-]?key|account[._-]?key|sas[._]|\.key$/i;

export function settingHoldsSecret(name: string, value: string): boolean {
  return secretName.test(name) || maskSecrets(`${name}=${value}`) !== `${name}=${value}`;
}

/** The values with `***` for secrets, by names without `spark.`: the group `spark` of a job record. */
export function shownSettings(settings: Readonly<Record<string, string>>): Record<string, string> {
  const shown = Object.entries(settings).map(([name, value]) => [
    name.replace(/^spark\./, ''),
    secretName.test(name) ? '***' : maskSecrets(`${name}=${value}`).slice(name.length + 1),
  ]);
  return Object.fromEntries(shown) as Record<string, string>;
}

/** The settings that a client may set on the operator's cluster; all others belong to the operator, in the properties. */
const sparkSettingsOverRest: ReadonlySet<string> = new Set([
  'spark.driver.memory',
  'spark.driver.memoryOverhead',
  'spark.executor.memory',
  'spark.executor.memoryOverhead',
  'spark.driver.cores',
  'spark.executor.cores',
  'spark.cores.max',
  'spark.executor.instances',
  'spark.yarn.tags',
]);

/** Reads `--spark-conf`; returns its fault, or null if there is none. */
function sparkSetting(
  draft: RequestDraft,
  value: string,
  rest: { readonly index: number } | null,
): string | null {
  const equals = value.indexOf('=');
  const [key, setting] = [value.slice(0, Math.max(equals, 0)), value.slice(equals + 1)];
  if (!/^spark\.[A-Za-z0-9._-]+$/.test(key) || setting === '') return 'must be spark.SETTING=VALUE';
  if (Object.hasOwn(draft.sparkConf, key)) return `sets ${key} twice`;
  if (rest !== null && !sparkSettingsOverRest.has(key))
    return `${key} may not be set by requests: only memory, cores, instances and tags may`;
  if (rest !== null && !/^[A-Za-z0-9_.,-]{1,128}$/.test(setting))
    return `the value of ${key} has characters that are not allowed`;
  draft.sparkConf = { ...draft.sparkConf, [key]: setting };
  return null;
}

// The specification of an option: its names, its value, and the places where it may be given.

/** The origin of an option: over REST some options exist only in a narrower form, some not at all. */
export type OptionOrigin = 'command line' | 'rest';

export interface OptionSpec {
  readonly short: string | null;
  readonly long: string;
  readonly takesValue: boolean;
  readonly repeatable: boolean;
  readonly tools: readonly Tool[];
  readonly overRest: boolean;
  /** one line for the usage text: value names, then the meaning */
  readonly usage: readonly [value: string, meaning: string];
  /** Puts the value into the request; returns its fault, or null. `rest`: see parseExecution. */
  apply(draft: RequestDraft, value: string, rest: { readonly index: number } | null): string | null;
  /** Command line only: returns the value if the next argument belongs to it too, otherwise null. */
  joinsNext?(value: string, next: string | undefined): string | null;
}

// Values of options. `--at`: a moment, as it is stored.

/** ISO 8601; a time says its zone, a date alone is its beginning in UTC. */
function moment(draft: RequestDraft, value: string): string | null {
  const isMoment = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/.test(value);
  if (value !== 'all' && (!isMoment || Number.isNaN(Date.parse(value))))
    return 'must be all, a date, or a moment with its time zone, such as 2026-11-25T08:00:00Z';
  draft.at = value === 'all' ? value : new Date(value).toISOString();
  return null;
}

// `--rename`: other names of tables and columns.

/** Returns the fault of the value, or null if there is none. */
function renames(draft: RequestDraft, value: string): string | null {
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

// Parts of names: characters that people can read.

/**
 * Checks a part of the names of tables and columns, which people read: it may contain no invisible characters, nor any that change the
 * direction of the text around it.
 */
export function namePart(value: string): string | null {
  return hasHiddenCharacters(value)
    ? 'must not contain control characters, line ends, zero-width or bidirectional characters'
    : null;
}

/** Like `namePart`, for requests alone: the rule does not apply to a person's own command line. */
const ofRequests =
  (apply: OptionSpec['apply']): OptionSpec['apply'] =>
  (draft, value, rest) =>
    (rest === null ? null : namePart(value)) ?? apply(draft, value, rest);

// Names that options may not give to tables and columns, because a target could not distinguish them from its own.

/** Returns the fault of a name of a table or column, or null if there is none. */
export function reservedName(name: string): string | null {
  if (hasOwnPrefix(name)) return `${name}: ${reservedPrefix}`;
  if (isReservedColumn(name))
    return `${name} is reserved: databases and table formats have their own columns of that name; choose another`;
  if (isReservedTable(name)) return `${name}: ${reservedBySqlite}`;
  return name.toLowerCase() === fileKeyName
    ? `${name} is reserved: in every table it is the key of the document`
    : null;
}

/** Returns the fault of a prefix for all names of tables, or null if there is none. */
function reservedStart(prefix: string): string | null {
  if (isReservedTable(prefix)) return reservedBySqlite;
  return prefix.toLowerCase().startsWith(ownPrefix) ? reservedPrefix : null;
}

const reservedPrefix = `names that begin with ${ownPrefix} are reserved for temporary objects of loads; choose another`;
const reservedBySqlite =
  'names that begin with sqlite_ are reserved for tables of SQLite itself; choose another';

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

const saveModes: Readonly<Record<(typeof saveModeLetters)[SaveMode], SaveMode>> = {
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

const parseModes: Readonly<Record<(typeof parseModeLetters)[ParseMode], ParseMode>> = {
  a: 'all',
  d: 'data',
  s: 'statistics',
};

/** Returns the modes of a stored request by their names; unknown letters stay, for the check of the request to refuse. */
export function withModeNames(stored: object): object {
  const { saveMode, parseMode } = stored as { readonly saveMode?: unknown; readonly parseMode?: unknown };
  return {
    ...(saveMode === undefined ? {} : { saveMode: valueOr(saveModes, saveMode) }),
    ...(parseMode === undefined ? {} : { parseMode: valueOr(parseModes, parseMode) }),
  };
}

function valueOr(names: Readonly<Record<string, string>>, letter: unknown): unknown {
  return typeof letter === 'string' && Object.hasOwn(names, letter) ? names[letter] : letter;
}

// Options that select the schema that a tool works by.

const pathLength = 4096;

/** Digits only, exactly representable; null otherwise. */
function integer(value: string): number | null {
  const parsed = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  return Number.isSafeInteger(parsed) ? parsed : null;
}

function originName(value: string): string | null {
  if (value.includes('/')) return 'must not contain "/"';
  return isReservedName(value) ? 'is a reserved name' : namePart(value);
}

function origin(draft: RequestDraft, value: string, rest: { readonly index: number } | null): string | null {
  if (rest !== null && value.startsWith('$')) {
    const ref = integer(value.slice(1));
    if (ref === null) return 'must be an id, or $N for execution N of this request';
    if (ref >= rest.index) return `must name an execution before this one, which is $${rest.index}`;
    draft.originId = { ref };
    return null;
  }
  const id = integer(value);
  if (id === 0 || value.startsWith('$')) return 'must be the id of an origin, its name, or auto';
  const fault = id === null ? namePart(value) : null;
  if (fault !== null) return fault;
  draft.originId = id !== null ? { id } : value === 'auto' ? { auto: true } : { name: value };
  return null;
}

function logical(draft: RequestDraft, value: string): string | null {
  const id = integer(value);
  if (id === 0) return 'must be the id of a logical schema, or the name of its origin';
  const fault = id === null ? namePart(value) : null;
  if (fault !== null) return fault;
  if (id === null) draft.logicalName = value;
  else draft.logicalId = id;
  return null;
}

function xsdSet(draft: RequestDraft, value: string): string | null {
  if (value.length > pathLength) return `is longer than ${pathLength} characters`;
  if (value === '-')
    return 'the standard input is for documents: name the file, folder or archive of the XSDs';
  draft.xsd = [...(draft.xsd ?? []), value];
  return null;
}

function entry(draft: RequestDraft, value: string): string | null {
  if (value.length > pathLength) return `is longer than ${pathLength} characters`;
  draft.entry = [...(draft.entry ?? []), value];
  return null;
}

function statistics(draft: RequestDraft, value: string): string | null {
  const ids = value.split(',').map((part) => integer(part.trim()));
  if (ids.some((id) => id === null || id < 1)) return 'must be job ids, separated by commas';
  draft.useStats = ids.filter((id) => id !== null);
  return null;
}

// `-R NAME[:TYPE] NOW | ID | FILENAME | FILEPATH | =VALUE`: a column that every table gets.

/** the kinds that a person may request */
type ColumnKind = Exclude<ExtraColumn['kind'], 'carried'>;
type ColumnTypeName = ExtraColumn['type'];

const kindWords: Readonly<Record<string, ColumnKind>> = {
  NOW: 'now',
  ID: 'id',
  FILENAME: 'filename',
  FILEPATH: 'filepath',
};

/** The fixed list of type names, with the usual other names of each. */
const typeNames: Readonly<Record<string, ColumnTypeName>> = {
  text: 'text',
  varchar: 'text',
  string: 'text',
  boolean: 'boolean',
  bool: 'boolean',
  smallint: 'smallint',
  integer: 'integer',
  int: 'integer',
  bigint: 'bigint',
  numeric: 'numeric',
  decimal: 'numeric',
  real: 'real',
  double: 'double',
  date: 'date',
  time: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamptz',
};

/** Types a kind can fill, its default first; `value` takes any. */
const typesOfKind: Readonly<Record<Exclude<ColumnKind, 'value'>, readonly ColumnTypeName[]>> = {
  now: ['timestamptz', 'timestamp', 'date', 'time', 'text'],
  id: ['bigint', 'numeric', 'text'],
  filename: ['text'],
  filepath: ['text'],
};

const form = 'must be NAME[:TYPE] followed by NOW, ID, FILENAME, FILEPATH or =VALUE';

function apply(draft: RequestDraft, value: string): string | null {
  const match = /^([^\s:=]+)(?::([A-Za-z]+))?(?:\s+(NOW|ID|FILENAME|FILEPATH)|\s*=([^]*))$/.exec(value);
  if (match === null) return form;
  const [, name, typeName, word, literal] = match as unknown as [string, string, string?, string?, string?];
  if (/\p{Cc}/u.test(name) || name.length > 128) return 'the name is too long or has control characters';
  if (draft.extraColumns.some((known) => known.name.toLowerCase() === name.toLowerCase()))
    return `column ${name} is given twice`;
  const reserved = reservedName(name);
  if (reserved !== null) return reserved;
  const kind = word === undefined ? 'value' : kindWords[word]!;
  const allowed = kind === 'value' ? null : typesOfKind[kind];
  const key = typeName?.toLowerCase();
  if (key !== undefined && !Object.hasOwn(typeNames, key))
    return `the type must be one of ${Object.keys(typeNames).join(', ')}`;
  const type = key === undefined ? (allowed?.[0] ?? 'text') : typeNames[key]!;
  if (allowed !== null && !allowed.includes(type)) return `${word} cannot fill a column of type ${typeName}`;
  if (kind === 'value' && !holds(type, literal ?? '')) return `${literal} is not a value of type ${typeName}`;
  draft.extraColumns = [
    ...draft.extraColumns,
    kind === 'value' ? { name, type, kind, value: literal ?? '' } : { name, type, kind },
  ];
  return null;
}

/** Values are written as in documents: `true`, `2026-03-04`, `12.50`. */
function holds(kind: ColumnTypeName, value: string): boolean {
  const column = { name: '', role: 'extra', type: { kind }, nullable: true, xpath: null, path: '' } as const;
  const bytes = new TextEncoder().encode(value);
  const convert = conversionFor({ ...column, sourceType: null, references: null }, copyTextEncoder);
  const result = convert(bytes, 0, bytes.length, new ByteBuffer());
  return result !== UNCONVERTED && result !== EMPTY;
}

function joinsNext(value: string, next: string | undefined): string | null {
  if (next === undefined || /[\s=]/.test(value)) return null;
  return Object.hasOwn(kindWords, next) || next.startsWith('=') ? `${value} ${next}` : null;
}

export const parseExtraColumn = { apply, joinsNext };

// `--from` and `--after`: rows with documents in a column.

/** Returns the fault of the text of `--from`, or null if there is none. */
function rowSourceFault(text: string): string | null {
  const source = rowSourceOf(text);
  return 'fault' in source ? source.fault : null;
}

/** `COLUMN` or `COLUMN=VALUE`. */
function after(draft: RequestDraft, value: string): string | null {
  const at = value.indexOf('=');
  const column = at < 0 ? value : value.slice(0, at);
  if (column === '') return 'must be COLUMN or COLUMN=VALUE';
  draft.after = at < 0 ? { column } : { column, mark: value.slice(at + 1) };
  return null;
}

// The table: options with a value that goes into the request, and options without one.

type More = {
  readonly repeatable?: true;
  readonly overRest?: false;
  readonly joinsNext?: OptionSpec['joinsNext'];
};

function withValue(
  flags: readonly [string | null, string],
  of: readonly Tool[],
  usage: OptionSpec['usage'],
  apply: OptionSpec['apply'],
  more: More = {},
): OptionSpec {
  return {
    short: flags[0],
    long: flags[1],
    takesValue: true,
    repeatable: more.repeatable ?? false,
    tools: of,
    overRest: more.overRest ?? true,
    usage,
    apply,
    joinsNext: more.joinsNext,
  };
}

type TextMember =
  | 'name'
  | 'out'
  | 'outUser'
  | 'outPassword'
  | 'prefix'
  | 'suffix'
  | 'root'
  | 'rowTag'
  | 'key'
  | 'partition'
  | 'in'
  | 'document'
  | 'credential'
  | 'from'
  | 'query'
  | 'xmlColumn';
type FlagMember =
  | 'json'
  | 'quiet'
  | 'dryRun'
  | 'validate'
  | 'prune'
  | 'skipLoaded'
  | 'concatenated'
  | 'noSamples'
  | 'views'
  | 'deleteMissing'
  | 'history';

function text(
  member: TextMember,
  maxLength: number,
  check?: (value: string, draft: RequestDraft) => string | null,
): OptionSpec['apply'] {
  return (draft, value) => {
    if (value.length > maxLength) return `is longer than ${maxLength} characters`;
    draft[member] = value;
    return check?.(value, draft) ?? null;
  };
}

function number(
  min: number,
  max: number,
  set: (draft: RequestDraft, value: number) => void,
): OptionSpec['apply'] {
  return (draft, value) => {
    const parsed = integer(value);
    if (parsed === null || parsed < min || parsed > max)
      return `must be a whole number from ${min} to ${max}`;
    set(draft, parsed);
    return null;
  };
}

function oneOf<T extends string>(
  values: readonly T[],
  set: (draft: RequestDraft, value: T) => void,
): OptionSpec['apply'] {
  return (draft, value) => {
    const found = values.find((candidate) => candidate === value);
    if (found === undefined) return `must be one of ${values.join(', ')}`;
    set(draft, found);
    return null;
  };
}

function flag(
  flags: readonly [string | null, string],
  of: readonly Tool[],
  member: FlagMember,
  meaning: string,
  more: More = {},
): OptionSpec {
  const apply: OptionSpec['apply'] = (draft) => {
    draft[member] = true;
    return null;
  };
  return { ...withValue(flags, of, ['', meaning], apply, more), takesValue: false };
}

const all: readonly Tool[] = ['xsd2er', 'xml2er', 'er2xml', 'unload'];
const makers: readonly Tool[] = ['xsd2er', 'xml2er'];
const loaders: readonly Tool[] = ['xml2er'];
const readers: readonly Tool[] = ['er2xml', 'unload'];
const users: readonly Tool[] = ['xml2er', 'er2xml', 'unload'];
const writers: readonly Tool[] = ['xml2er', 'er2xml'];

const maxId = Number.MAX_SAFE_INTEGER;

export const toolOptions: readonly OptionSpec[] = [
  withValue(
    ['-j', '--job'],
    all,
    ['ID', 'take all settings from the record of this job'],
    number(1, maxId, (draft, id) => (draft.jobId = id)),
    { overRest: false },
  ),
  flag([null, '--json'], all, 'json', 'print the summary as one JSON object in the last line', {
    overRest: false,
  }),
  flag([null, '--quiet'], all, 'quiet', 'print only errors, and the output of --json and -S p', {
    overRest: false,
  }),
  withValue([null, '--name'], makers, ['NAME', 'the name of the origin'], text('name', 128, originName)),
  withValue(
    [null, '--parent'],
    makers,
    ['ID', 'make the next version of this origin'],
    number(1, maxId, (draft, id) => (draft.parent = id)),
  ),
  withValue(
    ['-x', '--origin'],
    users,
    [
      'ID|NAME|auto',
      'use this origin; an existing target chooses its logical schema. auto: the origin that loaded the target (default for an existing target, er2xml and unload)',
    ],
    origin,
  ),
  withValue(
    ['-l', '--logical'],
    users,
    [
      'ID|NAME',
      'use this logical schema, or the only one of this origin, instead of the choice of the target',
    ],
    logical,
  ),
  withValue(
    [null, '--xsd'],
    loaders,
    [
      'PATH',
      'load by this XSD set: a file, folder or archive. It is stored once; a changed set is stored as its next version',
    ],
    xsdSet,
    { repeatable: true },
  ),
  withValue(
    [null, '--entry'],
    makers,
    [
      'FILE',
      'the file at which to enter an XSD set, if a folder or archive has several: its path there, or the end of the path',
    ],
    entry,
    { repeatable: true },
  ),
  withValue(
    [null, '--credential'],
    all,
    [
      'NAME',
      'the credential for inputs at an address, and for a catalogue (iceberg:https://…): one of the organisation, or a source of the operator',
    ],
    text('credential', 64, (value) =>
      credentialName.test(value) ? null : 'is not the name of a credential',
    ),
  ),
  withValue(
    [null, '--from'],
    makers,
    [
      'SOURCE',
      'read rows with a document in one column instead of inputs: postgresql://…, mysql://…, sqlite:FILE or duckdb:FILE with --query, or a Parquet or CSV file',
    ],
    text('from', pathLength, (value) => rowSourceFault(value)),
  ),
  withValue(
    [null, '--query'],
    makers,
    ['SQL', 'with --from: one SELECT of documents and of columns to keep with them'],
    text('query', 65_536),
  ),
  withValue(
    [null, '--xml-column'],
    makers,
    [
      'NAME',
      'with --from: the column of the documents (default: the only XML column, or else the only text column)',
    ],
    text('xmlColumn', 256),
  ),
  withValue(
    [null, '--after'],
    loaders,
    [
      'COLUMN[=VALUE]',
      'with --from: read rows in the order of this column, from the end of the last such load into this target, or from VALUE',
    ],
    after,
  ),
  withValue(['-a', '--use-stats'], makers, ['ID,…', 'use the statistics of these jobs'], statistics),
  withValue(
    ['-g', '--map'],
    makers,
    ['0..3', 'design the tables at this map level (default 3)'],
    number(0, 3, (draft, level) => (draft.mapLevel = level as 0 | 1 | 2 | 3)),
  ),
  withValue(
    ['-e', '--parsemode'],
    loaders,
    [
      'a|d|s',
      'a: data and statistics (default with -o); d: data only; s: statistics only (default without -o)',
    ],
    oneOf(['a', 'd', 's'], (draft, letter) => (draft.parseMode = parseModes[letter])),
  ),
  flag(['-s', '--skip'], all, 'dryRun', 'dry run: save nothing'),
  withValue(
    ['-i', '--in'],
    readers,
    ['TARGET', 'the target to read'],
    text('in', pathLength, (value, { tool }) => fileNameFault(value, tool, false)),
  ),
  withValue(
    ['-D', '--document'],
    readers,
    ['NAME', 'the name of one document'],
    text('document', pathLength),
  ),
  withValue(
    [null, '--version'],
    ['er2xml'],
    [
      'N',
      'for Delta and Iceberg tables: read them as they were when the table _loads had this version (default: the newest)',
    ],
    number(0, maxId, (draft, version) => (draft.version = version)),
  ),
  withValue(
    [null, '--at'],
    ['er2xml'],
    [
      'MOMENT|all',
      'for a target with history (-S m --history): documents as they were at a moment, such as 2026-11-25T08:00:00Z, or all versions (default: current documents)',
    ],
    moment,
  ),
  withValue(
    ['-o', '--out'],
    writers,
    ['TARGET', 'the target to write'],
    text('out', pathLength, (value, { tool }) => fileNameFault(value, tool, true)),
  ),
  withValue(
    ['-u', '--out-user'],
    users,
    ['USER', 'the user of the target'],
    ofRequests(text('outUser', 256)),
  ),
  withValue(
    ['-p', '--out-password'],
    users,
    ['PASSWORD', 'the password of the target'],
    text('outPassword', 4096),
  ),
  withValue(
    ['-f', '--format'],
    loaders,
    [
      layoutNames.join('|'),
      'the format of a folder (default csv). xlsx: an Excel workbook for each load. delta, iceberg: Delta Lake tables, Iceberg tables, or both over the same files',
    ],
    oneOf(layoutNames, (draft, format) => (draft.format = format)),
  ),
  withValue(
    [null, '--parquet-version'],
    loaders,
    [
      '1|2',
      'encodings of Parquet files: 1 for every reader (default in buckets), 2 for files that are about a quarter smaller (default elsewhere)',
    ],
    oneOf(['1', '2'], (draft, version) => (draft.parquetVersion = version === '1' ? 1 : 2)),
  ),
  withValue(
    ['-S', '--savemode'],
    writers,
    [
      'e|a|o|i|m|w|p',
      'e: fail if rows exist; a: append (default); o: overwrite; i: do nothing if rows exist; m: merge, a document replaces the one with its key (databases, Delta, Iceberg); w: make tables only; p: print the DDL',
    ],
    oneOf(['e', 'a', 'o', 'i', 'm', 'w', 'p'], (draft, letter) => (draft.saveMode = saveModes[letter])),
  ),
  withValue(
    [null, '--key'],
    loaders,
    ['XPATH,…', 'with -S m: the values that identify a document, such as /order/@id (default: its name)'],
    text('key', 4096),
  ),
  flag(
    [null, '--history'],
    loaders,
    'history',
    'with -S m: keep replaced and missing documents with the time until which they were valid; views TABLE_current show the current ones',
  ),
  flag(
    [null, '--delete-missing'],
    loaders,
    'deleteMissing',
    'with -S m: remove documents of the target that are no longer among the inputs',
  ),
  withValue(
    ['-r', '--prefix'],
    makers,
    ['TEXT', 'put this text before each table name'],
    text('prefix', 64, (value) => namePart(value) ?? reservedStart(value)),
  ),
  withValue(
    ['-y', '--suffix'],
    makers,
    ['TEXT', 'put this text after each table name'],
    text('suffix', 64, namePart),
  ),
  withValue(
    [null, '--namemode'],
    makers,
    ['l|u|c', 'case of names: lower (default), upper, or as in the source'],
    oneOf(['l', 'u', 'c'], (draft, mode) => (draft.nameMode = mode)),
  ),
  withValue([null, '--rename'], makers, ['OLD=NEW,…', 'rename tables and columns'], renames, {
    repeatable: true,
  }),
  withValue(
    [null, '--name-max-len'],
    makers,
    ['N', 'the greatest length of a name in bytes (default 63)'],
    number(12, 128, (draft, length) => (draft.nameMaxLen = length)),
  ),
  withValue(
    [null, '--default-varchar-len'],
    makers,
    ['N', 'the length of text columns whose length is unknown'],
    number(1, 10_485_760, (draft, length) => (draft.defaultVarcharLen = length)),
  ),
  withValue(
    ['-R', '--extra-column'],
    makers,
    ['NAME[:TYPE] NOW|ID|FILENAME|FILEPATH|=VALUE', 'add a column to each table'],
    parseExtraColumn.apply,
    {
      repeatable: true,
      joinsNext: parseExtraColumn.joinsNext,
    },
  ),
  withValue(
    [null, '--root'],
    makers,
    ['QNAME', 'the root element of documents'],
    ofRequests(text('root', 1024)),
  ),
  withValue(
    [null, '--row-tag'],
    loaders,
    ['QNAME', 'the element that starts a document inside a larger file'],
    ofRequests(text('rowTag', 1024)),
  ),
  flag(
    [null, '--concatenated'],
    loaders,
    'concatenated',
    'accept several documents in one file, one after the other; they are called NAME#1, NAME#2, …',
  ),
  withValue(
    [null, '--keys'],
    loaders,
    [
      'sequence|hash',
      'the kind of row keys. sequence (default): numbers in sequence; hash: derived from the hash of the document (what --engine spark has without this option, except with -S m)',
    ],
    oneOf(['sequence', 'hash'], (draft, keys) => (draft.keys = keys)),
  ),
  flag([null, '--validate'], loaders, 'validate', 'check each document against the XSD first'),
  withValue(
    [null, '--unmapped'],
    loaders,
    [
      'capture|report|fail',
      'content that the schema does not declare. capture (default): keep it in _unmapped; if you give it, documents with unknown root elements are kept too; report: count it; fail: reject the document',
    ],
    oneOf(['capture', 'report', 'fail'], (draft, unmapped) => {
      draft.unmapped = unmapped;
      draft.keepsOtherRoots = unmapped === 'capture';
    }),
  ),
  withValue(
    [null, '--on-drift'],
    loaders,
    [
      'keep|evolve|fail',
      'if documents have content that the schema has no place for. keep (default): keep it in _unmapped; evolve: make the next version of an inferred schema and load by it; fail: fail and list the paths',
    ],
    oneOf(['keep', 'evolve', 'fail'], (draft, onDrift) => (draft.onDrift = onDrift)),
  ),
  withValue(
    [null, '--on-error'],
    writers,
    ['fail|skip', 'if a document is bad. fail (default): fail the job; skip: skip the document'],
    oneOf(['fail', 'skip'], (draft, onError) => (draft.onError = onError)),
  ),
  flag([null, '--prune'], makers, 'prune', 'omit tables and columns that documents do not use'),
  withValue(
    [null, '--tables'],
    loaders,
    ['used|all', 'used (default): make a table when it first gets a row; all: make all tables'],
    oneOf(['used', 'all'], (draft, tables) => (draft.tables = tables)),
  ),
  withValue(
    [null, '--indexes'],
    loaders,
    [
      'none|keys|all',
      'none: make no indexes; keys (default): those of foreign keys; all: also those of ids and references of the XSD',
    ],
    oneOf(['none', 'keys', 'all'], (draft, indexes) => (draft.indexes = indexes)),
  ),
  withValue(
    [null, '--codes'],
    loaders,
    [
      'none|table|check',
      'values that the XSD enumerates. none (default): do not keep them; table: keep them in the table _codes; check: also add checks in PostgreSQL',
    ],
    oneOf(['none', 'table', 'check'], (draft, codes) => (draft.codes = codes)),
  ),
  flag(
    [null, '--views'],
    loaders,
    'views',
    'make views of business entities (in a folder: views.sql); later loads keep them up to date',
  ),
  withValue(
    [null, '--partition'],
    loaders,
    [
      'COLUMN,…',
      'with -f delta or iceberg: partition new tables by these columns: COLUMN or TABLE.COLUMN, or year(COLUMN), month(COLUMN), day(COLUMN), hour(COLUMN)',
    ],
    text('partition', 4096, (value) => {
      const wishes = parsePartition(value);
      return typeof wishes === 'string' ? wishes : null;
    }),
  ),
  flag(
    [null, '--skip-loaded'],
    loaders,
    'skipLoaded',
    'skip documents whose SHA-256 is already in the target',
  ),
  withValue(
    [null, '--missing'],
    makers,
    [
      'fail|wildcard',
      'if an XSD component is referenced but not defined. fail (default): fail; wildcard: accept any content',
    ],
    oneOf(['fail', 'wildcard'], (draft, missing) => (draft.missing = missing)),
  ),
  flag([null, '--no-samples'], makers, 'noSamples', 'keep no values of documents in the statistics'),
  withValue(
    [null, '--workers'],
    writers,
    ['N', 'the number of threads (default 1)'],
    number(1, 256, (draft, workers) => (draft.workers = workers)),
  ),
  withValue(
    [null, '--engine'],
    loaders,
    ['local|spark', 'local (default): run on this machine; spark: run on Spark'],
    oneOf(['local', 'spark'], (draft, engine) => (draft.engine = engine)),
  ),
  withValue([null, '--spark-conf'], loaders, ['K=V', 'set a Spark setting'], sparkSetting, {
    repeatable: true,
  }),
];

/** The option a flag names for this tool, or null. */
export function findOption(tool: Tool, name: string, from: OptionOrigin): OptionSpec | null {
  const option = toolOptions.find((candidate) => candidate.short === name || candidate.long === name);
  if (option === undefined || !option.tools.includes(tool)) return null;
  return from === 'rest' && !option.overRest ? null : option;
}

/** The options under the headings of help texts and documentation. */
export const optionGroups = {
  Input: [
    '--from',
    '--query',
    '--xml-column',
    '--after',
    '--row-tag',
    '--concatenated',
    '--root',
    '--credential',
    '--in',
    '--document',
    '--version',
    '--at',
  ],
  Schema: [
    '--xsd',
    '--entry',
    '--missing',
    '--name',
    '--origin',
    '--logical',
    '--parent',
    '--map',
    '--prune',
    '--use-stats',
    '--validate',
  ],
  Target: [
    '--out',
    '--format',
    '--parquet-version',
    '--out-user',
    '--out-password',
    '--savemode',
    '--key',
    '--history',
    '--delete-missing',
    '--skip-loaded',
    '--keys',
    '--tables',
    '--indexes',
    '--codes',
    '--views',
    '--partition',
  ],
  Names: [
    '--prefix',
    '--suffix',
    '--namemode',
    '--rename',
    '--name-max-len',
    '--default-varchar-len',
    '--extra-column',
  ],
  Errors: ['--on-error', '--unmapped', '--on-drift'],
  Speed: ['--workers', '--engine', '--spark-conf'],
  Run: ['--skip', '--parsemode', '--no-samples', '--job', '--json', '--quiet'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
