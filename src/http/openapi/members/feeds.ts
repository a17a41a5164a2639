/** Texts for the members of the integration-catalogue view. */
import type { MemberTexts } from './texts.ts';

const runMembers = {
  job_type: 'What the job did.',
  start_date: 'When it began, epoch milliseconds; null before.',
  end_date: 'When it ended, epoch milliseconds; null before.',
  documents: 'Documents that were loaded.',
  rows: 'Rows that were loaded, of all tables.',
  rejected: 'Documents that were refused.',
  unmapped: 'Values and subtrees that had no place in the map.',
};

export const feedMembers: MemberTexts = {
  CILJob: runMembers,
  CILJobDetailsDto: {
    ...runMembers,
    tables: 'Rows of each table.',
    unmapped_xpaths: 'What had no place in the map, the most frequent first.',
    ignored: 'Values that were left out because their mappings are inactive.',
    rejects: 'The documents that were refused.',
    broken_keys: 'Natural keys that the target does not have, as values broke them.',
    versions: 'The versions of the schema family, the oldest first.',
  },
  CILMapping: {
    mapping: 'Name of the mapping: that of its table.',
    group: 'Group of the mapping: its feed.',
    source_xpath: 'The element whose occurrences are the rows.',
    target_table: 'Name of the table.',
    column_count: 'Columns of the table, keys among them.',
    rows: 'What completed runs loaded into it, less what was overwritten or unloaded since.',
  },
  CILSequence: {
    sequence: 'Name of the sequence.',
    target_table: 'The table whose row keys it numbers.',
    target_column: 'The row key.',
    load_order: 'Place of the table in the order of loading, from 1; parents come before children.',
    last_value: 'The highest number that was given out; where that is not known, how many rows were loaded.',
    increment: 'Distance of two numbers.',
  },
  UpdateKeysRequest: { keys: 'The columns, all or none of which are changed.' },
  CILKeyUpdate: {
    key_type: '`NK` makes the column a part of the natural key of its table, null ends that.',
    position: 'Place of the column in the key, from 1; without it, behind those there are.',
  },
  CILTableRows: { rows: 'Rows of the table.' },
  CILUnmappedXpath: { xpath: 'Path of an element or attribute.', count: 'How often it was met.' },
  CILReject: {
    document: 'Name of the document; null where the fault was found before one had begun.',
    line: 'Line of the fault, from 1; null where it has none.',
    column: 'Column of the fault, from 1; null where it has none.',
    code: 'Why, for programs, such as `unknown_root`; null where there is no name for it.',
    message: 'Why, in words.',
  },
  CILBrokenKey: { columns: 'The columns of the natural key.' },
  CILVersion: { version: '1 for the first of the family.' },
  CILKey: {
    id_col: 'The column.',
    key_type: 'PK: a row key, FK: the key of another row, NK: part of a natural key.',
    references: 'The table that an FK leads to; else null.',
    position: 'Place of the column in the key, from 1.',
  },
  CILLineage: {
    mapping: 'Name of the mapping: that of its table.',
    source_xpath: 'Where the values come from; null where the loader makes them.',
    source_type: 'Their type in the schema, such as `xs:date`; null where there is none.',
    target_table: 'Name of the table.',
    target_column: 'Name of the column.',
    target_type: 'Type of the column, as PostgreSQL names it.',
    transformation: 'What becomes of a value on its way.',
    pid: 'The latest completed run that loaded the table by this map; null where none did.',
  },
};
