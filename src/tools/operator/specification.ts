/** The specification of a command of `conversion-job-service`: its words, its options, and its answer. */
import type { Config } from '../../config/shape.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { Home } from '../../runtime/home.ts';

/** Wrong usage, in words. */
export class UsageError extends Error {}

/** The options of all commands; each command accepts those that it names, and all accept `json`. */
export interface Options {
  readonly name?: string | undefined;
  readonly scopes?: string | undefined;
  readonly org?: string | undefined;
  readonly expires?: string | undefined;
  readonly description?: string | undefined;
  readonly page?: string | undefined;
  readonly size?: string | undefined;
  readonly dialect?: string | undefined;
  readonly codes?: string | undefined;
  readonly logical?: string | undefined;
  readonly as?: string | undefined;
  readonly out?: string | undefined;
  readonly follow?: boolean | undefined;
  readonly every?: string | undefined;
  readonly pattern?: string | undefined;
  readonly schema?: string | undefined;
  readonly options?: string | undefined;
  readonly order?: string | undefined;
  readonly settle?: string | undefined;
  readonly 'on-error'?: string | undefined;
  readonly 'on-drift'?: string | undefined;
  readonly 'max-files'?: string | undefined;
  readonly 'max-bytes'?: string | undefined;
  readonly credential?: string | undefined;
  readonly status?: string | undefined;
  readonly retry?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export type OptionName = keyof Options;

/** The answer of a command, for people and as JSON. `text` may come in pieces; `exitCode` is 0 if absent. */
export interface Answer {
  readonly text: string | AsyncIterable<string>;
  readonly json: unknown;
}

/** The open resources that commands use. */
export interface Opened {
  readonly config: Config;
  readonly adapters: Adapters;
  readonly home: Home;
  /** location of the metadata database, without secrets */
  readonly database: string;
}

export interface Command {
  /** words behind its name, as the usage text calls them */
  readonly words: readonly string[];
  readonly options: readonly OptionName[];
  /** one line for the usage text */
  readonly meaning: string;
  run(opened: Opened, words: readonly string[], options: Options): Promise<Answer>;
}

/** AppError-like in words: `option` must be a whole number. */
export function number(option: string, text: string, min: number): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < min)
    throw new UsageError(`${option} must be a whole number from ${min} on`);
  return Number(text);
}

/** UTC, to the second; nothing for never. */
export function time(at: number | null): string {
  return at === null ? '' : new Date(at).toISOString().slice(0, 19).replace('T', ' ');
}

/** `--org`, by hand the first. */
export function organisation({ org = '1' }: Options): number {
  return number('--org', org, 1);
}
