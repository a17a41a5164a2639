/**
 * The description of a place for the process that looks at it, and the requests to that process
 * (`src/process/look-processes.ts`).
 */
import type { PlaceAccess } from '../../inputs/remote/requests.ts';
import type { ToolRequest } from '../../service/jobs/request/tool-request.ts';
import type { QueryMark, ListedObject } from '../../ports/stores/watches.ts';

/** The settings that a look is bound by. */
export interface LookSettings {
  readonly allowedHosts: readonly string[];
  readonly plainPasswordHosts: readonly string[];
  readonly targetMessageBytes: number;
  /** see `PlaceOptions` of src/inputs/sftp/place.ts */
  readonly scratch: string;
}

/** Files of a bucket, a server or the web; `access`: access data for them. */
export interface FilePlace {
  readonly kind: 'files';
  readonly location: string;
  readonly pattern: string | null;
  readonly access: PlaceAccess | null;
}

/** Rows of a database server. `source`: identity of the query and its target; `last`: the newest mark whose rows are loaded. */
export interface RowPlace {
  readonly kind: 'rows';
  readonly request: ToolRequest;
  readonly source: string;
  readonly last: QueryMark | null;
}

export type LookPlace = FilePlace | RowPlace;

/** `objects` is answered in parts, each of them a list of objects. */
export type LookRequest =
  | { readonly what: 'open'; readonly place: LookPlace; readonly settings: LookSettings }
  | { readonly what: 'objects' }
  | { readonly what: 'digest'; readonly object: ListedObject }
  | { readonly what: 'close' };

export interface OpenedPlace {
  readonly fileSystem: string | null;
}
