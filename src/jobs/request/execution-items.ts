/** Converts one execution of a request to the items of its tool, without disabled ones. */
import type { CommandItem, Execution } from './execution-request.ts';
import { findOption } from '../options/table.ts';
import type { RequestItem } from './tool-request.ts';
import type { Tool } from './tools.ts';

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
