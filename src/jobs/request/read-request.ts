/** Reads a tool's request: from a command line, or from the items of one execution of a REST request. */
import { closestWord } from '../../engine/closest-word.ts';
import { AppError, type ErrorDetail } from '../../errors.ts';
import type { GivenOption, RequestDraft, RequestItem, ToolRequest } from './tool-request.ts';
import type { OptionOrigin, OptionSpec } from '../options/specification.ts';
import { tools, type Tool } from './tools.ts';
import { checkCombinations } from '../options/rules.ts';
import { findOption, toolOptions } from '../options/table.ts';
import { requestDefaults } from './tool-request.ts';

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
