/** Runs a tool as a child process: an argument vector, never a shell; the whole process group ends with it. */
export interface ToolProcess {
  /** Resolves when the process and its group have ended. `code` null: ended by a signal. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** SIGTERM to the group, SIGKILL after `graceMs`. Idempotent. */
  stop(graceMs: number): void;
}

export interface ProcessRunner {
  /** `environment` is added to a minimal one; stdout and stderr go, in order, to the job's log. */
  start(command: {
    readonly tool: string;
    readonly argv: readonly string[];
    readonly environment: Readonly<Record<string, string>>;
    readonly idJob: number;
  }): Promise<ToolProcess>;
}
