/** Reads rows of a target that jobs of the organisation loaded: GET /v2/target/rows, POST /v2/target/query. */
import { fixedLimits } from '../../config/limits.ts';
import { tableIndexes } from '../../engine/model/packed/models.ts';
import { peekMember, peekElement } from '../../engine/model/packed/reader.ts';
import { AppError } from '../../errors.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type {
  PageSlice,
  ReadableTarget,
  RowAnswer,
  RowPage,
  TargetReader,
  TypesOfTables,
} from '../../ports/target-reader.ts';
import { maskSecrets } from '../jobs/mask-secrets.ts';
import { parseTarget } from '../jobs/request/target.ts';

type ReadAdapters = Pick<Adapters, 'catalog' | 'files' | 'jobs' | 'targetReader'>;

/**
 * Returns one page of a table. AppErrors: `not_found` for a target that no job of the organisation loaded, and for a table that the target
 * does not have; `unprocessable_input` for a kind of target that cannot be read here, and past a limit.
 */
export async function targetRows(
  adapters: ReadAdapters,
  idOrg: number,
  target: string,
  slice: PageSlice,
): Promise<RowPage> {
  const reader = requireReader(adapters);
  return reader.rows(idOrg, await readableTarget(adapters, idOrg, target, '#/query/target'), slice);
}

/** Runs one statement that only reads. AppErrors as of `targetRows`; `invalid_body` for a wrong statement. */
export async function queryTarget(
  adapters: ReadAdapters,
  idOrg: number,
  target: string,
  sql: string,
): Promise<RowAnswer> {
  const reader = requireReader(adapters);
  return reader.query(idOrg, await readableTarget(adapters, idOrg, target, '/target'), sql);
}

function requireReader({ targetReader }: ReadAdapters): TargetReader {
  if (targetReader !== null) return targetReader;
  throw new AppError(
    'runtime_unsupported',
    'this runtime cannot read rows of targets because it cannot start processes',
  );
}

const readable =
  'metadb:NAME, duckdb:FILE, sqlite:FILE, and folders of CSV, TSV, JSON Lines, Parquet, Delta or Iceberg';

async function readableTarget(
  adapters: ReadAdapters,
  idOrg: number,
  text: string,
  pointer: string,
): Promise<ReadableTarget> {
  const target = parseTarget(text);
  if ('fault' in target) {
    const detail = `the target ${target.fault}`;
    throw new AppError(pointer.startsWith('#') ? 'invalid_parameter' : 'invalid_body', detail, {
      errors: [{ pointer, detail }],
    });
  }
  const label = maskSecrets(text);
  switch (target.kind) {
    case 'metadb': {
      const { sqlSchema } = target;
      if (!(await ownsSchema(adapters, idOrg, sqlSchema))) throw noTarget(label);
      return { kind: 'metadb', label, sqlSchema };
    }
    case 'duckdb':
    case 'sqlite': {
      const file = await loadedPath(adapters, idOrg, label, `${target.kind}:`, target.file);
      return { kind: target.kind, label, file };
    }
    case 'folder': {
      const directory = await loadedPath(adapters, idOrg, label, '', target.path);
      return {
        kind: 'folder',
        label,
        directory,
        typesOf: (modelHashes, tables) => typesOfTables(adapters, idOrg, modelHashes, tables),
      };
    }
    default:
      throw new AppError(
        'unprocessable_input',
        `rows of ${label} cannot be read here: query that target with a program of its own. These can be read: ${readable}`,
      );
  }
}

/** A target of another organisation is answered as one that does not exist. */
function noTarget(label: string): AppError {
  return new AppError(
    'not_found',
    `no job on record of this organisation loaded ${label}: name the target exactly as in -o or parm_path_output of a job`,
  );
}

async function ownsSchema({ catalog }: ReadAdapters, idOrg: number, name: string): Promise<boolean> {
  try {
    return await catalog.ownsTargetSchema(idOrg, name);
  } catch (error) {
    if (error instanceof AppError && error.code === 'target_not_owned') return false;
    throw error;
  }
}

/** Returns the location of a file or folder that the organisation may read, and that a job of it loaded. */
async function loadedPath(
  { files, jobs }: ReadAdapters,
  idOrg: number,
  label: string,
  prefix: string,
  path: string,
): Promise<string> {
  const locationOf = async (name: string): Promise<string | null> => {
    try {
      return await files.resolve(idOrg, name, true);
    } catch (error) {
      const isAbsent =
        error instanceof AppError &&
        ['path_not_allowed', 'input_not_found', 'invalid_option'].includes(error.code);
      if (isAbsent) return null;
      throw error;
    }
  };
  const location = await locationOf(path);
  if (location === null) throw noTarget(label);
  // job records have paths relative to the organisation's own folder
  const own = await locationOf('.');
  const names = [label, `${prefix}${location}`];
  if (own === location) names.push(`${prefix}.`);
  else if (own !== null && location.startsWith(`${own}/`))
    names.push(`${prefix}${location.slice(own.length + 1)}`);
  if (!(await jobs.hasLoaded(idOrg, names))) throw noTarget(label);
  if (!files.local || !location.startsWith('/'))
    throw new AppError(
      'unprocessable_input',
      `rows of ${label} cannot be read because the files of this installation are in a shared store: only metadb:NAME can be read`,
    );
  return location;
}

/** Returns the types of the columns of tables, from the newest model that has the table. */
async function typesOfTables(
  { catalog }: ReadAdapters,
  idOrg: number,
  modelHashes: readonly string[],
  tables: readonly string[],
): Promise<TypesOfTables> {
  const found = await catalog.findLogicalSchemas(idOrg, modelHashes.slice(-maxModels));
  const types = new Map<string, TypesOfTables[string]>();
  for (const { idLschma } of found.toSorted((a, b) => b.idLschma - a.idLschma)) {
    const missing = tables.filter((name) => !types.has(name));
    if (missing.length === 0) break;
    const model = (await catalog.loadLogicalSchema(idOrg, { idLschma }))?.model;
    if (model === undefined) continue;
    const indexes = tableIndexes(model);
    for (const name of missing) {
      const at = indexes.get(name);
      if (at === undefined) continue;
      const columns = peekMember(peekElement(model.tables, at), 'columns');
      types.set(
        name,
        columns.map((column) => ({ name: column.name, type: column.type })),
      );
    }
  }
  return Object.fromEntries(types);
}

/** Models of one folder that are looked at: columns that only older ones have are texts. */
const maxModels = fixedLimits.pageSize;
