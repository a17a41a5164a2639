/** The requests to the process that reads rows of a target, as plain data. */
import type { PageSlice, TypesOfTables } from '../../ports/target-reader.ts';

/** A target with everything that is needed to open it. */
export type OpenPlace =
  | {
      readonly kind: 'metadb';
      readonly label: string;
      readonly sqlSchema: string;
      /** address of the metadata database; holds a password */
      readonly url: string;
      readonly role: string;
      /** the server runs on this machine: its process is watched, too */
      readonly isLocal: boolean;
    }
  | { readonly kind: 'duckdb' | 'sqlite' | 'folder'; readonly label: string; readonly path: string };

export interface ReadSettings {
  /** folder of this request for data that does not fit into memory; created when needed, and removed by the parent process */
  readonly scratch: string;
  readonly memoryBytes: number;
}

/** `ready` is answered when the process runs, `read` with `ReadAnswer`; `close` comes when no answer is wanted any more. */
export type ReadRequest =
  | {
      readonly what: 'read';
      readonly place: OpenPlace;
      readonly settings: ReadSettings;
      readonly wanted: { readonly slice: PageSlice } | { readonly sql: string };
      /** types of tables, if an earlier answer asked for them */
      readonly types: TypesOfTables | null;
    }
  | { readonly what: 'ready' }
  | { readonly what: 'close' };

/** The rows, or the types that are needed to read them. */
export type ReadAnswer =
  | { readonly rows: unknown; readonly total: number | null }
  | { readonly needsTypes: { readonly modelHashes: readonly string[]; readonly tables: readonly string[] } };
