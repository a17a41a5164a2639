/** The compiler of schemas that are made over the API. Loaded with the first of them: no tool makes one. */
import { join } from 'node:path';
import { createFetchingCompiler } from '../adapters/node/fetching-compiler.ts';
import { createIsolatedSchemaCompiler } from '../adapters/node/isolated-schema-compiler.ts';
import type { Limits } from '../limits.ts';
import type { FileStore } from '../ports/file-store.ts';
import type { SchemaCompiler } from '../ports/schema-compiler.ts';
import type { Home } from './home.ts';

/** Schemas that are compiled at the same time; each may take the memory that one is allowed. */
const compilerThreads = 2;

export function openCompiler(files: FileStore, home: Home, limits: Limits): SchemaCompiler {
  const isolated = createIsolatedSchemaCompiler({
    module: new URL('../tools/bin/schema-compiler-thread.mjs', import.meta.url),
    timeMs: limits.xsdTimeMs,
    memoryBytes: limits.xsdMemoryBytes,
    settings: limits,
    concurrency: compilerThreads,
  });
  return createFetchingCompiler(files, join(home.directory, 'tmp'), isolated);
}
