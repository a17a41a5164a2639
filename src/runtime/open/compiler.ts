/** The compiler of schemas that are made over the API. It is imported lazily, as tools never use it. */
import { join } from 'node:path';
import { startThread } from '../../installation.ts';
import { createFetchingCompiler } from '../../adapters/schema-compiler/with-download.ts';
import { createTurns } from '../../adapters/schema-compiler/fair-turns.ts';
import { createIsolatedSchemaCompiler } from '../../adapters/schema-compiler/in-thread.ts';
import { fixedLimits } from '../../config/limits.ts';
import type { Config } from '../../config/shape.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { FileStore } from '../../ports/files/organisation-files.ts';
import type { SchemaCompiler } from '../../ports/processes/schema-compiler.ts';
import type { Home } from '../home.ts';
import { createAddressCompiler } from '../remote/fetching-compiler.ts';

/** Schemas that are compiled at the same time; each may take the memory that one is allowed. */
const compilerThreads = 2;

export interface CompilerParts {
  readonly files: FileStore;
  readonly home: Home;
  readonly config: Pick<Config, 'limits' | 'allowedHosts' | 'sources'>;
  readonly adapters: Pick<Adapters, 'credentials' | 'secrets'>;
}

export function openCompiler({ files, home, config, adapters }: CompilerParts): SchemaCompiler {
  const { limits } = config;
  const directory = join(home.directory, 'tmp');
  const isolated = createIsolatedSchemaCompiler({
    startThread: (options) => startThread('service/schema-compiler', options),
    timeMs: limits.xsdTimeMs,
    memoryBytes: limits.xsdMemoryBytes,
    settings: limits,
  });
  const compiler = createAddressCompiler(
    {
      adapters,
      sources: config.sources ?? [],
      allowedHosts: config.allowedHosts,
      directory,
      mostBytes: limits.uploadBytes,
    },
    createFetchingCompiler(files, directory, isolated),
  );
  const turns = createTurns({
    slots: compilerThreads,
    slotsOfOne: limits.compiles,
    mostWaiting: fixedLimits.waitingCompiles,
    waitMs: fixedLimits.compileWaitMs,
    what: 'schemas',
  });
  const inTurn = async <T>(idOrg: number, work: () => Promise<T>): Promise<T> => {
    const end = await turns.take(idOrg);
    try {
      return await work();
    } finally {
      end();
    }
  };
  return {
    compile: (sources, find, follow) => inTurn(sources.idOrg, () => compiler.compile(sources, find, follow)),
    generate: (sources) => inTurn(sources.idOrg, () => compiler.generate(sources)),
  };
}
