/** Converts the model's logical names to the physical names of one database. */
import { byteLength, stableHash, truncateToBytes } from '../map/names/identifiers.ts';
import { lazyArray } from '../model/packed/lazy-array.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import type { Dialect } from './dialect.ts';

export interface PhysicalTableNames {
  readonly name: string;
  readonly columns: readonly string[];
}

/**
 * Returns a name unchanged if the dialect supports it. Otherwise, replaces refused characters by underscores, truncates a long name, and
 * appends a hash of the whole name, so that different names remain different.
 */
export function physicalName(
  dialect: Pick<Dialect, 'identifierMaxBytes' | 'refusedCharacters'>,
  name: string,
): string {
  const refused = dialect.refusedCharacters;
  const isClean = refused === null || !refused.test(name);
  const clean = isClean ? name : name.replaceAll(new RegExp(refused.source, 'gu'), '_');
  if (clean === name && byteLength(name) <= dialect.identifierMaxBytes) return name;
  return `${truncateToBytes(clean, dialect.identifierMaxBytes - 9)}_${stableHash(name)}`;
}

/** Returns the name of another object of a model, beside its tables and columns. It is no longer than the model's own names. */
export function modelName({ nameMaxLength }: Pick<RelationalModel, 'nameMaxLength'>, name: string): string {
  return physicalName({ identifierMaxBytes: nameMaxLength, refusedCharacters: null }, name);
}

/** Names of all tables and columns in that dialect, in the model's order; of a large model, when they are looked at. */
export function physicalNames(model: RelationalModel, dialect: Dialect): PhysicalTableNames[] {
  return lazyArray(model.tables.length, (index) => {
    const table = model.tables[index]!;
    let columns: readonly string[] | null = null;
    return {
      name: physicalName(dialect, table.name),
      get columns() {
        return (columns ??= table.columns.map((column) => physicalName(dialect, column.name)));
      },
    };
  });
}
