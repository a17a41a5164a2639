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

/** Columns that tables have beside their content: all of them (`-R`), or those that documents start in, of which the first table is one. */
export function extraColumnsOf({ tables }: RelationalModel): readonly AddedColumn[] {
  const extra = tables[0]?.columns.filter(({ role }) => role === 'extra') ?? [];
  return extra.map(({ name, type, nullable }) => ({
    name,
    type,
    ...(nullable ? { rootsOnly: true as const } : {}),
  }));
}
