/** Views of the business entities of a logical schema. */
import { enumerationsOf } from '../../engine/metadata/enumerations.ts';
import { dialectOf, type DialectName } from '../../engine/sql/dialects/every-dialect.ts';
import { entityViews, viewScript } from '../../engine/views/statements.ts';
import type { Adapters } from '../../ports/adapters.ts';
import { findLogicalSchema } from './logical-schema.ts';

/** CREATE VIEW statements in that dialect, in pieces; AppError `not_found` when the origin is absent, or has no logical schema yet. */
export async function logicalSchemaViews(
  { catalog }: Pick<Adapters, 'catalog'>,
  idOrg: number,
  idSch: number,
  { dialect, idLschma }: { readonly dialect: DialectName; readonly idLschma?: number },
): Promise<readonly string[]> {
  const { model } = await findLogicalSchema(catalog, idOrg, idSch, idLschma);
  const source = (await catalog.loadOrigin(idOrg, idSch))?.model ?? null;
  const valuesAt = source === null ? null : await enumerationsOf(model, source);
  return viewScript(
    await entityViews(model, {
      dialect: dialectOf(dialect),
      enumeration: (table, column) => valuesAt?.(table, column)?.values ?? null,
    }),
  );
}
