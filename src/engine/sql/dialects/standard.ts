/** The features of standard SQL, which most databases share. Each dialect states only its differences. */
import { commentOn, doubleQuoted, standardLiteral, type Dialect, type JoinedText } from '../dialect.ts';

/** Has no arrays. Keys are enforced and can be added later. Keys have no indexes of their own. */
export const standardDialect: Omit<Dialect, 'name' | 'title' | 'identifierMaxBytes' | 'typeName'> = {
  maxColumns: null,
  refusedCharacters: null,
  capabilities: {
    arrays: false,
    nullArrays: false,
    arraysNotNull: false,
    createIfNotExists: true,
    primaryKeys: true,
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
  nullMark: ({ nullable }) => (nullable ? '' : ' NOT NULL'),
  tableOptions: () => '',
  reservedColumns: [],
  rowsPerInsert: 200,
  viewComments: 'VIEW',
  localTime: (instant, minutes) => `(${instant} AT TIME ZONE 'UTC') + ${minutes} * INTERVAL '1 minute'`,
  joinedText: ({ text, order, length }) =>
    // a text without a length may be a large object, which LISTAGG does not support
    length === null ? null : listAggregate(standardLiteral)({ text, order }),
  createSchema: (sqlSchema) => `CREATE SCHEMA IF NOT EXISTS ${doubleQuoted(sqlSchema)}`,
};

/** LISTAGG, a line for each text. */
export function listAggregate(
  literal: Dialect['literal'],
): (joined: Pick<JoinedText, 'text' | 'order'>) => string {
  return ({ text, order }) => `LISTAGG(${text}, ${literal('\n')}) WITHIN GROUP (ORDER BY ${order})`;
}
