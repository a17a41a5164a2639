/** The protocol between a worker and a tool process that does several runs, one after the other. */

/**
 * Variable that all processes started by a tool inherit, even outside its group: a value of the tool's own, which nobody else can know.
 */
export const markVariable = 'SVC_JOB_MARK';

/** Environment variable of a tool that may wait for a further run after one has completed. */
export const waitsVariable = 'SVC_TOOL_WAITS';

/** Returns the line that a tool writes after all output of a completed run: it waits for the next run. */
export function waitingLine(mark: string): string {
  return `${mark} waits\n`;
}

/** One line of JSON on a waiting tool's input; its end means that there is none. */
export interface NextRun {
  readonly argv: readonly string[];
  /** replaces the environment of the previous run */
  readonly environment: Readonly<Record<string, string>>;
}
