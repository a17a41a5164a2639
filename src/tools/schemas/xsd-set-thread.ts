/** The program of the thread of src/tools/schemas/convert-xsd.ts: compiles an XSD set to its source model. */
import { parentPort, workerData } from 'node:worker_threads';
import { InputError, type Diagnostic } from '../../engine/diagnostics.ts';
import { compileXsdSet } from '../../engine/xsd/compile-set.ts';
import type { CompiledXsdSet, CompileOptions, XsdFile } from '../../engine/xsd/compile-set.ts';
import { XsdSetError } from '../../engine/xsd/report.ts';

export interface CompileOrder {
  readonly files: readonly XsdFile[];
  readonly options: CompileOptions;
}

/** `all` null: the fault was no report of the set's, but an end of reading. */
export type CompileAnswer =
  | { readonly compiled: CompiledXsdSet }
  | { readonly first: Diagnostic; readonly all: readonly Diagnostic[] | null };

function answer({ files, options }: CompileOrder): CompileAnswer {
  try {
    return { compiled: compileXsdSet(files, options) };
  } catch (error) {
    if (error instanceof XsdSetError) return { first: error.diagnostic, all: error.diagnostics };
    if (error instanceof InputError) return { first: error.diagnostic, all: null };
    throw error;
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort!.postMessage(answer(workerData as CompileOrder));
