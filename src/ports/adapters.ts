/** The adapters of the application: one record, handed to `createApp`. */
import type { AccessStore, CredentialStore, SecretBox } from './stores/access.ts';
import type { AssetStore, FileStore, LogReader, LogStore } from './files.ts';
import type { CatalogStore } from './stores/catalog.ts';
import type { Clock, HealthProbe, Logger, ServiceLog, OperationFigureSource, Tracer } from './environment.ts';
import type { IdempotencyStore } from './stores/idempotency.ts';
import type { JobStore } from './stores/jobs.ts';
import type { ProcessRunner, TransferProgram, ProcessFigures, SchemaCompiler } from './processes.ts';
import type { Compressor, HostCallers, HostResolver, TokenVerifier } from './network.ts';
import type { TargetReader } from './target-reader.ts';
import type { WatchStore } from './stores/watches.ts';

/** The environment of the application, and its capabilities. */
export interface RuntimeInfo {
  /** `node`, `workerd`, … */
  readonly name: string;
  /** version of the runtime itself, without a leading v */
  readonly version: string;
  readonly capabilities: {
    /** jobs can be started from here, by this process or by workers that read the same queue */
    readonly commands: boolean;
  };
}

/** Facts about the program for `/actuator/info`; times are epoch milliseconds. */
export interface BuildInfo {
  readonly name: string;
  readonly version: string;
  readonly time: number | null;
  readonly git: {
    readonly branch: string;
    readonly commit: { readonly id: string; readonly time: number | null };
  } | null;
}

/** A setting and its origin; the value is shown for defaults alone. */
export interface SettingOrigin {
  readonly name: string;
  readonly source: 'systemEnvironment' | 'backend.properties' | 'default';
  /** value as written in the file; null if one was given, because it may hold a secret */
  readonly value: string | null;
}

export interface Adapters {
  readonly jobs: JobStore;
  readonly catalog: CatalogStore;
  readonly watches: WatchStore;
  readonly access: AccessStore;
  readonly credentials: CredentialStore;
  readonly idempotency: IdempotencyStore;
  readonly files: FileStore;
  /** the logs of jobs */
  readonly logs: LogReader;
  readonly compiler: SchemaCompiler;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly logger: Logger;
  /** exports spans; absent if no collector is configured */
  readonly tracer?: Tracer;
  /** absent if the runtime keeps the log itself */
  readonly log?: ServiceLog;
  /** origin of each setting */
  readonly settings: readonly SettingOrigin[];
  readonly health: HealthProbe;
  readonly assets: AssetStore;
  /** the documentation as a site; absent if the runtime cannot read it */
  readonly help?: AssetStore;
  /** verifies tokens of the identity provider that are accepted beside our keys; absent if there is none */
  readonly tokens?: TokenVerifier;
  /** knows the callers of a host with a sign-in of its own; absent if there is none */
  readonly callers?: HostCallers;
  /** absent if the runtime, or a proxy in front of it, compresses answers */
  readonly compressor?: Compressor;
  readonly runtime: RuntimeInfo;
  /** absent if the runtime does not report them */
  readonly process?: ProcessFigures;
  /** absent if the runtime has no such figures */
  readonly figures?: OperationFigureSource;
  readonly build: BuildInfo;
  /** names of hosts that requests name, for the gate that they pass */
  readonly hosts: HostResolver;
  /** null: the runtime has no processes, so schemas are neither exported nor imported */
  readonly transfers: TransferProgram | null;
  /** null: the runtime has no processes, so rows of targets cannot be read */
  readonly targetReader: TargetReader | null;
}

/**
 * The adapters that a host gives to `openService`; the service makes the others. `files` and `runner` serve jobs, too: a tool reaches
 * the store through the service. Tools read jobs, schemas, credentials and secrets from the metadata database, whatever adapter
 * the host gives for these.
 */
export interface HostAdapters extends Partial<Omit<Adapters, 'logs'>> {
  readonly logs?: LogStore;
  /** starts the tools of jobs */
  readonly runner?: ProcessRunner;
}
