/** The metadata database as a transfer of packages sees it: one state of it to read, one transaction to write. */
import type { CatalogStore } from './catalog.ts';

export interface FamilyMember {
  readonly idSch: number;
  readonly idParentSch: number | null;
  readonly name: string;
  readonly version: number;
  /** microseconds matter to who compares: ISO 8601 with six digits, UTC */
  readonly created: string;
}

export interface StoredMoment {
  readonly created: string;
}

/** The state that the catalogue's own port does not return: times, and lists by origin. All reads are in the same transaction. */
export interface TransferState {
  readonly catalog: CatalogStore;
  /** Every version of the origin's family, oldest first; empty: no such origin in the organisation. */
  listFamily(idOrg: number, idSch: number): Promise<readonly FamilyMember[]>;
  /** oldest first */
  listLogicalSchemas(idSch: number): Promise<readonly (StoredMoment & { readonly idLschma: number })[]>;
  /** Returns the statistics of single jobs, oldest first. */
  listJobStatistics(idSch: number): Promise<readonly (StoredMoment & { readonly statistics: unknown })[]>;
  /** null: no drawing was saved */
  diagramSaved(idLschma: number): Promise<string | null>;
}

export interface TransferChanges extends TransferState {
  /** Gives a newly created origin its original's place in the family. */
  placeOrigin(
    idSch: number,
    position: { readonly idParentSch: number | null; readonly version: number; readonly created: string },
  ): Promise<void>;
  setStatistics(idSch: number, merged: unknown): Promise<void>;
  addJobStatistics(idSch: number, statistics: unknown, created: string): Promise<void>;
  setLogicalSchemaCreated(idLschma: number, created: string): Promise<void>;
  setDiagramSaved(idLschma: number, saved: string): Promise<void>;
  /** The job that writes all this is C with it; false: it was killed, or given up, meanwhile. */
  completeJob(idJob: number, idSch: number): Promise<boolean>;
  /** Whether the organisation is there. */
  hasOrganisation(idOrg: number): Promise<boolean>;
}

export interface TransferStore {
  /** One consistent state, whatever others write meanwhile. */
  read<T>(work: (state: TransferState) => Promise<T>): Promise<T>;
  /** Commits all writes of `work`, or none if it throws. */
  write<T>(work: (changes: TransferChanges) => Promise<T>): Promise<T>;
}
