/** Commands for the results of conversions: maintenance of tables in folders, and schemas with their artefacts. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { LakeTarget } from '../../targets/files/lake/place.ts';
import { openSources } from '../../service/files/remote-location.ts';
import { createCredentialFinder } from '../session/tool-session.ts';
import { fileFault } from '../../storage/staging/durable-file.ts';
import { AppError } from '../../errors.ts';
import { parseTarget } from '../../service/jobs/request/target.ts';
import {
  UsageError,
  type Command,
  type Opened,
  number,
  organisation,
  time,
  type Answer,
  type Options,
} from './specification.ts';
import { knownOrigins, originNamed } from '../../service/catalog/named.ts';
import { dialectNames, type DialectName } from '../../engine/sql/dialects/every-dialect.ts';
import { didYouMean } from '../../engine/closest-word.ts';
import { exportFormats } from '../../engine/metadata/formats.ts';
import type { OriginRecord } from '../../ports/stores/catalog.ts';
import { textTable } from '../cli/terminal.ts';

// `tables compact`: maintains folders of Delta and Iceberg tables.

export const tableCommands: Readonly<Record<string, Command>> = {
  'tables compact': {
    words: ['TARGET'],
    options: ['credential'],
    meaning:
      'small files of Delta or Iceberg tables become large ones: of a folder, s3://BUCKET/PREFIX, az://CONTAINER/PREFIX or iceberg:https://…',
    async run(opened, [text = ''], { credential }) {
      // loaded when it is used
      const { compactLake } = await import('../../targets/files/lake/compaction.ts');
      const { lakeFormatOf } = await import('../../targets/files/lake/look.ts');
      const scratch = await mkdtemp(join(tmpdir(), 'tables-compact-'));
      try {
        const target = await tablesAt(opened, text, scratch, credential);
        if ((await lakeFormatOf(target)) === null)
          throw new AppError('not_found', `${text}: there are no Delta or Iceberg tables of jobs`);
        const changes = await compactLake(target);
        return {
          text: changes.length === 0 ? 'no table has two small files' : changes.join('\n'),
          json: changes,
        };
      } catch (error) {
        throw fileFault(error, text);
      } finally {
        await rm(scratch, { recursive: true, force: true });
      }
    },
  },
};

async function tablesAt(
  { config, adapters }: Opened,
  text: string,
  scratch: string,
  credential: string | undefined,
): Promise<LakeTarget> {
  const target = parseTarget(text);
  if ('fault' in target) throw new UsageError(`the target ${target.fault}`);
  const { diskLake } = await import('../../targets/files/lake/place.ts');
  if (target.kind === 'folder') return diskLake({ directory: resolve(target.path) });
  const person = { home: { config }, byHand: true, idOrg: 1, interrupted: new AbortController().signal };
  if (target.kind === 'iceberg') {
    const { openCatalogue } = await import('../targets/catalogue.ts');
    const sources = openSources(config.sources ?? [], null);
    const find = createCredentialFinder(adapters, sources, person.idOrg, credential, () => undefined);
    const asker = { ...person, request: { inputs: [] }, credential: find };
    return openCatalogue(asker, target, 'write', scratch);
  }
  if (target.kind !== 'bucket')
    throw new UsageError(
      'tables compact takes a folder, s3://BUCKET/PREFIX, az://CONTAINER/PREFIX or iceberg:https://…',
    );
  const { openBucketFolder } = await import('../targets/buckets.ts');
  const { bucketLake } = await import('../../targets/files/lake/bucket.ts');
  const folder = await openBucketFolder(person, target, 'write');
  return bucketLake({ ...folder, label: target.location, scratch });
}

// `schemas`, `schema`, `ddl`, `views`, `dictionary` and `diagram`: shows schemas and what is generated from them.

export const schemaCommands: Readonly<Record<string, Command>> = {
  schemas: {
    words: [],
    options: ['org'],
    meaning: 'schemas, the newest first',
    async run({ adapters }, _, options) {
      const origins = await adapters.catalog.listOrigins(organisation(options));
      const head = [
        'SCHEMA',
        'NAME',
        'VERSION',
        'FROM',
        'LOGICAL',
        'TABLES',
        'CREATED',
        'DOCUMENTS START WITH',
      ];
      const rows = origins.map((origin) => [
        String(origin.id_sch),
        origin.name,
        String(origin.version),
        origin.source_type,
        String(origin.id_lschma ?? ''),
        String(origin.table_count),
        time(origin.created),
        origin.root_elements.join(' '),
      ]);
      return { text: textTable(head, rows), json: origins };
    },
  },
  schema: {
    words: ['NAME|ID'],
    options: ['org', 'logical', 'as', 'out'],
    meaning: `one schema and its tables; --as ${exportFormats.join('|')}: as metadata for other tools`,
    async run(opened, [which = ''], options) {
      const idOrg = organisation(options);
      if (options.as !== undefined) return exported(opened, which, options, options.as);
      if (options.out !== undefined) throw new UsageError('schema writes to -o what --as FORMAT makes');
      const origin = await findSchema(opened, idOrg, which, logicalOf(options.logical));
      const tables =
        origin.id_lschma === null ? [] : await opened.adapters.catalog.listTables(idOrg, origin.id_lschma);
      const facts = [
        ['schema', `${origin.id_sch} (${origin.name}, version ${origin.version})`],
        ['logical schema', String(origin.id_lschma ?? 'none')],
        ['namespace', origin.target_namespace ?? ''],
        ['documents start with', origin.root_elements.join(' ')],
        ['made of', origin.files.map(({ name }) => name).join(' ') || origin.source_type],
      ];
      const rows = tables.map((table) => [
        table.name,
        String(table.columns.length),
        table.parent_table ?? '',
        table.xpath,
      ]);
      return {
        text: `${textTable(null, facts)}\n\n${textTable(['TABLE', 'COLUMNS', 'BELOW', 'PATH'], rows)}`,
        json: { ...origin, tables },
      };
    },
  },
  ddl: {
    words: ['NAME|ID'],
    options: ['org', 'logical', 'dialect', 'codes'],
    meaning: `the statements that make the tables; --dialect ${dialectNames.join(', ')}; --codes table|check: with enumerated values`,
    async run(opened, [which = ''], options) {
      const dialect = dialectOf(options);
      const { idOrg, idSch, idLschma } = await namedSchema(opened, which, options);
      const { logicalSchemaDdl } = await import('../../service/catalog/logical-schema.ts');
      const pieces = await logicalSchemaDdl(opened.adapters, idOrg, idSch, {
        dialect,
        codes: codesOf(options),
        ...(idLschma === undefined ? {} : { idLschma }),
      });
      const ddl = pieces.join('');
      return { text: ddl.trimEnd(), json: { id_sch: idSch, dialect, ddl } };
    },
  },
  views: {
    words: ['NAME|ID'],
    options: ['org', 'logical', 'dialect'],
    meaning: 'the statements that make views of its business entities; --dialect as for ddl',
    async run(opened, [which = ''], options) {
      const dialect = dialectOf(options);
      const { idOrg, idSch, idLschma } = await namedSchema(opened, which, options);
      const { logicalSchemaViews } = await import('../../service/catalog/dictionary.ts');
      const pieces = await logicalSchemaViews(opened.adapters, idOrg, idSch, { dialect, idLschma });
      const views = pieces.join('');
      return { text: views.trimEnd(), json: { id_sch: idSch, dialect, views } };
    },
  },
  dictionary: {
    words: ['NAME|ID'],
    options: ['org', 'logical', 'out'],
    meaning:
      'every column with its meaning, type, codes and what documents held: to -o FILE.xlsx or FILE.md, else as Markdown',
    async run(opened, [which = ''], options) {
      const format = options.out?.toLowerCase().endsWith('.xlsx') === true ? 'xlsx' : 'md';
      const { idOrg, idSch, idLschma } = await namedSchema(opened, which, options);
      const { dictionaryFile } = await import('../../service/catalog/dictionary.ts');
      const { content } = await dictionaryFile(opened.adapters, idOrg, idSch, { format, idLschma });
      const bytes = Buffer.concat(content);
      if (options.out === undefined) {
        const dictionary = bytes.toString();
        return { text: dictionary.trimEnd(), json: { id_sch: idSch, dictionary } };
      }
      const file = await written(options.out, bytes);
      return { text: `${file} is the dictionary of schema ${idSch}`, json: { id_sch: idSch, file } };
    },
  },
  diagram: {
    words: ['NAME|ID'],
    options: ['org', 'logical', 'out'],
    meaning: 'the drawing of its tables, as SVG: to -o FILE.svg, else as text',
    async run(opened, [which = ''], options) {
      const { idOrg, idSch, idLschma } = await namedSchema(opened, which, options);
      const { diagramDrawing } = await import('../../service/catalog/diagram.ts');
      const svg = (await diagramDrawing(opened.adapters.catalog, idOrg, idSch, idLschma)).join('');
      if (options.out === undefined) return { text: svg.trimEnd(), json: { id_sch: idSch, svg } };
      const file = await written(options.out, svg);
      return { text: `${file} is the diagram of schema ${idSch}`, json: { id_sch: idSch, file } };
    },
  },
};

/** The schema that the first word names, and the logical one that `--logical` does. */
async function namedSchema(
  opened: Opened,
  which: string,
  options: Options,
): Promise<{ readonly idOrg: number; readonly idSch: number; readonly idLschma: number | undefined }> {
  const idOrg = organisation(options);
  const idLschma = logicalOf(options.logical);
  const { id_sch: idSch } = await findSchema(opened, idOrg, which, idLschma);
  return { idOrg, idSch, idLschma };
}

/** `schema NAME --as FORMAT` */
async function exported(opened: Opened, which: string, options: Options, wanted: string): Promise<Answer> {
  const format = exportFormats.find((name) => name === wanted);
  if (format === undefined)
    throw new UsageError(
      `--as must be one of ${exportFormats.join(', ')}${didYouMean(wanted, exportFormats)}`,
    );
  if (format === 'dbt' && options.out === undefined)
    throw new UsageError('--as dbt makes an archive, which needs a place: -o FILE.zip');
  const { idOrg, idSch, idLschma } = await namedSchema(opened, which, options);
  const { exportSchemaAs } = await import('../../service/catalog/dictionary.ts');
  const { content } = await exportSchemaAs(opened.adapters, idOrg, idSch, { format, idLschma });
  if (options.out === undefined) {
    const text = Buffer.concat(content).toString();
    return { text: text.trimEnd(), json: { id_sch: idSch, format, content: text } };
  }
  const file = await written(options.out, Buffer.concat(content));
  return { text: `${file} is schema ${idSch} as ${format}`, json: { id_sch: idSch, format, file } };
}

/** The whole path of the file. */
async function written(out: string, content: string | Uint8Array): Promise<string> {
  const file = resolve(out);
  await writeFile(file, content).catch((error: unknown) => {
    throw fileFault(error, file);
  });
  return file;
}

/** AppError `not_found` lists the existing schemas. */
async function findSchema(
  { adapters: { catalog } }: Opened,
  idOrg: number,
  which: string,
  idLschma: number | undefined,
): Promise<OriginRecord> {
  const id = /^\d{1,15}$/.test(which)
    ? Number(which)
    : (await originNamed(catalog, idOrg, which)).origin.id_sch;
  const origin = await catalog.findOrigin(idOrg, id, idLschma);
  if (origin !== null) return origin;
  if (idLschma !== undefined && (await catalog.findOrigin(idOrg, id)) !== null) {
    const ids = (await catalog.listLogicalSchemas(idOrg, id)).map((logical) => logical.idLschma).join(', ');
    throw new AppError(
      'not_found',
      `schema ${id} has no logical schema ${idLschma}; it has ${ids || 'none'}`,
    );
  }
  throw new AppError('not_found', `there is no schema ${which}${await knownOrigins(catalog, idOrg)}`);
}

function dialectOf({ dialect: wanted = 'postgresql' }: Options): DialectName {
  const dialect = dialectNames.find((name) => name === wanted);
  if (dialect !== undefined) return dialect;
  throw new UsageError(
    `--dialect must be one of ${dialectNames.join(', ')}${didYouMean(wanted, dialectNames)}`,
  );
}

function codesOf({ codes: wanted = 'none' }: Options): 'none' | 'table' | 'check' {
  if (wanted === 'none' || wanted === 'table' || wanted === 'check') return wanted;
  throw new UsageError('--codes must be one of none, table, check');
}

function logicalOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : number('--logical', text, 1);
}
