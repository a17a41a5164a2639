/** The program that exports and imports: run as a process, `BINARY export|import --request FILE` (docs/decisions/service/packages.md). */
import type { WorkerIdentity } from '../stores/jobs.ts';

export type TransferCommand = 'export' | 'import';

/** A metadata database by its parts; `password` null: none is known. */
export interface MetadataDatabase {
  /** one name or address, lower case, IPv6 in brackets */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly password: string | null;
  /** SSL mode in libpq's terms: disable, prefer, require, … */
  readonly sslMode: string;
}

/** The request of a run: one JSON object of texts, numbers and lists, which the program reads from its file. */
export type TransferRequest = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export interface TransferRun {
  /** exit code; null: ended by a signal, or never started */
  readonly code: number | null;
  /** last line of its output, as it came; null: it wrote none */
  readonly lastLine: string | null;
}

export interface TransferProgram {
  /** the service's own metadata database */
  readonly ownDatabase: MetadataDatabase;
  /** PGPASSWORD of the service */
  readonly environmentPassword: string | null;
  /** identity of the starting process, for the job records of runs */
  readonly identity: WorkerIdentity;
  /**
   * Runs to the end, or until aborted: then the whole process group ends. `onLine` receives every line of the output; a caller that
   * shows them must remove the secrets. AppError `runtime_unsupported` if no process can be started.
   */
  run(
    command: TransferCommand,
    request: TransferRequest,
    options: { readonly signal: AbortSignal; readonly onLine: (line: string) => void },
  ): Promise<TransferRun>;
}
