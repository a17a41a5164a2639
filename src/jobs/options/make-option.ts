/** Makes options, with a value that goes into the request, or without one. */
import type { RequestDraft } from '../request/tool-request.ts';
import type { Tool } from '../request/tools.ts';
import { integer } from './which-schema.ts';
import type { OptionSpec } from './specification.ts';

type More = {
  readonly repeatable?: true;
  readonly overRest?: false;
  readonly joinsNext?: OptionSpec['joinsNext'];
};

export function withValue(
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

export function text(
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

export function number(
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

export function oneOf<T extends string>(
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

export function flag(
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
