/** `load.sql`: makes the tables of a folder and fills them, with PostgreSQL's psql run inside the folder. */
import { ddlParts } from '../../engine/dialects/ddl.ts';
import { standardLiteral } from '../../engine/dialects/dialect.ts';
import { physicalName } from '../../engine/dialects/physical-names.ts';
import { postgresql } from '../../engine/dialects/postgresql.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import { sideTableNames } from '../../engine/model/side-tables.ts';
import type { Manifest, ManifestTable } from './folder-row-sink-manifest.ts';

export function renderLoadScript(model: RelationalModel, manifest: Manifest): string {
  const adapted = adaptedModel(model, manifest);
  const { before, after } = ddlParts(adapted, postgresql, { ifNotExists: true, foreignKeysLast: true });
  const own = new Set([...model.tables.map((table) => table.name), ...Object.values(sideTableNames)]);
  const foreign = manifest.tables.filter((table) => !own.has(table.name));
  const parts = [
    '-- Makes the tables of this folder and fills them: psql -f load.sql DATABASE, run inside the folder.',
    ...foreign.map((table) => `-- Not of this schema, so not loaded: ${table.name.replaceAll(/\s+/g, ' ')}`),
    '\\set ON_ERROR_STOP on\nBEGIN;',
    ...before,
    manifest.tables
      .filter((table) => own.has(table.name))
      .flatMap((table) => copyCommands(table, manifest.format))
      .join('\n'),
    ledger(manifest),
    ...after,
    'COMMIT;',
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** With the types and NOT NULLs that the rows of the folder allow. */
function adaptedModel(model: RelationalModel, manifest: Manifest): RelationalModel {
  const byName = new Map(manifest.tables.map((table) => [table.name, table]));
  return {
    ...model,
    tables: model.tables.map((table) => {
      const known = byName.get(table.name);
      if (known === undefined) return table;
      return {
        ...table,
        // natural keys are wanted, not demanded
        uniqueKeys: [],
        columns: table.columns.map((column) => ({
          ...column,
          type: known.text_columns.includes(column.name) ? { kind: 'text' as const } : column.type,
          nullable: column.nullable || known.nullable_columns.includes(column.name),
        })),
      };
    }),
  };
}

/** One line each, as psql wants them. */
function copyCommands(table: ManifestTable, format: 'csv' | 'tsv'): string[] {
  const options = `FORMAT ${format === 'csv' ? 'csv' : 'text'}, HEADER true, ENCODING 'UTF8'`;
  return table.files
    .filter((file) => file.rows > 0)
    .map((file) => {
      const columns = file.columns.map((name) => postgresql.quote(physicalName(postgresql, name))).join(', ');
      const name = postgresql.quote(physicalName(postgresql, table.name));
      return `\\copy ${name} (${columns}) FROM ${standardLiteral(file.name)} WITH (${options})`;
    });
}

function ledger(manifest: Manifest): string {
  const jobs = manifest.jobs.map(
    (job) =>
      `(${job.job}, ${standardLiteral(job.installation)}, ${job.id_sch ?? 'NULL'}, ${job.id_lschma ?? 'NULL'}, ${standardLiteral(job.published_at)}, ${job.documents}, ${job.rows})`,
  );
  const keys = Object.entries(manifest.keys).map(
    ([table, key]) => `(${standardLiteral(physicalName(postgresql, table))}, ${key})`,
  );
  return [
    jobs.length === 0
      ? ''
      : `INSERT INTO ${postgresql.quote(sideTableNames.loads)} VALUES\n  ${jobs.join(',\n  ')};`,
    keys.length === 0
      ? ''
      : `INSERT INTO ${postgresql.quote(sideTableNames.keys)} VALUES\n  ${keys.join(',\n  ')};`,
  ]
    .filter((statement) => statement !== '')
    .join('\n');
}
