/** Requests and answers of the run operations, after their form has been checked (docs/decisions/service/workflows.md). */
import { findOption } from '../options/table.ts';
import type { RequestItem } from './tool-request.ts';
import type { Tool } from './tools.ts';

/** One option (flag in `command`) or, as `source.file`, one input path. */
interface CommandItem {
  readonly command: string;
  /** `"true"`, `"false"` and a missing member are booleans here already */
  readonly enabled: boolean;
  /** absent and '' both mean: no value */
  readonly value?: string;
}

export interface Execution {
  /** name of the tool: not checked yet */
  readonly app_name: string;
  readonly source: { readonly file?: CommandItem; readonly origin_id?: CommandItem };
  readonly target: {
    readonly generation?: readonly CommandItem[];
    readonly path?: CommandItem;
    readonly format?: readonly CommandItem[];
    readonly writing_mode?: readonly CommandItem[];
  };
}

/** Body of POST /v2/run/cmd. Places are JSON pointers into the body, such as `/executions/0/target/generation/1/value`. */
export interface ExecutionRequest {
  /** name of the workflow */
  readonly name?: string;
  readonly executions: readonly Execution[];
}

export interface RunCmdResponse {
  readonly error: boolean;
  readonly logPath: string | null;
  /** `xml2er -j 7`: one for each job */
  readonly cmds: readonly string[];
  readonly jobs: readonly number[];
  readonly id_workflow: number;
}

export interface RerunJobResponse {
  readonly error: boolean;
  readonly id_job: number;
  readonly id_parent_job: number;
  readonly cmds: readonly string[];
  readonly jobs: readonly number[];
}

// Converts one execution of a request to the items of its tool, without disabled ones.

/** Returns the items in the order of the body; the groups of `target` are for the reader only. */
export function executionItems(execution: Execution, index: number): RequestItem[] {
  const items: RequestItem[] = [];
  const base = `/executions/${index}`;
  const { file, origin_id } = execution.source;
  if (file?.enabled) items.push({ pointer: `${base}/source/file`, flag: null, value: file.command });
  const option = (item: CommandItem | undefined, pointer: string): void => {
    if (item?.enabled) items.push({ pointer, flag: item.command, value: item.value });
  };
  option(origin_id, `${base}/source/origin_id`);
  const { generation = [], path, format = [], writing_mode = [] } = execution.target;
  generation.forEach((item, at) => option(item, `${base}/target/generation/${at}`));
  option(path, `${base}/target/path`);
  format.forEach((item, at) => option(item, `${base}/target/format/${at}`));
  writing_mode.forEach((item, at) => option(item, `${base}/target/writing_mode/${at}`));
  return items;
}

/**
 * JSON pointer of the value of an option, however its flag was written; of the whole execution when it was not given. `at`: which, of
 * one that is given several times.
 */
export function pointerOf(
  items: readonly RequestItem[],
  tool: Tool,
  long: string,
  index: number,
  at = 0,
): string {
  const item = items.filter(({ flag }) => flag !== null && findOption(tool, flag, 'rest')?.long === long)[at];
  return item === undefined ? `/executions/${index}` : `${item.pointer}/value`;
}
