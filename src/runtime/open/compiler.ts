/** The compiler of schemas that are made over the API. It is imported lazily, as tools never use it. */
import { join } from 'node:path';
import { launcher, startThread } from '../../installation.ts';
import { createLookProcesses } from '../../adapters/processes/look-processes.ts';
import { createFetchingCompiler } from '../../adapters/schema-compiler/with-download.ts';
import { createTurns } from '../../adapters/schema-compiler/fair-turns.ts';
import { createIsolatedSchemaCompiler } from '../../adapters/schema-compiler/in-thread.ts';
import { fixedLimits } from '../../config/limits.ts';
import type { Config } from '../../config/shape.ts';
import { isRemoteLocation } from '../../files/remote-location.ts';
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

export interface OpenedCompiler extends SchemaCompiler {
  /** Ends the processes that fetch sources. */
  close(): Promise<void>;
}

export function openCompiler({ files, home, config, adapters }: CompilerParts): OpenedCompiler {
  const { limits } = config;
  const directory = join(home.directory, 'tmp');
  const isolated = createIsolatedSchemaCompiler({
    startThread: (options) => startThread('service/schema-compiler', options),
    timeMs: limits.xsdTimeMs,
    memoryBytes: limits.xsdMemoryBytes,
    settings: limits,
  });
  const compiler = createFetchingCompiler(files, directory, isolated);
  const turns = createTurns({
    slots: compilerThreads,
    slotsOfOne: limits.compiles,
    mostWaiting: fixedLimits.waitingCompiles,
    waitMs: fixedLimits.compileWaitMs,
    what: 'schemas',
  });
  const inTurn = async <T>(idOrg: number, waitMs: number, work: () => Promise<T>): Promise<T> => {
    const end = await turns.take(idOrg, waitMs);
    try {
      return await work();
    } finally {
      end();
    }
  };
  const waiting = (waitMs: number): SchemaCompiler => ({
    compile: (sources, find, follow) =>
      inTurn(sources.idOrg, waitMs, () => compiler.compile(sources, find, follow)),
    generate: (sources) => inTurn(sources.idOrg, waitMs, () => compiler.generate(sources)),
  });
  const here = waiting(fixedLimits.compileWaitMs);
  const processes = createLookProcesses({
    entry: [launcher, 'service/fetch'],
    workingDirectory: home.directory,
    memoryBytes: limits.lookMemoryBytes,
    most: fixedLimits.schemaFetches,
    waitMs: null,
  });
  const addressed = createAddressCompiler(
    {
      adapters,
      sources: config.sources ?? [],
      allowedHosts: config.allowedHosts,
      directory,
      mostBytes: limits.uploadBytes,
      processes,
      turns: createTurns({
        slots: fixedLimits.schemaFetches,
        slotsOfOne: fixedLimits.schemaFetchesOfOne,
        mostWaiting: fixedLimits.waitingCompiles,
        waitMs: fixedLimits.schemaFetchWaitMs,
        what: 'fetches of schemas',
      }),
    },
    waiting(fixedLimits.compileWaitMs - fixedLimits.schemaFetchWaitMs),
  );
  return {
    compile: (sources, find, follow) =>
      ([...sources.xsd, ...sources.xml].some(isRemoteLocation) ? addressed : here).compile(
        sources,
        find,
        follow,
      ),
    generate: here.generate,
    close: () => processes.close(),
  };
}
