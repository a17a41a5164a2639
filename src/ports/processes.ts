/** Processes that the service starts, and compilers, validators and transfer programs that run beside it. */
import type { Diagnostic } from '../engine/diagnostics.ts';
import type { MapLevel, RelationalModel } from '../engine/model/relational-model.ts';
import type { SourceModel } from '../engine/model/source-model.ts';
import type { NewOriginFile, OriginRecord } from './stores/catalog.ts';
import type { WorkerIdentity } from './stores/jobs.ts';

/** Checks documents against an XSD set, by another program than the one that converts them (`--validate`). */
export interface ValidityFault {
  /** line, from 1, at which the faulty tag ends, in the given text */
  readonly line: number;
  /** path of the element from the root: the index, from 1, of a child element at each level; null if the program reports lines alone */
  readonly path: readonly number[] | null;
  /** message on one line */
  readonly message: string;
  /** local name, if the program reports it */
  readonly element: string | null;
  /** local name of the attribute at fault */
  readonly attribute: string | null;
}

export interface Validity {
  /** the first of them; none: the document is valid, or was not judged */
  readonly faults: readonly ValidityFault[];
  /** number of all faults */
  readonly count: number;
  /** reason and place if the program cannot judge the document; null: it has judged it */
  readonly unjudged: Unjudged | null;
}

export interface Unjudged {
  readonly reason: string;
  /** the program was ended because the time of the document was over */
  readonly isLate?: boolean;
  readonly location: Pick<ValidityFault, 'line' | 'path'> | null;
}

/** AppError `unprocessable_input` from each method: the program cannot use the XSD set, and therefore does not check documents. */
export interface DocumentValidator {
  /** name and version of the validator, for the log */
  readonly program: string;
  /** longest text value of `check`'s documents that it takes a bearable time for; Infinity: any */
  readonly maxTextBytes: number;
  /** Checks small well-formed documents together; returns the answers in their order. `withinMs`: time for each, if less than usual. */
  checkAll(documents: readonly Uint8Array[], withinMs?: number): Promise<readonly Validity[]>;
  /** Checks one document of any size as a stream. Rethrows an error of `chunks`. */
  check(chunks: AsyncIterable<Uint8Array>): Promise<Validity>;
  /** Removes the files that were written for the program. */
  close(): Promise<void>;
}

/** Resource usage of the process that answers. */
type ProcessFigure =
  | 'process_cpu_seconds_total'
  | 'process_start_time_seconds'
  | 'process_resident_memory_bytes'
  | 'process_virtual_memory_bytes'
  | 'process_heap_bytes'
  | 'process_open_fds'
  | 'process_max_fds';

export interface ProcessFigures {
  /** Returns figures with the names that Prometheus' clients use; figures that the machine does not report are left out. */
  read(): Promise<Readonly<Partial<Record<ProcessFigure, number>>>>;
}

// The runs of tools: a runner starts them; the service gives each its log.

/** One run of a tool. */
export interface ToolRun {
  /** name of the tool, such as `xml2er` */
  readonly tool: string;
  /** absolute path of the module that is the tool: Node runs it with `argv` */
  readonly entry: string;
  /** arguments as they are; no shell may read them */
  readonly argv: readonly string[];
  /** all variables that the tool needs, beside PATH, HOME, LANG and TZ of this process. No other variable may reach it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly idJob: number;
  /** increases with each attempt at the job */
  readonly epoch: number;
  /** organisation of the run, if a process may do several runs of one organisation; absent: the run gets a process of its own */
  readonly idOrg?: number;
  /** takes what the tool writes to stdout and stderr, in the order of writing */
  readonly output: ToolOutput;
}

export interface ToolOutput {
  /** Resolves when there is room for more. Rejects once the output cannot be kept; the service then stops the run. */
  append(bytes: Uint8Array): Promise<void>;
}

export interface ToolEnd {
  /** exit code; null: ended by a signal, or by `stop` */
  readonly code: number | null;
  /** name of the signal, such as SIGKILL */
  readonly signal?: string | null;
  /** the exceeded limit, in words, if it ended for lack of memory; another attempt may succeed */
  readonly outOfMemory?: string | null;
  /** a limit of the runner that ended the run, in words: another attempt would exceed it again */
  readonly overLimit?: string | null;
}

export interface ToolProcess<End = ToolEnd> {
  /** Resolves when the run and all that it started have ended, and `append` has received its last output. */
  readonly ended: Promise<End>;
  /** Ends the run: at once if `graceMs` is 0, otherwise within that time. Does nothing once it has ended. Idempotent. */
  stop(graceMs: number): void;
}

/** Starts tools. A process that has completed a run may do the next one of the same tool and organisation. */
export interface ProcessRunner {
  /** Rejects if the tool cannot be started. */
  start(run: ToolRun): Promise<ToolProcess>;
  /** Ends processes that wait for a further run. */
  close(): Promise<void>;
}

/** The end of a run, with the state of its log. */
export interface ProcessEnd extends Required<ToolEnd> {
  /** reason why output is missing in the log, such as ENOSPC, for which the process was killed; null: the log is complete */
  readonly logFault: string | null;
}

/** Runs the tools of jobs: a runner, with the log of each job. */
export interface JobRunner {
  /** stdout and stderr go, in order and with secrets masked, to the job's log, which is complete when the run has ended. */
  start(
    command: Pick<ToolRun, 'tool' | 'argv' | 'environment' | 'idJob' | 'epoch' | 'idOrg'>,
  ): Promise<ToolProcess<ProcessEnd>>;
  /** Adds a line to the log of an attempt whose process has ended. */
  note(attempt: { readonly idJob: number; readonly epoch: number }, line: string): Promise<void>;
  close(): Promise<void>;
}

// Makes a model of untrusted XSD sets and documents in isolation from the service: within a time and an amount of memory.

export interface SchemaSources {
  /** organisation of the request: organisations take turns */
  readonly idOrg: number;
  /** absolute locations, as a FileStore resolved them, or addresses: files, folders or archives */
  readonly xsd: readonly string[];
  readonly xml: readonly string[];
  /** name of the credential for remote addresses; absent: sources of the operator */
  readonly credential?: string;
  /** local name, `prefix:name` or `{uri}name` of the element documents start with; absent: as the sources suggest */
  readonly root?: string;
  readonly mapLevel: MapLevel;
  /** bytes */
  readonly nameMaxLength?: number;
  /** characters */
  readonly defaultTextLength?: number;
  /** an earlier version: no name of it is reused for other content */
  readonly previous?: RelationalModel;
  /** whether content at the same path keeps its name from there (default) */
  readonly keepNames?: boolean;
}

export interface CompiledSchema {
  readonly source: SourceModel;
  readonly model: RelationalModel;
  /** statistics of the documents, in the form of src/engine/infer/statistics.ts; null if no documents were given */
  readonly statistics: unknown;
  readonly files: readonly NewOriginFile[];
  /** identifies the XSD set and everything else that decides on both models; null: they depend on more, or there is no set */
  readonly fingerprint: string | null;
  /** diagnostics of the XSD set; empty if it was compiled before */
  readonly diagnostics: readonly Diagnostic[];
}

/** An origin as it is, of which the next logical schema is made. */
export interface NextSchemaSources {
  /** organisation of the schema: organisations take turns */
  readonly idOrg: number;
  readonly sourceType: OriginRecord['source_type'];
  readonly source: SourceModel;
  /** statistics of its documents; null if none were gathered */
  readonly statistics: unknown;
  /** its newest logical schema */
  readonly newest: RelationalModel | null;
  /** identities of the inactive lines in its map (`lineIdentity`) */
  readonly inactive: readonly string[];
  /** bytes that a name may have; absent: as before */
  readonly maxLength?: number;
}

export interface NextSchema {
  /** null: later documents contain no new information */
  readonly source: SourceModel | null;
  readonly model: RelationalModel;
}

/** Returns what the set with that fingerprint was compiled to before, or null if it must be compiled. */
export type FindCompiled = (fingerprint: string) => Promise<Pick<CompiledSchema, 'source' | 'model'> | null>;

/** Location of a file that a schema refers to by a path; null: it is not there, or the organisation may not use it. */
type FollowReference = (path: string) => Promise<string | null>;

export interface SchemaCompiler {
  /**
   * AppError `unprocessable_input`, its `errors` naming file, line and column, if no model can be made or a limit is reached;
   * `runtime_unsupported` if the runtime cannot compile; `too_many_requests` if too many requests of the organisation wait for their
   * turn, `service_unavailable` if the turn does not come.
   */
  compile(sources: SchemaSources, find?: FindCompiled, follow?: FollowReference): Promise<CompiledSchema>;
  /** The same errors, but that it works everywhere. */
  generate(sources: NextSchemaSources): Promise<NextSchema>;
}

// The program that exports and imports: run as a process, `BINARY export|import --request FILE` (docs/decisions/service/packages.md).

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
