/** Names that options may not give to tables and columns, because a target could not distinguish them from its own. */
import { isReservedColumn } from '../../engine/model/reserved-columns.ts';
import { fileKeyName, hasOwnPrefix, ownPrefix } from '../../engine/model/side-tables.ts';

/** Returns the fault of a name of a table or column, or null if there is none. */
export function reservedName(name: string): string | null {
  if (hasOwnPrefix(name)) return `${name}: ${reservedPrefix}`;
  if (isReservedColumn(name))
    return `${name} is reserved: databases and table formats have columns of that name of their own; choose another`;
  return name.toLowerCase() === fileKeyName
    ? `${name} is reserved: in every table it is the key of the document`
    : null;
}

/** Returns the fault of a prefix for all names of tables, or null if there is none. */
export function reservedStart(prefix: string): string | null {
  return prefix.toLowerCase().startsWith(ownPrefix) ? reservedPrefix : null;
}

const reservedPrefix = `names that begin with ${ownPrefix} are reserved for what a load makes for a while; choose another`;
