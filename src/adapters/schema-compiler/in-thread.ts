/** Compiles in a thread of its own, which ends at a deadline or when its memory is spent; the service goes on. */
import { Worker } from 'node:worker_threads';
import { AppError } from '../../errors.ts';
import type { ErrorDetail } from '../../errors.ts';
import type {
  CompiledSchema,
  FindCompiled,
  SchemaCompiler,
  SchemaSources,
} from '../../ports/processes/schema-compiler.ts';

export interface IsolatedSchemaCompilerOptions {
  /**
   * the module the thread runs: it posts one `CompilerAnswer` for the `CompilerRequest` in its workerData. Before, it may ask once
   * whether there are models already: it posts a `CompilerQuestion` and gets true or false
   */
  readonly module: URL;
  readonly timeMs: number;
  readonly memoryBytes: number;
  /** what the module is told beside the sources */
  readonly settings: unknown;
}

export interface CompilerRequest {
  readonly sources: SchemaSources;
  readonly settings: unknown;
}

export interface CompilerQuestion {
  readonly fingerprint: string;
}

/** `models` null: those that it was told are known. */
export type CompiledApart = Omit<CompiledSchema, 'source' | 'model'> & {
  readonly models: Pick<CompiledSchema, 'source' | 'model'> | null;
};

export type CompilerAnswer =
  { readonly compiled: CompiledApart } | { readonly fault: string; readonly errors: readonly ErrorDetail[] };

export function createIsolatedSchemaCompiler(options: IsolatedSchemaCompilerOptions): SchemaCompiler {
  function tooSlow(): AppError {
    return new AppError('unprocessable_input', `compiling took longer than ${options.timeMs} ms`);
  }

  function compileInThread(
    sources: SchemaSources,
    find: FindCompiled,
    signal: AbortSignal,
  ): Promise<CompiledSchema> {
    const workerData: CompilerRequest = { sources, settings: options.settings };
    const thread = new Worker(options.module, {
      workerData,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: Math.max(16, Math.floor(options.memoryBytes / 1024 / 1024)) },
    });
    return new Promise((resolve, reject) => {
      // what comes first counts: ending a thread makes it report an exit too
      let settled = false;
      const end = (settle: () => void): void => {
        if (settled) return;
        settled = true;
        signal.removeEventListener('abort', onAbort);
        void thread.terminate();
        settle();
      };
      const onAbort = (): void => end(() => reject(tooSlow()));
      signal.addEventListener('abort', onAbort);
      if (signal.aborted) onAbort();
      let known: Awaited<ReturnType<FindCompiled>> = null;
      const look = async ({ fingerprint }: CompilerQuestion): Promise<void> => {
        known = await find(fingerprint);
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
        thread.postMessage(known !== null);
      };
      thread.on('message', (message: CompilerQuestion | CompilerAnswer) => {
        if ('fault' in message)
          end(() => reject(new AppError('unprocessable_input', message.fault, { errors: message.errors })));
        else if ('compiled' in message) {
          const { models, ...compiled } = message.compiled;
          end(() => resolve({ ...compiled, ...(models ?? known!) }));
        } else look(message).catch((error: unknown) => end(() => reject(error as Error)));
      });
      thread.once('error', (error: NodeJS.ErrnoException) => end(() => reject(asFault(error))));
      thread.once('exit', () => end(() => reject(new Error('the compiler ended without an answer'))));
    });
  }

  function asFault(error: NodeJS.ErrnoException): Error {
    if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
    const megabytes = Math.floor(options.memoryBytes / 1024 / 1024);
    return new AppError('unprocessable_input', `compiling needs more than ${megabytes} MiB of memory`);
  }

  return {
    async compile(sources, find = () => Promise.resolve(null)) {
      return await compileInThread(sources, find, AbortSignal.timeout(options.timeMs));
    },
  };
}
