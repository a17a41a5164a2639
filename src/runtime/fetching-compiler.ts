/**
 * A compiler for sources in buckets and on the web. A child process fetches them before the compiler's turn comes, because their
 * servers decide what they send, and how slowly.
 */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LookProcessEnd, type LookProcesses } from '../process/look-processes.ts';
import type { Turns } from '../process/schema-compiler.ts';
import { fixedLimits } from '../config/limits.ts';
import { AppError, errorCatalogue, type ErrorCode } from '../errors.ts';
import { isRemoteLocation, parseRemoteLocation } from '../service/files/remote-location.ts';
import type { SchemaCompiler, SchemaSources } from '../ports/processes.ts';
import type { ChildFault } from '../process/child-requests.ts';
import {
  accessOfOrganisation,
  type AccessOptions,
  type FetchedSources,
  type FetchRequest,
  type SourcePlace,
} from '../inputs/remote/source-fetch.ts';

export interface AddressedSources extends AccessOptions {
  readonly allowedHosts: readonly string[];
  /** folder for the fetched files; created when needed */
  readonly directory: string;
  /** limit for all sources of a schema together */
  readonly maxBytes: number;
  readonly processes: LookProcesses;
  readonly turns: Turns;
}

/** AppErrors of `fetchSources` beside those of the compiler; `service_unavailable` if fetching takes too long. */
export function createAddressCompiler(
  options: AddressedSources,
  compiler: SchemaCompiler,
): Pick<SchemaCompiler, 'compile'> {
  return {
    async compile(sources, find, follow) {
      const directory = join(options.directory, `addresses-${randomBytes(8).toString('hex')}`);
      try {
        const here = await fetchElsewhere(options, sources, directory);
        return await compiler.compile({ ...sources, ...here }, find, follow);
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
  };
}

async function fetchElsewhere(
  options: AddressedSources,
  { idOrg, credential, xsd, xml }: SchemaSources,
  directory: string,
): Promise<FetchedSources> {
  const { allowedHosts, maxBytes } = options;
  const placesOf = (texts: readonly string[]): Promise<SourcePlace[]> =>
    Promise.all(
      texts.map(async (text) => ({
        text,
        access: isRemoteLocation(text)
          ? await accessOfOrganisation(
              options,
              { idOrg, credential: credential ?? null },
              parseRemoteLocation(text),
            )
          : null,
      })),
    );
  const [xsdPlaces, xmlPlaces] = [await placesOf(xsd), await placesOf(xml)];
  const leave = await options.turns.take(idOrg);
  try {
    const process = await options.processes.take(idOrg);
    // ends the process if it has not answered
    const timer = setTimeout(() => process.release(), fixedLimits.schemaFetchMs);
    try {
      return (await process.ask({
        fetch: { xsd: xsdPlaces, xml: xmlPlaces, allowedHosts, directory, maxBytes },
      } satisfies FetchRequest)) as FetchedSources;
    } catch (error) {
      throw faultOf(error);
    } finally {
      clearTimeout(timer);
      process.release();
    }
  } finally {
    leave();
  }
}

/** The error that the process reported, or the reason that it was ended for. */
function faultOf(error: unknown): Error {
  if (error instanceof LookProcessEnd) {
    if (error.limit !== null)
      return new AppError(
        'unprocessable_input',
        `the process that fetched the files was ended: ${error.limit}`,
      );
    return tooSlow();
  }
  if (error instanceof Error) return error;
  const { code, message, isTimeout } = error as ChildFault;
  if (isTimeout === true) return tooSlow();
  return code !== null && Object.hasOwn(errorCatalogue, code)
    ? new AppError(code as ErrorCode, message)
    : new Error(message);
}

function tooSlow(): AppError {
  return new AppError(
    'service_unavailable',
    `the files cannot be fetched within ${fixedLimits.schemaFetchMs / 1000} s: make the schema with xsd2er, which has no such limit`,
  );
}
