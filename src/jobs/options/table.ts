/**
 * The options each tool has: an allow-list (docs/decisions/service/tools-are-processes.md). An option that is not in this table does
 * not exist.
 */
import type { RequestDraft } from '../request/tool-request.ts';
import type { Tool } from '../request/tools.ts';
import {
  integer,
  entry,
  logical,
  origin,
  originName,
  pathLength,
  statistics,
  xsdSet,
} from './which-schema.ts';
import type { OptionSpec, OptionOrigin } from './specification.ts';
import { parsePartition } from '../../engine/sql/partition-wish.ts';
import { credentialName } from '../../files/remote-location.ts';
import { layoutNames } from '../../ports/rows/layouts.ts';
import { after, rowSourceFault } from './row-inputs.ts';
import { parseExtraColumn } from './extra-column.ts';
import { parseModes, saveModes, moment, namePart, ofRequests, renames, reservedStart } from './values.ts';
import { fileNameFault } from '../request/target.ts';
import { sparkSetting } from './spark-settings.ts';

// Makes options, with a value that goes into the request, or without one.

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
    ['ID', 'take everything from that job record'],
    number(1, maxId, (draft, id) => (draft.jobId = id)),
    { overRest: false },
  ),
  flag([null, '--json'], all, 'json', 'print the summary as one JSON object in the last line', {
    overRest: false,
  }),
  flag([null, '--quiet'], all, 'quiet', 'print nothing but errors, and what --json and -S p ask for', {
    overRest: false,
  }),
  withValue([null, '--name'], makers, ['NAME', "the origin's name"], text('name', 128, originName)),
  withValue(
    [null, '--parent'],
    makers,
    ['ID', 'make it the next version of that origin'],
    number(1, maxId, (draft, id) => (draft.parent = id)),
  ),
  withValue(
    ['-x', '--origin'],
    users,
    [
      'ID|NAME|auto',
      'use this origin; a target that exists decides by which of its logical schemas. auto: the one that the target was loaded by (default where it was, and of er2xml and unload)',
    ],
    origin,
  ),
  withValue(
    ['-l', '--logical'],
    users,
    ['ID|NAME', 'use this logical schema, or the only one of that origin, whatever made the target'],
    logical,
  ),
  withValue(
    [null, '--xsd'],
    loaders,
    [
      'PATH',
      'load by this XSD set: a file, folder or archive; it is stored once, a changed one as its next version',
    ],
    xsdSet,
    { repeatable: true },
  ),
  withValue(
    [null, '--entry'],
    makers,
    [
      'FILE',
      'file that an XSD set is entered by, of a folder or archive that holds several such: its name in there, or the end of that',
    ],
    entry,
    { repeatable: true },
  ),
  withValue(
    [null, '--credential'],
    all,
    [
      'NAME',
      'what inputs by address are read with, and a catalogue (iceberg:https://…) is reached with: a credential of the organisation, or a source of the operator',
    ],
    text('credential', 64, (value) => (credentialName.test(value) ? null : 'is no name of a credential')),
  ),
  withValue(
    [null, '--from'],
    makers,
    [
      'SOURCE',
      'in place of inputs, rows with a document in one column: postgresql://…, mysql://…, sqlite:FILE or duckdb:FILE with --query, or a file of Parquet or CSV',
    ],
    text('from', pathLength, (value) => rowSourceFault(value)),
  ),
  withValue(
    [null, '--query'],
    makers,
    ['SQL', 'with --from: one SELECT, of documents and of what is carried along with them'],
    text('query', 65_536),
  ),
  withValue(
    [null, '--xml-column'],
    makers,
    ['NAME', 'with --from: the column of the documents (default: the only one of XML, or else of text)'],
    text('xmlColumn', 256),
  ),
  withValue(
    [null, '--after'],
    loaders,
    [
      'COLUMN[=VALUE]',
      'with --from: rows in the order of that column, from where the last load from there into this target ended, or from VALUE on',
    ],
    after,
  ),
  withValue(['-a', '--use-stats'], makers, ['ID,…', 'use the statistics of these jobs'], statistics),
  withValue(
    ['-g', '--map'],
    makers,
    ['0..3', 'make the mapping, at this level (default 3)'],
    number(0, 3, (draft, level) => (draft.mapLevel = level as 0 | 1 | 2 | 3)),
  ),
  withValue(
    ['-e', '--parsemode'],
    loaders,
    ['a|d|s', 'all (default with -o), data only, statistics only (default without)'],
    oneOf(['a', 'd', 's'], (draft, letter) => (draft.parseMode = parseModes[letter])),
  ),
  flag(['-s', '--skip'], all, 'dryRun', 'dry run: nothing is saved'),
  withValue(
    ['-i', '--in'],
    readers,
    ['TARGET', 'where the rows are'],
    text('in', pathLength, (value, { tool }) => fileNameFault(value, tool, false)),
  ),
  withValue(['-D', '--document'], readers, ['NAME', 'one document of them'], text('document', pathLength)),
  withValue(
    [null, '--version'],
    ['er2xml'],
    [
      'N',
      'of a folder of Delta or Iceberg tables: as it was when the table _loads had this version (default: the newest)',
    ],
    number(0, maxId, (draft, version) => (draft.version = version)),
  ),
  withValue(
    [null, '--at'],
    ['er2xml'],
    [
      'MOMENT|all',
      'of a target with history (-S m --history): documents as they were then, such as 2026-11-25T08:00:00Z, or all versions (default: those that are current)',
    ],
    moment,
  ),
  withValue(
    ['-o', '--out'],
    writers,
    ['TARGET', 'where to write'],
    text('out', pathLength, (value, { tool }) => fileNameFault(value, tool, true)),
  ),
  withValue(['-u', '--out-user'], users, ['USER', 'user of the target'], ofRequests(text('outUser', 256))),
  withValue(
    ['-p', '--out-password'],
    users,
    ['PASSWORD', 'password of the target'],
    text('outPassword', 4096),
  ),
  withValue(
    ['-f', '--format'],
    loaders,
    [
      layoutNames.join('|'),
      'format of files in a folder (default csv); xlsx: an Excel workbook of each load; delta, iceberg: tables of Delta Lake, of Iceberg, or both over the same files',
    ],
    oneOf(layoutNames, (draft, format) => (draft.format = format)),
  ),
  withValue(
    [null, '--parquet-version'],
    loaders,
    [
      '1|2',
      'encodings of Parquet files: 1 for every reader (default in buckets, whose scripts load them into warehouses), 2 for files a quarter smaller (default elsewhere)',
    ],
    oneOf(['1', '2'], (draft, version) => (draft.parquetVersion = version === '1' ? 1 : 2)),
  ),
  withValue(
    ['-S', '--savemode'],
    writers,
    [
      'e|a|o|i|m|w|p',
      'error, append (default), overwrite, ignore, merge (databases, Delta and Iceberg: a document replaces that of its key), writeschema, printschema',
    ],
    oneOf(['e', 'a', 'o', 'i', 'm', 'w', 'p'], (draft, letter) => (draft.saveMode = saveModes[letter])),
  ),
  withValue(
    [null, '--key'],
    loaders,
    ['XPATH,…', 'with -S m: what tells a document from others, such as /order/@id (default: its name)'],
    text('key', 4096),
  ),
  flag(
    [null, '--history'],
    loaders,
    'history',
    'with -S m: documents that are replaced, or missing, stay, with the time until which they were valid; views TABLE_current show the others',
  ),
  flag(
    [null, '--delete-missing'],
    loaders,
    'deleteMissing',
    'with -S m: documents of the target that are not among the inputs any more are removed',
  ),
  withValue(
    ['-r', '--prefix'],
    makers,
    ['TEXT', 'before every table name'],
    text('prefix', 64, (value) => namePart(value) ?? reservedStart(value)),
  ),
  withValue(['-y', '--suffix'], makers, ['TEXT', 'after every table name'], text('suffix', 64, namePart)),
  withValue(
    [null, '--namemode'],
    makers,
    ['l|u|c', 'lower case (default), upper case, as in the source'],
    oneOf(['l', 'u', 'c'], (draft, mode) => (draft.nameMode = mode)),
  ),
  withValue([null, '--rename'], makers, ['OLD=NEW,…', 'other names of tables and columns'], renames, {
    repeatable: true,
  }),
  withValue(
    [null, '--name-max-len'],
    makers,
    ['N', 'longest name in bytes (default 63)'],
    number(12, 128, (draft, length) => (draft.nameMaxLen = length)),
  ),
  withValue(
    [null, '--default-varchar-len'],
    makers,
    ['N', 'length of text of unknown length'],
    number(1, 10_485_760, (draft, length) => (draft.defaultVarcharLen = length)),
  ),
  withValue(
    ['-R', '--extra-column'],
    makers,
    ['NAME[:TYPE] NOW|ID|FILENAME|FILEPATH|=VALUE', 'a column on every table'],
    parseExtraColumn.apply,
    {
      repeatable: true,
      joinsNext: parseExtraColumn.joinsNext,
    },
  ),
  withValue(
    [null, '--root'],
    makers,
    ['QNAME', 'which element is a document'],
    ofRequests(text('root', 1024)),
  ),
  withValue(
    [null, '--row-tag'],
    loaders,
    ['QNAME', 'which element starts a document inside a larger file'],
    ofRequests(text('rowTag', 1024)),
  ),
  flag(
    [null, '--concatenated'],
    loaders,
    'concatenated',
    'a file may hold several documents, one after the other: they become NAME#1, NAME#2, …',
  ),
  withValue(
    [null, '--keys'],
    loaders,
    ['sequence|hash', 'how row keys are made (default sequence); with --engine spark hash, but for -S m'],
    oneOf(['sequence', 'hash'], (draft, keys) => (draft.keys = keys)),
  ),
  flag([null, '--validate'], loaders, 'validate', 'check each document against the XSD first'),
  withValue(
    [null, '--unmapped'],
    loaders,
    [
      'capture|report|fail',
      'content that the mapping does not know (default capture); given, capture keeps documents of unknown roots, too',
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
      'documents hold content that the schema has no place for: keep it in _unmapped (default), make the next version of a schema that was made of documents and load by it, or stop and list the paths',
    ],
    oneOf(['keep', 'evolve', 'fail'], (draft, onDrift) => (draft.onDrift = onDrift)),
  ),
  withValue(
    [null, '--on-error'],
    writers,
    ['fail|skip', 'what a bad document does (default fail)'],
    oneOf(['fail', 'skip'], (draft, onError) => (draft.onError = onError)),
  ),
  flag([null, '--prune'], makers, 'prune', 'leave paths that never occur out of the target'),
  withValue(
    [null, '--tables'],
    loaders,
    ['used|all', 'create tables when first needed (default), or all'],
    oneOf(['used', 'all'], (draft, tables) => (draft.tables = tables)),
  ),
  withValue(
    [null, '--indexes'],
    loaders,
    ['none|keys|all', 'indexes of foreign keys (keys, default), of ids and references of the XSD, too (all)'],
    oneOf(['none', 'keys', 'all'], (draft, indexes) => (draft.indexes = indexes)),
  ),
  withValue(
    [null, '--codes'],
    loaders,
    [
      'none|table|check',
      'codes that the XSD enumerates: not kept (default), in the table _codes (table), and as checks of PostgreSQL, too (check)',
    ],
    oneOf(['none', 'table', 'check'], (draft, codes) => (draft.codes = codes)),
  ),
  flag(
    [null, '--views'],
    loaders,
    'views',
    'make views of the business entities in the target, views.sql in a folder; loads after this one keep them up to date',
  ),
  withValue(
    [null, '--partition'],
    loaders,
    [
      'COLUMN,…',
      'with -f delta or iceberg: new tables with these columns are partitioned by them; COLUMN or TABLE.COLUMN, or year(COLUMN), month(COLUMN), day(COLUMN), hour(COLUMN)',
    ],
    text('partition', 4096, (value) => {
      const wishes = parsePartition(value);
      return typeof wishes === 'string' ? wishes : null;
    }),
  ),
  flag([null, '--skip-loaded'], loaders, 'skipLoaded', 'skip documents whose hash is there already'),
  withValue(
    [null, '--missing'],
    makers,
    ['fail|wildcard', 'a referenced XSD component that is nowhere (default fail)'],
    oneOf(['fail', 'wildcard'], (draft, missing) => (draft.missing = missing)),
  ),
  flag([null, '--no-samples'], makers, 'noSamples', 'keep no values in the statistics'),
  withValue(
    [null, '--workers'],
    writers,
    ['N', 'threads (default 1)'],
    number(1, 256, (draft, workers) => (draft.workers = workers)),
  ),
  withValue(
    [null, '--engine'],
    loaders,
    ['local|spark', 'where it runs (default local)'],
    oneOf(['local', 'spark'], (draft, engine) => (draft.engine = engine)),
  ),
  withValue([null, '--spark-conf'], loaders, ['K=V', 'a setting of Spark'], sparkSetting, {
    repeatable: true,
  }),
];

/** The option a flag names for this tool, or null. */
export function findOption(tool: Tool, name: string, from: OptionOrigin): OptionSpec | null {
  const option = toolOptions.find((candidate) => candidate.short === name || candidate.long === name);
  if (option === undefined || !option.tools.includes(tool)) return null;
  return from === 'rest' && !option.overRest ? null : option;
}

/** The lines of a tool's usage text. */
export function usageLines(tool: Tool): string[] {
  return toolOptions
    .filter((option) => option.tools.includes(tool))
    .map((option) => {
      const flags = option.short === null ? `    ${option.long}` : `${option.short}, ${option.long}`;
      return `  ${`${flags} ${option.usage[0]}`.trimEnd().padEnd(34)}  ${option.usage[1]}`;
    });
}
