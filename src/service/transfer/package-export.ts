/** Writes everything that belongs to an origin's family into a folder, from one state of the database. */
import { AppError } from '../../errors.ts';
import type {
  OriginFileContent,
  FamilyMember,
  TransferState,
  TransferStore,
} from '../../ports/stores/catalog.ts';
import type { PackageFolder } from '../../ports/files.ts';
import {
  partNames,
  writeManifest,
  type PartEntry,
  type PartName,
  type FileLine,
  type PartLines,
} from './package-format.ts';
import { toBase64 } from './model-shapes.ts';

export interface ExportedPackage {
  readonly parts: readonly PartEntry[];
  /** ids of all versions that went along, oldest first */
  readonly origins: readonly number[];
}

/** AppError `not_found`: the organisation has no such origin. */
export async function exportPackage(
  store: TransferStore,
  folder: PackageFolder,
  what: { readonly idOrg: number; readonly idSch: number; readonly nowMs: number },
): Promise<ExportedPackage> {
  return store.read(async (state) => {
    const family = await state.listFamily(what.idOrg, what.idSch);
    if (family.length === 0) throw new AppError('not_found', `there is no schema ${what.idSch}`);
    const lines = linesOf(state, what.idOrg, family);
    const parts: PartEntry[] = [];
    for (const name of partNames) parts.push({ name, ...(await folder.write(name, asJson(lines[name]()))) });
    await writeManifest(folder, {
      created: what.nowMs,
      installation: await state.catalog.installation(),
      origin_id: String(what.idSch),
      parts,
    });
    return { parts, origins: family.map(({ idSch }) => idSch) };
  });
}

async function* asJson(values: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const value of values) yield JSON.stringify(value);
}

function contentOf({ content, entry }: OriginFileContent): Pick<FileLine, 'content' | 'entry'> {
  return { content: toBase64(content), ...(entry === null ? {} : { entry }) };
}

type LineSources = { readonly [Part in PartName]: () => AsyncGenerator<PartLines[Part]> };

/** Each part is read when it is written, one origin or logical schema after the other. */
function linesOf(state: TransferState, idOrg: number, family: readonly FamilyMember[]): LineSources {
  const { catalog } = state;
  const load = async (idSch: number) => {
    const origin = await catalog.loadOrigin(idOrg, idSch);
    if (origin === null) throw new Error(`origin ${idSch} cannot be read`);
    return origin;
  };

  async function* logicalSchemas() {
    for (const { idSch } of family) {
      for (const { idLschma, created } of await state.listLogicalSchemas(idSch))
        yield { idSch, idLschma, created };
    }
  }

  return {
    async *'origins.ndjson'() {
      for (const { idSch, idParentSch, name, version, created } of family) {
        const { record } = await load(idSch);
        yield { origin: idSch, parent: idParentSch, name, version, source_type: record.source_type, created };
      }
    },
    async *'source_models.ndjson'() {
      for (const { idSch } of family) yield { origin: idSch, model: (await load(idSch)).model };
    },
    async *'files.ndjson'() {
      for (const { idSch } of family) {
        const { record } = await load(idSch);
        // files in the same order, without documents
        const kept = [...(await catalog.loadOriginFiles(idOrg, idSch))];
        for (const [position, file] of record.files.entries()) {
          const found = kept[0]?.name === file.name ? kept.shift()! : null;
          yield { origin: idSch, position, ...file, ...(found === null ? {} : contentOf(found)) };
        }
      }
    },
    async *'statistics.ndjson'() {
      for (const { idSch } of family) {
        const { statistics } = await load(idSch);
        if (statistics !== null) yield { origin: idSch, statistics };
      }
    },
    async *'job_statistics.ndjson'() {
      for (const { idSch } of family) {
        for (const { statistics, created } of await state.listJobStatistics(idSch))
          yield { origin: idSch, created, statistics };
      }
    },
    async *'natural_keys.ndjson'() {
      for (const key of await catalog.listNaturalKeys(idOrg, family[0]!.idSch))
        yield { table: key.tableName, column: key.columnName, position: key.position };
    },
    async *'logical_schemas.ndjson'() {
      for await (const { idSch, idLschma, created } of logicalSchemas()) {
        const stored = await catalog.loadLogicalSchema(idOrg, { idLschma });
        if (stored === null) throw new Error(`logical schema ${idLschma} cannot be read`);
        const { modelHash, model, variant } = stored;
        yield {
          logical_schema: idLschma,
          origin: idSch,
          created,
          model_hash: modelHash,
          model,
          ...(variant ? { variant } : {}),
        };
      }
    },
    async *'mappings.ndjson'() {
      for await (const { idLschma } of logicalSchemas()) {
        const mappings = await catalog.listMappings(idOrg, idLschma);
        for (const [line, { xpath, table_name, column_name, active }] of mappings.entries())
          yield { logical_schema: idLschma, line, xpath, table: table_name, column: column_name, active };
      }
    },
    async *'diagrams.ndjson'() {
      for await (const { idLschma } of logicalSchemas()) {
        const svg = await catalog.loadDiagram(idOrg, idLschma);
        const saved = await state.diagramSaved(idLschma);
        if (svg !== null && saved !== null) yield { logical_schema: idLschma, saved, svg };
      }
    },
  };
}
