/** Makes a model of untrusted XSD sets and documents in isolation from the service: within a time and an amount of memory. */
import type { Diagnostic } from '../../engine/diagnostics.ts';
import type { MapLevel, RelationalModel } from '../../engine/model/relational-model.ts';
import type { SourceModel } from '../../engine/model/source-model.ts';
import type { NewOriginFile, OriginRecord } from '../stores/catalog.ts';

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
export type FollowReference = (path: string) => Promise<string | null>;

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
