/** A compiler of files, for sources that lie in buckets and on the web: they are brought here while it works. */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { checkAddress, createOutgoingGuard } from '../../access/outgoing-guard.ts';
import { createHostResolver } from '../../adapters/outgoing/host-resolver.ts';
import { fixedLimits } from '../../config/limits.ts';
import { AppError } from '../../errors.ts';
import { isRemoteLocation, parseRemoteLocation } from '../../files/remote-location.ts';
import type { SchemaCompiler, SchemaSources } from '../../ports/processes/schema-compiler.ts';
import { accessOfOrganisation, type AccessOptions } from './access.ts';
import { fetchLocation } from './fetch.ts';

export interface AddressedSources extends AccessOptions {
  readonly allowedHosts: readonly string[];
  /** where they lie meanwhile; made when needed */
  readonly directory: string;
  /** of all sources of a schema */
  readonly mostBytes: number;
}

/** AppErrors of `fetchLocation` beside those of the compiler; `payload_too_large`; `service_unavailable` where it takes too long. */
export function createAddressCompiler(options: AddressedSources, compiler: SchemaCompiler): SchemaCompiler {
  return {
    generate: (sources) => compiler.generate(sources),
    async compile(sources, find, follow) {
      if (![...sources.xsd, ...sources.xml].some(isRemoteLocation))
        return compiler.compile(sources, find, follow);
      const directory = join(options.directory, `addresses-${randomBytes(8).toString('hex')}`);
      try {
        const here = await fetchAll(options, sources, directory);
        return await compiler.compile({ ...sources, ...here }, find, follow);
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
  };
}

async function fetchAll(
  options: AddressedSources,
  { idOrg, credential, xsd, xml }: SchemaSources,
  directory: string,
): Promise<Pick<SchemaSources, 'xsd' | 'xml'>> {
  const resolver = createHostResolver();
  const guards = {
    request: createOutgoingGuard(options.allowedHosts, resolver),
    operator: createOutgoingGuard(['*'], resolver),
  };
  const signal = AbortSignal.timeout(fixedLimits.schemaFetchMs);
  let bytes = 0;
  let serial = 0;
  const onBytes = (count: number): void => {
    bytes += count;
    if (bytes > options.mostBytes)
      throw new AppError(
        'payload_too_large',
        `the files have more than ${options.mostBytes} bytes: load such documents with xml2er, which has no such limit`,
      );
  };
  const fetched = async (locations: readonly string[], kind: 'xsd' | 'xml'): Promise<string[]> => {
    const paths: string[] = [];
    for (const text of locations) {
      if (!isRemoteLocation(text)) {
        paths.push(text);
        continue;
      }
      const location = parseRemoteLocation(text);
      const found = await fetchLocation(location, {
        check: (url, by) => checkAddress(guards[by], url),
        access: await accessOfOrganisation(options, { idOrg, credential: credential ?? null }, location),
        directory: join(directory, String((serial += 1))),
        signal,
        scratch: directory,
        ownKeys: false,
        onBytes,
        wanted: null,
        spool: null,
        ...(kind === 'xsd' ? { follows: false } : {}),
      });
      paths.push(...found.paths);
    }
    return paths;
  };
  try {
    return { xsd: await fetched(xsd, 'xsd'), xml: await fetched(xml, 'xml') };
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new AppError(
      'service_unavailable',
      `the files cannot be fetched within ${fixedLimits.schemaFetchMs / 1000} s: make the schema with xsd2er, which has no such limit`,
      { cause: error },
    );
  }
}
