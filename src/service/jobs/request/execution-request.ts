/** Requests and answers of the run operations, after their form has been checked (docs/decisions/service/workflows.md). */
import { findOption } from '../option-table.ts';
import { type RequestItem, storesNothing, type ToolRequest } from './tool-request.ts';
import type { Tool } from './tools.ts';
import { AppError } from '../../../errors.ts';
import { parsePathPattern } from '../../files/path-pattern.ts';
import type { FileStore } from '../../../ports/files.ts';
import { parseTarget } from './target.ts';

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

// The outputs of earlier executions in a request, so that later ones may name a path before it exists.

/** The use of a path: as a target of rows of that kind, a folder of documents, or a file of rows. */
export type ReadAs = 'duckdb' | 'sqlite' | 'folder' | 'documents' | 'rows';

export interface EarlierOutputs {
  /** Returns whether an earlier execution makes the file or folder at this path. */
  makes(path: string, as: ReadAs): Promise<boolean>;
}

export const nothingEarlier: EarlierOutputs = { makes: () => Promise.resolve(false) };

export async function earlierOutputs(
  files: Pick<FileStore, 'resolve'>,
  idOrg: number,
  earlier: readonly (ToolRequest | null)[],
): Promise<EarlierOutputs> {
  const locate = async (path: string): Promise<string | null> => {
    try {
      return await files.resolve(idOrg, path, false);
    } catch (error) {
      // its own execution has the complaint
      if (error instanceof AppError) return null;
      throw error;
    }
  };
  const written: { readonly as: ReadAs; readonly location: string }[] = [];
  for (const request of earlier) {
    if (request?.out === undefined || storesNothing(request) || request.saveMode === 'print-schema') continue;
    const target = parseTarget(request.out);
    if ('fault' in target) continue;
    if (target.kind !== 'folder' && target.kind !== 'duckdb' && target.kind !== 'sqlite') continue;
    const location = await locate(target.kind === 'folder' ? target.path : target.file);
    if (location !== null)
      written.push({ as: request.tool === 'er2xml' ? 'documents' : target.kind, location });
  }
  return {
    async makes(path, as) {
      if (written.length === 0) return false;
      const isBelow = as === 'documents' || as === 'rows';
      const location = await locate((isBelow ? parsePathPattern(path)?.folder : undefined) ?? path);
      if (location === null) return false;
      return written.some((one) => {
        if (one.as !== (as === 'rows' ? 'folder' : as)) return false;
        return location === one.location || (isBelow && location.startsWith(`${one.location}/`));
      });
    },
  };
}
