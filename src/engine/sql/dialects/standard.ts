/** What standard SQL has, and most databases with it: each dialect says only where it differs. */
import { commentOn, doubleQuoted, standardLiteral, type Dialect } from '../dialect.ts';

/** Without arrays, with keys that are checked and can be added later, without indexes of its own. */
export const standardDialect: Omit<Dialect, 'name' | 'identifierMaxBytes' | 'typeName'> = {
  maxColumns: null,
  refusedCharacters: null,
  capabilities: {
    arrays: false,
    nullArrays: false,
    arraysNotNull: false,
    createIfNotExists: true,
    foreignKeys: 'alter',
    deferrable: false,
    notEnforced: '',
    uniqueKeys: 'constraint',
    indexes: 'none',
    keyIndexes: 'none',
    keyTextMaxLength: null,
    boundedTextMaxBytes: null,
    inRow: null,
  },
  comments: commentOn(doubleQuoted, standardLiteral, null),
  quote: doubleQuoted,
  literal: standardLiteral,
  tableOptions: '',
  createSchema: (sqlSchema) => `CREATE SCHEMA IF NOT EXISTS ${doubleQuoted(sqlSchema)}`,
};
