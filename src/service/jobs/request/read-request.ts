/** Reads a tool's request: from a command line, or from the items of one execution of a REST request. */
import { closestWord } from '../../../engine/closest-word.ts';
import { AppError, type ErrorDetail } from '../../../errors.ts';
import {
  type GivenOption,
  type RequestDraft,
  type RequestItem,
  type ToolRequest,
  requestDefaults,
} from './tool-request.ts';
import {
  type OptionOrigin,
  type OptionSpec,
  findOption,
  toolOptions,
  parseModeLetters,
} from '../option-table.ts';
import { tools, type Tool } from './tools.ts';
import { isRemoteLocation } from '../../files/remote-location.ts';
import { defaultLayout, layoutFacts, layouts } from '../../../ports/layouts.ts';
import { rowSourceOf } from './row-source.ts';

/**
 * Reads the items of one execution of a REST request; `index` is its place among the executions, which a `$N` must precede.
 * All complaints are collected into one AppError (`unknown_option` or `invalid_option`) with JSON pointers.
 */
export function parseExecution(tool: Tool, items: readonly RequestItem[], index: number): ToolRequest {
  return readItems(tool, items, { index });
}

/**
 * Reads a command line (without the program's name): `-g 3`, `-g3`, `--map 3`, `--map=3`, `--` before inputs that look like options.
 * AppError `unknown_option` or `invalid_option`: wrong usage.
 */
export function parseToolArguments(tool: Tool, argv: readonly string[]): ToolRequest {
  const items: RequestItem[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const argument = argv[at]!;
    if (argument === '--') {
      items.push(...argv.slice(at + 1).map((value) => ({ pointer: '', flag: null, value })));
      break;
    }
    if (argument === '-' || !argument.startsWith('-')) {
      items.push({ pointer: '', flag: null, value: argument });
      continue;
    }
    const { flag, attached } = splitFlag(argument);
    const option = findOption(tool, flag, 'command line');
    if (option === null || !option.takesValue || attached !== undefined) {
      items.push({ pointer: '', flag, value: attached });
      continue;
    }
    const next = argv[at + 1];
    if (next === undefined || isKnownFlag(tool, next)) {
      items.push({ pointer: '', flag });
      continue;
    }
    at += 1;
    // The kind of an extra column may be an argument of its own: -R loaded NOW
    const joined = option.joinsNext?.(next, argv[at + 1]) ?? null;
    if (joined !== null) at += 1;
    items.push({ pointer: '', flag, value: joined ?? next });
  }
  return readItems(tool, items, null);
}

function splitFlag(argument: string): { readonly flag: string; readonly attached?: string } {
  if (argument.startsWith('--')) {
    const equals = argument.indexOf('=');
    if (equals < 0) return { flag: argument };
    return { flag: argument.slice(0, equals), attached: argument.slice(equals + 1) };
  }
  if (argument.length === 2) return { flag: argument };
  return { flag: argument.slice(0, 2), attached: argument.slice(2) };
}

function isKnownFlag(tool: Tool, argument: string): boolean {
  return argument.length > 1 && findOption(tool, argument, 'command line') !== null;
}

function readItems(
  tool: Tool,
  items: readonly RequestItem[],
  rest: { readonly index: number } | null,
): ToolRequest {
  const draft: RequestDraft = { tool, ...requestDefaults };
  const errors: ErrorDetail[] = [];
  const given = new Map<OptionSpec, RequestItem>();
  const listed: GivenOption[] = [];
  let unknown = false;
  const complain = (item: RequestItem, member: 'command' | 'value', detail: string): void => {
    errors.push({ pointer: rest === null ? '' : `${item.pointer}/${member}`, detail });
  };

  for (const item of items) {
    if (item.flag?.includes('\0') || item.value?.includes('\0')) {
      const member = item.flag === null || item.flag.includes('\0') ? 'command' : 'value';
      complain(item, member, 'must not contain the NUL character');
      continue;
    }
    const value = item.value === '' ? undefined : item.value;
    if (item.flag === null) {
      if (value === undefined) complain(item, 'command', 'the path of the input is missing');
      else draft.inputs = [...draft.inputs, value];
      continue;
    }
    const option = findOption(tool, item.flag, rest === null ? 'command line' : 'rest');
    if (option === null) {
      unknown = true;
      // the rest of the flag may be a secret
      const name = item.flag.replace(/(?<==)[^]*/, '…');
      complain(
        item,
        'command',
        `${tool} has no option ${quote(name)}${whatIsMeant(tool, item.flag, rest === null ? 'command line' : 'rest')}`,
      );
    } else if (given.has(option) && !option.repeatable) {
      complain(item, 'command', `${item.flag} is given twice`);
    } else if (option.takesValue && value === undefined) {
      complain(item, 'value', `${item.flag} needs a value`);
    } else if (!option.takesValue && value !== undefined) {
      complain(item, 'value', `${item.flag} takes no value`);
    } else {
      const problem = option.apply(draft, value ?? '', rest);
      if (problem !== null) complain(item, 'value', `${item.flag}: ${problem}`);
      listed.push({ long: option.long, value: value ?? null });
    }
    if (option !== null) given.set(option, item);
  }

  const givenItem = (flag: string): RequestItem | undefined => {
    const option = findOption(tool, flag, 'command line');
    return option === null ? undefined : given.get(option);
  };
  // targets that were loaded so before stay so; documents that are replaced by their keys are numbered
  if (draft.engine === 'spark' && draft.saveMode !== 'merge' && givenItem('--keys') === undefined)
    draft.keys = 'hash';
  if (errors.length === 0) {
    for (const { flag, detail } of checkCombinations(draft, requestDefaults)) {
      const item = flag === null ? undefined : givenItem(flag);
      const pointer = item === undefined ? `/executions/${rest?.index}` : `${item.pointer}/command`;
      errors.push({ pointer: rest === null ? '' : pointer, detail });
    }
  }
  if (errors.length > 0) {
    const detail = errors.map((error) => error.detail).join('; ');
    throw new AppError(unknown ? 'unknown_option' : 'invalid_option', detail, { errors });
  }
  return { ...draft, given: listed };
}

/** An option of a name like that, or other tools that have it. */
function whatIsMeant(tool: Tool, flag: string, from: OptionOrigin): string {
  const name = flag.replace(/=[^]*/, '');
  const others = tools.filter((other) => findOption(other, name, from) !== null);
  if (others.length > 0) return `, which ${others.join(', ')} ${others.length === 1 ? 'has' : 'have'}`;
  if (!name.startsWith('--') && name.length <= 2) return '';
  const own = toolOptions.filter(({ long }) => findOption(tool, long, from) !== null);
  const meant = closestWord(
    name.replace(/^-+/, ''),
    own.map(({ long }) => long.slice(2)),
  );
  return meant === null ? '' : `; did you mean --${meant}?`;
}

function quote(flag: string): string {
  return JSON.stringify(flag.length > 40 ? `${flag.slice(0, 40)}…` : flag);
}

// The rules for combining options (docs/decisions/service/tools-are-processes.md).

/** `flag`: the option that is out of place, null when one is missing. */
interface CombinationFault {
  readonly flag: string | null;
  readonly detail: string;
}

/** `defaults`: values of members that no option set. */
function checkCombinations(request: RequestDraft, defaults: Omit<ToolRequest, 'tool'>): CombinationFault[] {
  if (request.jobId !== undefined) return checkJob(request, defaults);
  const faults: CombinationFault[] = [];
  const fault = (flag: string | null, detail: string): void => void faults.push({ flag, detail });

  const namesOrigin = request.originId !== undefined && !('auto' in request.originId);
  const namesLogical = request.logicalId !== undefined || request.logicalName !== undefined;
  const makesOrigin = !namesOrigin && !namesLogical;
  if (request.tool === 'xsd2er' || request.tool === 'xml2er') {
    if (request.inputs.length === 0 && request.from === undefined)
      fault(null, `${request.tool} needs an input`);
    faultsOfRows(request, fault);
    if (namesLogical && request.mapLevel !== undefined) {
      fault(
        '-g',
        '-g makes a new logical schema but -l names an existing one: only one of them can be given',
      );
    }
    if (!makesOrigin && request.parent !== undefined)
      fault('--parent', '--parent is for a new origin, not for one that -x or -l names');
    if (!makesOrigin && request.xsd !== undefined)
      fault(
        '--xsd',
        '--xsd finds or makes the origin, and -x or -l names one: only one of them can be given',
      );
    if (!makesOrigin && request.entry !== undefined)
      fault('--entry', '--entry is for an XSD set, not for an origin that -x or -l names');
    if (!makesOrigin && request.name !== undefined)
      fault('--name', '--name is for a new origin, not for one that -x or -l names');
  } else {
    if (request.inputs.length > 0)
      fault(null, `${request.tool} reads rows (-i), not files: ${request.inputs[0]}`);
    if (request.in === undefined) fault(null, `${request.tool} needs -i, the target with the rows`);
    if (request.tool === 'er2xml' && request.out === undefined) fault(null, 'er2xml needs -o, a folder');
    if (request.tool === 'unload' && request.document === undefined)
      fault(null, 'unload needs -D, the document');
  }

  if (request.tool === 'xml2er' && request.out === undefined) {
    if (request.parseMode === 'all' || request.parseMode === 'data')
      fault('-e', `-e ${parseModeLetters[request.parseMode]} writes data and needs -o`);
    if (request.outUser !== undefined) fault('-u', '-u needs -o');
    if (request.outPassword !== undefined) fault('-p', '-p needs -o');
  }
  if (request.parseMode === 'data' && makesOrigin && request.xsd === undefined)
    fault('-e', '-e d collects no statistics to make a schema from, so it needs -x, -l or --xsd');
  if (request.onDrift !== undefined && request.unmapped !== 'capture')
    fault(
      '--unmapped',
      `--unmapped ${request.unmapped} and --on-drift ${request.onDrift} conflict: only one of them can be given`,
    );
  if (request.onDrift === 'evolve' && namesLogical)
    fault(
      '-l',
      '--on-drift evolve makes the next version of an origin, and -l names one logical schema: name the origin with -x',
    );
  if (request.saveMode !== 'merge')
    for (const [flag, isGiven] of [
      ['--key', request.key !== undefined],
      ['--delete-missing', request.deleteMissing === true],
      ['--history', request.history === true],
    ] as const)
      if (isGiven) fault(flag, `${flag} identifies the documents that -S m replaces, so it needs -S m`);
  if (request.engine === 'spark' && request.inputs.includes('-'))
    fault('--engine', '--engine spark: other machines do not see the standard input: name a file');
  const isCatalogue = [request.in, request.out].some((text) => /^iceberg:/i.test(text ?? ''));
  const layout = layoutFacts(request.format ?? defaultLayout);
  const versions = isCatalogue ? layouts.iceberg.parquetVersions : layout.parquetVersions;
  if (request.partition !== undefined && !isCatalogue && layout.holds !== 'tables')
    fault('--partition', '--partition is for tables of Delta and Iceberg: add -f delta or -f iceberg');
  if (request.parquetVersion !== undefined && versions.length === 0)
    fault('--parquet-version', '--parquet-version is for Parquet files: add -f parquet or -f delta');
  else if (request.parquetVersion !== undefined && !versions.includes(request.parquetVersion))
    fault(
      '--parquet-version',
      '--parquet-version 2: some readers of Iceberg tables do not support its encodings: omit it, or use 1',
    );
  if (!layout.isReadAgain && request.views === true)
    fault(
      '--views',
      `--views writes views for databases that load the files, but none loads -f ${request.format}: omit it`,
    );
  if (!layout.isReadAgain)
    for (const [flag, isGiven] of [
      ['--skip-loaded', request.skipLoaded],
      ['--keys', request.keys === 'hash'],
    ] as const)
      if (isGiven)
        fault(
          flag,
          `${flag} needs to read the documents in the target, but -f ${request.format} cannot be read: use -f csv or -f parquet, or omit ${flag}`,
        );
  const isRemote = [...request.inputs, ...(request.xsd ?? []), request.from ?? ''].some(isRemoteLocation);
  if (request.credential !== undefined && !isRemote && !isCatalogue)
    fault(
      '--credential',
      '--credential is for inputs by address, such as s3://BUCKET/KEY, and catalogues (iceberg:https://…): none is given',
    );
  if (request.inputs.length > 1 && request.inputs.includes('-'))
    fault(null, 'the standard input (-) must be the only input');
  return faults;
}

/** Checks `--from` and the options that belong to it. */
function faultsOfRows(request: RequestDraft, fault: (flag: string | null, detail: string) => void): void {
  const { from, query, xmlColumn, after, inputs, saveMode, deleteMissing } = request;
  if (from === undefined) {
    for (const [flag, isGiven] of [
      ['--query', query !== undefined],
      ['--xml-column', xmlColumn !== undefined],
      ['--after', after !== undefined],
    ] as const)
      if (isGiven) fault(flag, `${flag} selects rows of --from, so it needs --from`);
    return;
  }
  if (inputs.length > 0) fault('--from', `--from replaces inputs: omit it, or ${inputs[0]!.slice(0, 200)}`);
  const source = rowSourceOf(from);
  const isFile = !('fault' in source) && source.kind === 'file';
  if (isFile && query !== undefined)
    fault('--query', '--query is for databases: all rows and columns of a file are read');
  if (!isFile && query === undefined)
    fault('--from', '--from DATABASE needs --query, such as --query "SELECT id, payload FROM inbox"');
  if (after === undefined) return;
  if (saveMode !== 'append' && saveMode !== 'merge')
    fault('--after', '--after adds rows to the target: it needs -S a (append) or -S m (merge)');
  if (deleteMissing === true)
    fault('--delete-missing', '--delete-missing would remove the documents loaded before --after');
}

function checkJob(request: RequestDraft, defaults: Omit<ToolRequest, 'tool'>): CombinationFault[] {
  const bare = { tool: request.tool, ...defaults, json: request.json, jobId: request.jobId };
  if (JSON.stringify(request) === JSON.stringify(bare)) return [];
  return [{ flag: '-j', detail: '-j takes everything from the job record: only --json may be added' }];
}
