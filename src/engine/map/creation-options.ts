/** The options that a stored model was made with, so that its next version has names and columns of the same kind. */
import type { ColumnType, RelationalModel } from '../model/relational-model.ts';
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

/** Columns that every table has beside its content (`-R`). */
export function extraColumnsOf({
  tables,
}: RelationalModel): readonly { readonly name: string; readonly type: ColumnType }[] {
  const extra = tables[0]?.columns.filter(({ role }) => role === 'extra') ?? [];
  return extra.map(({ name, type }) => ({ name, type }));
}
