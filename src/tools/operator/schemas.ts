/** `schemas`, `schema`, `ddl` and `diagram`: what is known of conversions. */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { knownOrigins, originNamed } from '../../catalog/schemas/named.ts';
import { fileFault } from '../../adapters/file-staging/faults.ts';
import { dialectNames } from '../../engine/sql/dialects/every-dialect.ts';
import { didYouMean } from '../../engine/closest-word.ts';
import { AppError } from '../../errors.ts';
import type { OriginRecord } from '../../ports/stores/catalog.ts';
import { textTable } from '../cli/text-table.ts';
import { number, organisation, time, UsageError, type Command, type Opened } from './specification.ts';

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
    options: ['org', 'logical'],
    meaning: 'one schema and its tables',
    async run(opened, [which = ''], options) {
      const idOrg = organisation(options);
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
    options: ['org', 'logical', 'dialect'],
    meaning: `the statements that make the tables; --dialect ${dialectNames.join('|')}`,
    async run(opened, [which = ''], options) {
      const { dialect: wanted = 'postgresql' } = options;
      const dialect = dialectNames.find((name) => name === wanted);
      if (dialect === undefined)
        throw new UsageError(
          `--dialect must be one of ${dialectNames.join(', ')}${didYouMean(wanted, dialectNames)}`,
        );
      const idOrg = organisation(options);
      const idLschma = logicalOf(options.logical);
      const { id_sch: idSch } = await findSchema(opened, idOrg, which, idLschma);
      const { logicalSchemaDdl } = await import('../../catalog/schemas/logical-schema.ts');
      const pieces = await logicalSchemaDdl(opened.adapters, idOrg, idSch, {
        dialect,
        ...(idLschma === undefined ? {} : { idLschma }),
      });
      const ddl = pieces.join('');
      return { text: ddl.trimEnd(), json: { id_sch: idSch, dialect, ddl } };
    },
  },
  diagram: {
    words: ['NAME|ID'],
    options: ['org', 'logical', 'out'],
    meaning: 'the drawing of its tables, as SVG: to -o FILE.svg, else as text',
    async run(opened, [which = ''], options) {
      const idOrg = organisation(options);
      const idLschma = logicalOf(options.logical);
      const { id_sch: idSch } = await findSchema(opened, idOrg, which, idLschma);
      const { diagramDrawing } = await import('../../catalog/diagrams/stored-drawing.ts');
      const svg = (await diagramDrawing(opened.adapters.catalog, idOrg, idSch, idLschma)).join('');
      if (options.out === undefined) return { text: svg.trimEnd(), json: { id_sch: idSch, svg } };
      const file = resolve(options.out);
      await writeFile(file, svg).catch((error: unknown) => {
        throw fileFault(error, file);
      });
      return { text: `${file} is the diagram of schema ${idSch}`, json: { id_sch: idSch, file } };
    },
  },
};

/** AppError `not_found` lists what there is. */
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

function logicalOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : number('--logical', text, 1);
}
