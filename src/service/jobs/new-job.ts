/** The record of a job to be stored, with its request as people read it. */
import type { NewJob } from '../../ports/stores/jobs.ts';
import type { JobType } from './record.ts';
import { secretsIn } from './request/stored-request.ts';
import { type ToolRequest, shellWord, type GivenOption } from './request/tool-request.ts';
import type { Tool } from './request/tools.ts';
import { createMask } from './mask-secrets.ts';
import { settingHoldsSecret, shownSettings, toolOptions } from './option-table.ts';

const jobTypes: Readonly<Record<Tool, JobType>> = {
  xsd2er: 'Schema',
  xml2er: 'Parse',
  er2xml: 'Write',
  unload: 'Unload',
};

/** Settings of the built-in engine, as the job record shows them. */
export const engineDefaults: Readonly<Record<string, string>> = { master: 'local[*]' };

/**
 * `sealed` is the request from `sealRequest`, `sparkConf` the operator's settings of Spark, `secrets` those of its credential. Also for
 * jobs that a person starts by hand.
 */
export function newJob(
  request: ToolRequest,
  sealed: string,
  sparkConf: Readonly<Record<string, string>>,
  secrets: readonly string[] = [],
): NewJob {
  const input = request.from ?? request.in ?? (request.inputs.length === 0 ? null : request.inputs.join(' '));
  const mask = createMask([...secretsIn(request), ...secrets]);
  return {
    jobType: jobTypes[request.tool],
    tool: request.tool,
    params: maskedParams(request, secrets),
    paramsJson: paramsJson(request, request.engine === 'spark' ? sparkConf : engineDefaults, secrets),
    request: sealed,
    inputPath: input === null ? null : mask(input),
    outputPath: request.out === undefined ? null : mask(request.out),
    idSch: request.originId !== undefined && 'id' in request.originId ? request.originId.id : null,
    idParentJob: null,
  };
}

// Formats a request for display: `params`, one line for people, and `params_json`. Both hold only the given values, with secrets masked.

const mask = '***';

/** Returns the inputs, then the options in their order: the words that follow the tool's name in a shell. */
export function maskedParams(request: ToolRequest, secrets: readonly string[] = []): string {
  const { inputs, given } = request;
  const maskText = createMask([...secretsIn(request), ...secrets]);
  const words = inputs.map((input) => shellWord(maskText(input)));
  const options = given.flatMap((option) => {
    const value = shownValue(option, maskText);
    if (value === null) return [flagOf(option)];
    // a value that looks like an option is distinguished by its long form
    if (value.startsWith('-')) return [shellWord(`${option.long}=${value}`)];
    return [flagOf(option), shellWord(value)];
  });
  const likeOptions = inputs.some((input) => input !== '-' && input.startsWith('-'));
  return (likeOptions ? [...options, '--', ...words] : [...words, ...options]).join(' ');
}

/**
 * Returns `{"spark":{…},"action":{…}}` as text: the engine's settings (`engine`, overridden by the request's), then the tool's options
 * by their long names with `_` for `-`. `in` holds the inputs, `out` the target. An option that was given several times has a list.
 */
export function paramsJson(
  request: ToolRequest,
  engine: Readonly<Record<string, string>>,
  secrets: readonly string[] = [],
): string {
  const action: Record<string, unknown> = {};
  const maskText = createMask([...secretsIn(request), ...secrets]);
  if (request.inputs.length > 0) action['in'] = oneOrAll(request.inputs.map(maskText));
  const options = request.given.filter(({ long }) => long !== sparkSetting);
  for (const [long, values] of Map.groupBy(options, (option) => option.long)) {
    const name = long.slice(2).replaceAll('-', '_');
    action[name] =
      long === '--map' ? request.mapLevel : oneOrAll(values.map((one) => shownValue(one, maskText) ?? true));
  }
  return shownParams(action, { ...engine, ...request.sparkConf });
}

/** The two groups as text; `settings`: of the engine, as Spark names them. */
export function shownParams(
  action: Readonly<Record<string, unknown>>,
  settings: Readonly<Record<string, string>>,
): string {
  return JSON.stringify({ spark: shownSettings(settings), action });
}

const sparkSetting = '--spark-conf';

function oneOrAll<T>(values: readonly T[]): T | readonly T[] {
  return values.length === 1 ? values[0]! : values;
}

function flagOf({ long }: GivenOption): string {
  return toolOptions.find((option) => option.long === long)?.short ?? long;
}

function shownValue({ long, value }: GivenOption, maskText: (text: string) => string): string | null {
  if (value === null) return null;
  if (long === '--out-password') return mask;
  if (long !== sparkSetting) return maskText(value);
  const name = value.slice(0, value.indexOf('='));
  return settingHoldsSecret(name, value.slice(name.length + 1)) ? `${name}=${mask}` : maskText(value);
}
