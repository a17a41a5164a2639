/** A logical schema as metadata for other tools. */
import { mapInSlices } from '../../engine/in-slices.ts';
import { describeModel } from '../../engine/metadata/described.ts';
import { formatSpecifications, type ExportFormat } from '../../engine/metadata/formats.ts';
import type { Adapters } from '../../ports/adapters.ts';
import { encodedPieces } from '../mappings/encoded-pieces.ts';
import { zip } from '../mappings/zip.ts';
import { keyedLogicalSchema } from './logical-schema.ts';
import { findOrigin } from './origin.ts';

export interface ExportedFile {
  /** `donuts.dbml`; may hold any character but a slash */
  readonly name: string;
  /** content in chunks */
  readonly content: readonly Uint8Array<ArrayBuffer>[];
}

/** AppError `not_found` when the origin is absent, or has no logical schema yet. */
export async function exportSchemaAs(
  { catalog, jobs }: Pick<Adapters, 'catalog' | 'jobs'>,
  idOrg: number,
  idSch: number,
  options: { readonly format: ExportFormat; readonly idLschma?: number },
): Promise<ExportedFile> {
  const { name, version } = await findOrigin(catalog, idOrg, idSch, options.idLschma);
  const { model } = await keyedLogicalSchema({ catalog, jobs }, idOrg, idSch, options.idLschma);
  const source = (await catalog.loadOrigin(idOrg, idSch))?.model ?? null;
  const specification = formatSpecifications[options.format];
  const described = await describeModel({ name, version }, model, source);
  return {
    name: `${name}${specification.ending}`,
    content:
      specification.kind === 'files'
        ? await zip(await specification.make(described))
        : await mapInSlices(encodedPieces(await specification.make(described)), (bytes) => bytes),
  };
}
