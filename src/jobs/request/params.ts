/**
 * Formats a request for display: `params`, one line for people, and `params_json`. Both hold only the given values, with secrets
 * masked.
 */
import { createMask } from '../mask-secrets.ts';
import { secretsIn } from './known-secrets.ts';
import { shellWord, type GivenOption, type ToolRequest } from './tool-request.ts';
import { settingHoldsSecret, shownSettings } from '../options/spark-settings.ts';
import { toolOptions } from '../options/table.ts';

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
