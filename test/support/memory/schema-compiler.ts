/** Compiles in this process, from files in memory. */
import { nextModel } from '../../../src/service/catalog/logical-schema.ts';
import { formatDiagnostic, InputError } from '../../../src/engine/diagnostics.ts';
import { inferSourceModel } from '../../../src/engine/infer/source-model.ts';
import { buildRelationalModel } from '../../../src/engine/map/build-model.ts';
import { defaultNaming } from '../../../src/engine/map/names/identifiers.ts';
import { compileXsdSet } from '../../../src/engine/xsd/compile-set.ts';
import { AppError } from '../../../src/errors.ts';
import type { SchemaCompiler } from '../../../src/ports/processes.ts';
import type { MemoryFileStore } from './files.ts';
import { statisticsOf } from '../models/shredding.ts';

export function createMemorySchemaCompiler(files: MemoryFileStore): SchemaCompiler {
  const read = (location: string) => {
    const path = location.replace(/^\/memory\//, '');
    return { name: path.split('/').at(-1)!, bytes: files.stored.get(path)! };
  };
  return {
    generate: async (sources) => nextModel(sources),
    async compile({
      xsd,
      xml,
      mapLevel,
      nameMaxLength,
      defaultTextLength,
      root,
      previous,
      keepNames = true,
    }) {
      try {
        const set = xsd.map(read);
        const documents = xml.map(read);
        const statistics = documents.length === 0 ? null : statisticsOf(documents.map(({ bytes }) => bytes));
        const source = set.length === 0 ? inferSourceModel(statistics!) : compileXsdSet(set).model;
        const model = buildRelationalModel(source, {
          mapLevel,
          naming: { ...defaultNaming, maxBytes: nameMaxLength ?? defaultNaming.maxBytes },
          ...(defaultTextLength === undefined ? {} : { defaultTextLength }),
          ...(root === undefined ? {} : { roots: [{ namespaceUri: '', localName: root }] }),
          ...(previous === undefined ? {} : { previous, keepNames }),
        });
        const records = [...set, ...documents].map(({ name, bytes }) => ({
          name,
          bytes: bytes.length,
          sha256: 'ab',
        }));
        return { source, model, statistics, files: records, fingerprint: null, diagnostics: [] };
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        const detail = formatDiagnostic(error.diagnostic);
        throw new AppError('unprocessable_input', detail, { errors: [{ pointer: '/xsd', detail }] });
      }
    },
  };
}
