/**
 * Runs a tool as a child process: an argument vector that no shell reads; all that it started ends with it. A process that has
 * completed a run may do the next one of the same tool and organisation.
 */
export interface ProcessEnd {
  /** null: ended by a signal */
  readonly code: number | null;
  readonly signal: string | null;
  /** reason why output is missing in the log, such as ENOSPC, for which the process was killed; null: the log is complete */
  readonly logFault: string | null;
  /** the exceeded limit, in words, if it ended for lack of memory */
  readonly outOfMemory: string | null;
  /** the limit of ours past which it was ended, in words: it would be again */
  readonly overLimit: string | null;
}

export interface ToolProcess {
  /** Resolves when the run, all it started, and the writing of its log have ended. */
  readonly ended: Promise<ProcessEnd>;
  /** SIGTERM to the group, SIGKILL after `graceMs`; nothing once the run has ended. Idempotent. */
  stop(graceMs: number): void;
}

export interface ProcessRunner {
  /** `environment` is added to a minimal one; stdout and stderr go, in order and with secrets masked, to the job's log. */
  start(command: {
    readonly tool: string;
    readonly argv: readonly string[];
    readonly environment: Readonly<Record<string, string>>;
    readonly idJob: number;
    readonly epoch: number;
    /** organisation of the run, if a process may do several runs of one organisation; absent: the run gets a process of its own */
    readonly idOrg?: number;
  }): Promise<ToolProcess>;
  /** Adds a line to the log of an attempt whose process has ended. */
  note(attempt: { readonly idJob: number; readonly epoch: number }, line: string): Promise<void>;
  /** Ends processes that wait for a further run. */
  close(): Promise<void>;
}
