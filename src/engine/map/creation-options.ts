/** The options that a stored model was made with, so that its next version has names and columns of the same kind. */
import type { RelationalModel } from '../model/relational-model.ts';
import type { AddedColumn } from './tables/finish-model.ts';
import { defaultNaming, type NamingOptions } from './names/identifiers.ts';

export function namingLike({ options = {}, nameMaxLength }: RelationalModel): NamingOptions {
  return {
    nameMode: options.nameMode ?? defaultNaming.nameMode,
    tablePrefix: options.tablePrefix ?? '',
    tableSuffix: options.tableSuffix ?? '',
    rename: new Map(options.rename ?? []),
    maxBytes: nameMaxLength,
  };
}

/**
 * Returns the columns that were added to the content of tables: in all tables (`-R`), or in those that documents start in. The first table
 * has them in both cases.
 */
export function extraColumnsOf({ tables }: RelationalModel): readonly AddedColumn[] {
  const extra = tables[0]?.columns.filter(({ role }) => role === 'extra') ?? [];
  return extra.map(({ name, type, nullable }) => ({
    name,
    type,
    ...(nullable ? { rootsOnly: true as const } : {}),
  }));
}
