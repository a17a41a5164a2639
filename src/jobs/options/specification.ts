/** The specification of a tool's option: its names, its value, and where it may be given. */
import type { RequestDraft } from '../request/tool-request.ts';
import type { Tool } from '../request/tools.ts';

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
