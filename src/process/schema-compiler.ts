/**
 * Compiles schemas that are made over the API, each in a thread of its own that ends at a deadline or when its memory is spent.
 * Organisations take turns.
 */
import { AppError, type ErrorDetail } from '../errors.ts';
import type { Worker, WorkerOptions } from 'node:worker_threads';
import {
  packRelationalModel,
  packSourceModel,
  unpackRelationalModel,
  unpackSourceModel,
  type PackedRelationalModel,
} from '../engine/model/packed/models.ts';
import type { RelationalModel } from '../engine/model/relational-model.ts';
import type {
  CompiledSchema,
  FindCompiled,
  NextSchema,
  NextSchemaSources,
  SchemaCompiler,
  SchemaSources,
} from '../ports/processes.ts';
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobFiles } from '../ports/files.ts';
import { fetchFiles } from '../storage/local/file-store.ts';

// Assigns a few slots fairly: organisations take turns, however many requests any of them has.

export interface TurnSettings {
  /** slots in all */
  readonly slots: number;
  /** slots that one organisation may hold */
  readonly slotsOfOne: number;
  /** requests of one organisation that wait; past it AppError `too_many_requests` */
  readonly maxWaiting: number;
  /** past it AppError `service_unavailable` */
  readonly waitMs: number;
  /** noun for what callers wait for, as in "the organisation has 20 … waiting" */
  readonly what: string;
}

export interface Turns {
  /** Waits for a slot, `waitMs` at most; returns a function that gives the slot back, to be called once. */
  take(idOrg: number, waitMs?: number): Promise<() => void>;
}

export function createTurns(settings: TurnSettings): Turns {
  const held = new Map<number, number>();
  /** keyed by organisation; an organisation that was served moves to the end */
  const waiting = new Map<number, (() => void)[]>();
  let free = settings.slots;

  function mayTake(idOrg: number): boolean {
    return free > 0 && (held.get(idOrg) ?? 0) < settings.slotsOfOne;
  }

  function enter(idOrg: number): void {
    free -= 1;
    held.set(idOrg, (held.get(idOrg) ?? 0) + 1);
  }

  function leave(idOrg: number): void {
    free += 1;
    const left = (held.get(idOrg) ?? 1) - 1;
    if (left === 0) held.delete(idOrg);
    else held.set(idOrg, left);
    for (const [next, those] of waiting) {
      if (!mayTake(next)) continue;
      const [first, ...rest] = those;
      waiting.delete(next);
      if (rest.length > 0) waiting.set(next, rest);
      enter(next);
      first!();
      return;
    }
  }

  function wait(idOrg: number, waitMs: number): Promise<void> {
    const those = waiting.get(idOrg) ?? [];
    if (those.length >= settings.maxWaiting)
      throw refusal('too_many_requests', `the organisation has ${those.length} ${settings.what} waiting`);
    return new Promise((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        const rest = (waiting.get(idOrg) ?? []).filter((other) => other !== start);
        if (rest.length > 0) waiting.set(idOrg, rest);
        else waiting.delete(idOrg);
        reject(refusal('service_unavailable', `the ${settings.what} before it take too long`));
      }, waitMs);
      waiting.set(idOrg, [...those, start]);
    });
  }

  return {
    async take(idOrg, waitMs = settings.waitMs) {
      if (mayTake(idOrg) && !waiting.has(idOrg)) enter(idOrg);
      else await wait(idOrg, waitMs);
      return () => leave(idOrg);
    },
  };
}

function refusal(code: 'too_many_requests' | 'service_unavailable', detail: string): AppError {
  return new AppError(code, `${detail}: try again later`, { headers: { 'Retry-After': '10' } });
}

// The compiler.

interface IsolatedSchemaCompilerOptions {
  /**
   * starts the thread: it posts one `CompilerAnswer` for the `CompilerRequest` in its workerData. Before, it may ask once whether there
   * are models already, and whether it may read a file that a schema refers to: it posts a `CompilerQuestion` and gets true or false,
   * or a path or null
   */
  readonly startThread: (options: WorkerOptions) => Worker;
  readonly timeMs: number;
  readonly memoryBytes: number;
  /** settings for the module, beside the sources */
  readonly settings: unknown;
}

export type CompilerRequest = ({ readonly sources: PackedSources } | { readonly next: PackedNextSources }) & {
  readonly settings: unknown;
};

/** Models go from thread to thread as bytes: those of a large set are a hundred thousand objects. */
export type PackedSources = Omit<SchemaSources, 'previous'> & { readonly previous?: PackedRelationalModel };

export type PackedNextSources = Omit<NextSchemaSources, 'source' | 'newest'> & {
  readonly source: Uint8Array<ArrayBuffer>;
  readonly newest: PackedRelationalModel | null;
};

export type CompilerQuestion = { readonly fingerprint: string } | { readonly path: string };

/** `models` is null if the thread was told that they are known. */
export type CompiledApart = Omit<CompiledSchema, 'source' | 'model'> & {
  readonly models: PackedModels | null;
};

export interface PackedModels {
  readonly source: Uint8Array<ArrayBuffer>;
  readonly model: PackedRelationalModel;
}

export type PackedNextSchema = Omit<PackedModels, 'source'> & {
  readonly source: Uint8Array<ArrayBuffer> | null;
};

export type CompilerAnswer =
  | { readonly compiled: CompiledApart }
  | { readonly next: PackedNextSchema }
  | { readonly fault: string; readonly errors: readonly ErrorDetail[] };

export function createIsolatedSchemaCompiler(options: IsolatedSchemaCompilerOptions): SchemaCompiler {
  function tooSlow(): AppError {
    return new AppError('unprocessable_input', `compiling took longer than ${options.timeMs} ms`);
  }

  function runInThread<T>(
    workerData: CompilerRequest,
    signal: AbortSignal,
    read: (answer: Exclude<CompilerAnswer, { fault: string }>) => T,
    reply: (question: CompilerQuestion) => Promise<boolean | string | null> = () => Promise.resolve(false),
  ): Promise<T> {
    const thread = options.startThread({
      workerData,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: Math.max(16, Math.floor(options.memoryBytes / 1024 / 1024)) },
    });
    return new Promise((resolve, reject) => {
      // the first event counts: ending a thread also makes it report an exit
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
      const look = async (question: CompilerQuestion): Promise<void> => {
        const known = await reply(question);
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
        thread.postMessage(known);
      };
      thread.on('message', (message: CompilerQuestion | CompilerAnswer) => {
        if ('fault' in message)
          end(() => reject(new AppError('unprocessable_input', message.fault, { errors: message.errors })));
        else if ('fingerprint' in message || 'path' in message)
          look(message).catch((error: unknown) => end(() => reject(error as Error)));
        else end(() => resolve(read(message)));
      });
      // a thread that ends of one error may report another: memory runs out while it ends
      thread.on('error', (error: NodeJS.ErrnoException) => end(() => reject(asFault(error))));
      thread.once('exit', () => end(() => reject(new Error('the compiler ended without an answer'))));
    });
  }

  function asFault(error: NodeJS.ErrnoException): Error {
    if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
    const megabytes = Math.floor(options.memoryBytes / 1024 / 1024);
    return new AppError('unprocessable_input', `compiling needs more than ${megabytes} MiB of memory`);
  }

  return {
    async compile(
      { previous, ...rest },
      find = () => Promise.resolve(null),
      follow = () => Promise.resolve(null),
    ) {
      const sources: PackedSources =
        previous === undefined ? rest : { ...rest, previous: packRelationalModel(previous) };
      let known: Awaited<ReturnType<FindCompiled>> = null;
      return await runInThread(
        { sources, settings: options.settings },
        AbortSignal.timeout(options.timeMs),
        (answer) => {
          const { models, ...compiled } = (answer as { compiled: CompiledApart }).compiled;
          return { ...compiled, ...(models === null ? known! : modelsOf(models)) };
        },
        async (question) =>
          'path' in question ? follow(question.path) : (known = await find(question.fingerprint)) !== null,
      );
    },

    async generate(sources) {
      const next: PackedNextSources = {
        ...sources,
        source: packSourceModel(sources.source),
        newest: sources.newest === null ? null : packRelationalModel(sources.newest),
      };
      return await runInThread(
        { next, settings: options.settings },
        AbortSignal.timeout(options.timeMs),
        (answer) => nextOf((answer as { next: PackedNextSchema }).next),
      );
    },
  };
}

function modelsOf({ source, model }: PackedModels): Pick<CompiledSchema, 'source' | 'model'> {
  return { source: unpackSourceModel(source), model: modelOf(model) };
}

function nextOf({ source, model }: PackedNextSchema): NextSchema {
  return { source: source === null ? null : unpackSourceModel(source), model: modelOf(model) };
}

export function modelOf({ plan, mappings }: PackedRelationalModel): RelationalModel {
  return unpackRelationalModel(plan, () => mappings);
}

// The compiler for sources in a remote store, which are downloaded first.

/** `directory`: folder for the downloads; created when needed. */
export function createFetchingCompiler(
  files: JobFiles,
  directory: string,
  compiler: SchemaCompiler,
): SchemaCompiler {
  if (files.local) return compiler;
  return {
    generate: (sources) => compiler.generate(sources),
    async compile(sources, find, follow) {
      const folder = join(directory, `compile-${randomBytes(8).toString('hex')}`);
      let serial = 0;
      const fetched = async (locations: readonly string[]): Promise<string[]> => {
        const paths: string[] = [];
        for (const location of locations)
          paths.push(
            !location.startsWith('object:')
              ? location
              : await fetchFiles(files, location, join(folder, String((serial += 1)))),
          );
        return paths;
      };
      try {
        const here = { xsd: await fetched(sources.xsd), xml: await fetched(sources.xml) };
        return await compiler.compile({ ...sources, ...here }, find, follow);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}
