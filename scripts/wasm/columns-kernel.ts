/** What src/engine/parquet/kernel/columns.as knows of its memory: made of the constants that TypeScript works with. */
import * as layout from '../../src/engine/parquet/kernel/layout.ts';
import * as characters from '../../src/engine/xml/characters.ts';
import { pick, type Prelude } from './prelude.ts';

export const columnsPrelude: Prelude = {
  controlAt: layout.CONTROL_AT,
  slots: {
    ...pick(
      layout,
      'FIRST',
      'STRIDE',
      'ROWS',
      'VALUES',
      'LEVELS',
      'PLAIN_TEXT',
      'DICTIONARY',
      'SCALE',
      'LEFT',
      'COUNT',
      'VALUES_END',
      'LEFT_COUNT',
      'MISFIT',
      'LEAST_AT',
      'LEAST_LENGTH',
      'GREATEST_AT',
      'GREATEST_LENGTH',
      'FREE',
      'LEAST',
      'GREATEST',
    ),
  },
  fields: pick(
    layout,
    'DICTIONARY_TABLE',
    'DICTIONARY_MASK',
    'DICTIONARY_COUNT',
    'DICTIONARY_VALUES',
    'DICTIONARY_USED',
    'DICTIONARY_CAPACITY',
    'DICTIONARY_TEXTS',
    'DICTIONARY_LIMIT',
    'DICTIONARY_BYTES_LIMIT',
    'DICTIONARY_PAGE',
    'DICTIONARY_PAGES',
    'DICTIONARY_NEAR',
    'TEXT_PREFIX',
    'TEXT_LENGTH',
    'TEXT_START',
  ),
  offsets: {
    ...pick(layout, 'POWERS_AT', 'LAST_BYTES_AT', 'WITHOUT_POINT_AT'),
    MARGIN_BYTES: layout.MARGIN_BYTES,
    DICTIONARY_BYTES: layout.DICTIONARY_INTS * 4,
    TEXT_BYTES: layout.TEXT_INTS * 4,
  },
  integers: {
    ...pick(layout, 'READ_INT32', 'READ_INT64', 'READ_INT128', 'READ_DATE', 'READ_TIME', 'READ_TIMESTAMP'),
    /** a backslash, and an N */
    NULL_TEXT: 0x4e5c,
  },
  characters: {
    ...pick(characters, 'TAB', 'LF', 'CR', 'SPACE', 'COLON'),
    PLUS: 43,
    MINUS: 45,
    POINT: 46,
    ZERO: 48,
    BACKSLASH: 92,
  },
};
