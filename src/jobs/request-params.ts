/** How a request is shown: `params`, one line for people, and `params_json` (interface-decisions §2). Secrets are masked in both. */
import { maskSecrets } from './mask-secrets.ts';
import { settingHoldsSecret, shownSettings } from './spark-settings.ts';
import { parseModeOf } from './tool-request.ts';
import type { ExtraColumn, ToolRequest } from './tool-request.ts';

type Shown = readonly [flag: string, value: string | null];

/** Inputs, then the options that differ from their defaults, in the order of the option table. */
export function maskedParams(request: ToolRequest): string {
  const words = request.inputs.map((input) => word(maskSecrets(input)));
  for (const [flag, value] of shownOptions(request)) {
    words.push(flag);
    if (value !== null) words.push(word(maskSecrets(value)));
  }
  return words.join(' ');
}

/**
 * `{"spark":{…},"action":{…}}` as text: the engine's settings (`engine`, and on top the request's), then the tool's as far as they are
 * not defaults; parsemode always.
 */
export function paramsJson(request: ToolRequest, engine: Readonly<Record<string, string>>): string {
  const spark = shownSettings({ ...engine, ...request.sparkConf });
  const action: Record<string, unknown> = {};
  if (request.tool === 'xml2er') action['parsemode'] = parseModeOf(request);
  if (request.mapLevel !== undefined && request.mapLevel !== 3) action['map'] = request.mapLevel;
  for (const [flag, value] of shownOptions(request)) {
    if (flag === '-e' || flag === '-g' || flag === '--spark-conf') continue;
    const name = longNames[flag] ?? flag.slice(2).replaceAll('-', '_');
    const shown = value === null ? true : maskSecrets(value);
    if (!(name in action)) action[name] = shown;
    else action[name] = [action[name], shown].flat();
  }
  return JSON.stringify({ spark, action });
}

const longNames: Readonly<Record<string, string>> = {
  '-x': 'origin',
  '-l': 'logical',
  '-a': 'use_stats',
  '-s': 'skip',
  '-i': 'in',
  '-D': 'document',
  '-o': 'out',
  '-u': 'out_user',
  '-p': 'out_password',
  '-f': 'format',
  '-S': 'savemode',
  '-r': 'prefix',
  '-y': 'suffix',
  '-R': 'extra_column',
};

function shownOptions(request: ToolRequest): Shown[] {
  const shown: Shown[] = [];
  const option = (flag: string, value: string | number | undefined, initial?: string): void => {
    if (value !== undefined && value !== initial) shown.push([flag, String(value)]);
  };
  const marker = (flag: string, set: boolean): void => {
    if (set) shown.push([flag, null]);
  };
  option('--name', request.name);
  option('--parent', request.parent);
  option('-x', originText(request.originId));
  option('-l', request.logicalId);
  option('-a', request.useStats?.join(','));
  option('-g', request.mapLevel);
  option('-e', request.parseMode);
  marker('-s', request.dryRun);
  option('-i', request.in);
  option('-D', request.document);
  option('-o', request.out);
  option('-u', request.outUser);
  option('-p', request.outPassword === undefined ? undefined : '***');
  option('-f', request.format);
  option('-S', request.saveMode, 'a');
  option('-r', request.prefix);
  option('-y', request.suffix);
  option('--namemode', request.nameMode);
  option('--rename', request.rename?.map((pair) => pair.join('=')).join(','));
  option('--name-max-len', request.nameMaxLen);
  option('--default-varchar-len', request.defaultVarcharLen);
  for (const column of request.extraColumns) option('-R', extraColumnText(column));
  option('--root', request.root);
  option('--row-tag', request.rowTag);
  option('--keys', request.keys, 'sequence');
  marker('--validate', request.validate);
  option('--unmapped', request.unmapped, 'capture');
  option('--on-error', request.onError, 'fail');
  marker('--prune', request.prune);
  option('--tables', request.tables, 'used');
  marker('--skip-loaded', request.skipLoaded);
  option('--missing', request.missing, 'fail');
  marker('--no-samples', request.noSamples);
  option('--workers', request.workers);
  option('--engine', request.engine, 'local');
  for (const [key, value] of Object.entries(request.sparkConf))
    option('--spark-conf', `${key}=${settingHoldsSecret(key, value) ? '***' : value}`);
  return shown;
}

function originText(origin: ToolRequest['originId']): string | undefined {
  if (origin === undefined) return undefined;
  return 'id' in origin ? String(origin.id) : `$${origin.ref}`;
}

function extraColumnText(column: ExtraColumn): string {
  const name = `${column.name}:${column.type}`;
  return column.kind === 'value' ? `${name}=${column.value ?? ''}` : `${name} ${column.kind.toUpperCase()}`;
}

/** One argument as a person would type it: quoted where a shell would split it, and always on one line. */
function word(text: string): string {
  if (/\p{Cc}/u.test(text)) return JSON.stringify(text);
  return /^[\p{L}\p{N}_@%+=:,./?&*$-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
