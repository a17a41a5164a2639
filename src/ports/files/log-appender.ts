/** Appends the output of one attempt at a job to the end of the job's log. */
export interface LogAppender {
  /** Resolves when there is room for more; rejects once some could not be kept, with the reason in `code`. */
  append(bytes: Uint8Array): Promise<void>;
  /** Resolves when all is kept; rejects like `append`. */
  close(): Promise<void>;
}
