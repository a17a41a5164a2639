/** Requests and answers of the run operations, after their form has been checked (docs/decisions/service/workflows.md). */

/** One option (flag in `command`) or, as `source.file`, one input path. */
export interface CommandItem {
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
