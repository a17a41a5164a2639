/** A compiler that reads files, for sources in a remote store: they are downloaded while it works. */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileStore } from '../../ports/files.ts';
import type { SchemaCompiler } from '../../ports/processes.ts';
import { fetchFiles } from '../local-files/file-store.ts';

/** `directory`: folder for the downloads; created when needed. */
export function createFetchingCompiler(
  files: FileStore,
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
            location.startsWith('/')
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
