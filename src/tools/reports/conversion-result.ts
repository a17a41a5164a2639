/** The result of a conversion: its summary, and the details that the job record keeps. */
import type { BrokenRule } from '../../engine/identity/compiled-rules.ts';
import type { RemovedFiles, ReplacedFile } from '../../ports/stores/watches.ts';
import type { BrokenKey } from '../../ports/row-sink.ts';

/** Details in the job record beside the printed summary: unmapped content, ignored values, rejects. */
export interface ConversionDetails {
  readonly unmapped: readonly { readonly xpath: string; readonly count: number }[];
  /** values whose mappings are inactive */
  readonly ignored: number;
  readonly rejects: readonly {
    readonly document: string | null;
    readonly line: number | null;
    readonly column: number | null;
    /** code of the diagnostic, such as `unknown_root`; null if there is none */
    readonly code: string | null;
    readonly message: string;
  }[];
  /** keys, uniques and keyrefs of the XSD that documents broke; absent if none are declared */
  readonly broken?: readonly BrokenRule[];
  /** natural keys that values broke, so that the target does not have them; absent for none */
  readonly broken_keys?: readonly BrokenKey[];
  /** `-S m`: counts of documents by outcome; absent in other modes */
  readonly merged?: {
    readonly inserted: number;
    readonly replaced: number;
    readonly unchanged: number;
    readonly deleted: number;
  };
  /** for a watch (`-S m`): files whose documents are not in the target, because later files have their keys; absent for none */
  readonly replaced_files?: readonly ReplacedFile[];
  /** the files of watches whose rows this job has removed; absent for none */
  readonly removed?: RemovedFiles;
  /** `--skip-loaded`, `--keys hash`: documents that were not loaded; absent without */
  readonly left_out?: LeftOut;
  /** the highest row keys given out, by table; absent if they follow from the documents, or nothing was loaded */
  readonly keys?: Readonly<Record<string, number>>;
}

/** Files that hold the same, byte for byte, as others. */
export interface LeftOut {
  /** the target holds them already */
  readonly loaded: number;
  /** the same file occurred before among the inputs */
  readonly repeated: number;
}

export const noDetails: ConversionDetails = { unmapped: [], ignored: 0, rejects: [] };

/** The content that went to `_unmapped`. */
export interface KeptContent {
  /** elements, attributes and texts */
  readonly values: number;
  /** documents that were kept whole */
  readonly documents: number;
}

export const nothingKept: KeptContent = { values: 0, documents: 0 };

/** The result of a tool, for the job record and the summary. */
export interface Conversion {
  /** how the counted documents were processed */
  readonly does: 'loaded' | 'read' | null;
  readonly origin: number | null;
  readonly logical: number | null;
  /** null: the run loaded, wrote or removed nothing */
  readonly chosen: SchemaChosen | null;
  readonly documents: number;
  /** documents of an unknown root are counted apart */
  readonly rejected: number;
  readonly unknownRoots: number;
  readonly kept: KeptContent;
  /** advice on how to map the content that went to `_unmapped`; absent if there is none, or if nothing went there */
  readonly advice?: string;
  /** rows by table name; tables without rows are left out */
  readonly tables: Readonly<Record<string, number>>;
  /** distinct paths of the mapping, and paths found that it does not know */
  readonly mapped: number;
  readonly unknown: number;
  readonly bytes: number;
  readonly details: ConversionDetails;
}

/** The result of a run that found no row. */
export const nothingToLoad: Conversion = {
  does: 'loaded',
  origin: null,
  logical: null,
  chosen: null,
  documents: 0,
  rejected: 0,
  unknownRoots: 0,
  kept: nothingKept,
  tables: {},
  mapped: 0,
  unknown: 0,
  bytes: 0,
  details: noDetails,
};

/** The choice of a schema, in the summary. */
export interface SchemaChosen {
  readonly logical: number | null;
  readonly why: string;
}

/** The rows that a job will have added to its target. */
export type WrittenSoFar = Omit<Conversion, 'does' | 'mapped' | 'advice'>;

/** The facts about a conversion that the summary shows. */
export type SummarisedWork = Omit<Conversion, 'does' | 'advice'>;
