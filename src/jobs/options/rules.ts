/** The rules for combining options (docs/decisions/service/tools-are-processes.md). */
import { isRemoteLocation } from '../../files/remote-location.ts';
import { defaultLayout, layoutFacts, layouts } from '../../ports/rows/layouts.ts';
import { rowSourceOf } from '../request/row-source.ts';
import { parseModeLetters } from './values.ts';
import type { RequestDraft, ToolRequest } from '../request/tool-request.ts';

/** `flag`: the option that is out of place, null when one is missing. */
export interface CombinationFault {
  readonly flag: string | null;
  readonly detail: string;
}

/** `defaults`: values of members that no option set. */
export function checkCombinations(
  request: RequestDraft,
  defaults: Omit<ToolRequest, 'tool'>,
): CombinationFault[] {
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
      fault('-g', '-g makes a new logical schema and -l names one: only one of them can be given');
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
    if (request.in === undefined) fault(null, `${request.tool} needs -i, where the rows are`);
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
    fault('-e', '-e d takes no statistics and so needs -x or -l, or --xsd');
  if (request.onDrift !== undefined && request.unmapped !== 'capture')
    fault(
      '--unmapped',
      `--unmapped ${request.unmapped} and --on-drift ${request.onDrift} say two things of the same content: only one of them can be given`,
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
      if (isGiven) fault(flag, `${flag} says which documents -S m replaces, and needs it`);
  if (request.engine === 'spark' && request.inputs.includes('-'))
    fault('--engine', '--engine spark: other machines do not see the standard input: name a file');
  const isCatalogue = [request.in, request.out].some((text) => /^iceberg:/i.test(text ?? ''));
  const layout = layoutFacts(request.format ?? defaultLayout);
  const versions = isCatalogue ? layouts.iceberg.parquetVersions : layout.parquetVersions;
  if (request.partition !== undefined && !isCatalogue && layout.holds !== 'tables')
    fault('--partition', '--partition is for tables of Delta and Iceberg: say -f delta or -f iceberg, too');
  if (request.parquetVersion !== undefined && versions.length === 0)
    fault('--parquet-version', '--parquet-version is for Parquet files: say -f parquet or -f delta, too');
  else if (request.parquetVersion !== undefined && !versions.includes(request.parquetVersion))
    fault(
      '--parquet-version',
      '--parquet-version 2: readers of Iceberg tables do not all know its encodings: leave it out, or say 1',
    );
  if (!layout.isReadAgain && request.views === true)
    fault(
      '--views',
      `--views writes views for databases that load the files, and none loads -f ${request.format}: leave it out`,
    );
  if (!layout.isReadAgain)
    for (const [flag, isGiven] of [
      ['--skip-loaded', request.skipLoaded],
      ['--keys', request.keys === 'hash'],
    ] as const)
      if (isGiven)
        fault(
          flag,
          `${flag} looks up which documents the target has, and -f ${request.format} is not read again: take -f csv or -f parquet, or leave ${flag} out`,
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
      if (isGiven) fault(flag, `${flag} says which rows --from takes, and needs it`);
    return;
  }
  if (inputs.length > 0)
    fault('--from', `--from stands in place of inputs: leave it out, or ${inputs[0]!.slice(0, 200)}`);
  const source = rowSourceOf(from);
  const isFile = !('fault' in source) && source.kind === 'file';
  if (isFile && query !== undefined)
    fault('--query', '--query asks a database: of a file all rows and columns are taken');
  if (!isFile && query === undefined)
    fault('--from', '--from DATABASE needs --query, such as --query "SELECT id, payload FROM inbox"');
  if (after === undefined) return;
  if (saveMode !== 'append' && saveMode !== 'merge')
    fault('--after', '--after adds to what is there: with -S a (append) or -S m (merge) alone');
  if (deleteMissing === true)
    fault('--delete-missing', '--delete-missing would remove what was loaded before --after');
}

function checkJob(request: RequestDraft, defaults: Omit<ToolRequest, 'tool'>): CombinationFault[] {
  const bare = { tool: request.tool, ...defaults, json: request.json, jobId: request.jobId };
  if (JSON.stringify(request) === JSON.stringify(bare)) return [];
  return [{ flag: '-j', detail: '-j takes everything from the job record: only --json may stand beside it' }];
}
