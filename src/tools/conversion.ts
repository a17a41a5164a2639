import type { BrokenRule } from '../engine/identity/broken-rules.ts';
import type { SchemaChosen } from './schema-choice.ts';

/** What the job record keeps beside the summary that is printed: what met no place, and what was left out. */
export interface ConversionDetails {
  readonly unmapped: readonly { readonly xpath: string; readonly count: number }[];
  /** pieces of content whose mappings are inactive */
  readonly ignored: number;
  readonly rejects: readonly {
    readonly document: string | null;
    readonly line: number | null;
    readonly column: number | null;
    readonly message: string;
  }[];
  /** keys, uniques and keyrefs of the XSD that documents broke; absent where none are declared */
  readonly broken?: readonly BrokenRule[];
}

export const noDetails: ConversionDetails = { unmapped: [], ignored: 0, rejects: [] };

/** What a tool did, for the job record and the summary. */
export interface Conversion {
  readonly origin: number | null;
  readonly logical: number | null;
  /** null: nothing was loaded, written or removed by it */
  readonly chosen: SchemaChosen | null;
  readonly documents: number;
  readonly rejected: number;
  /** by table name; tables without rows are left out */
  readonly rows: Readonly<Record<string, number>>;
  /** distinct paths of the mapping, and paths met that it does not know */
  readonly mapped: number;
  readonly unknown: number;
  readonly bytes: number;
  readonly details: ConversionDetails;
  readonly steps: readonly (readonly [step: string, seconds: number])[];
}
