/** What src/engine/records/kernel/records.as knows of its memory: made of the constants that TypeScript works with. */
import * as layout from '../../src/engine/records/kernel/layout.ts';
import * as characters from '../../src/engine/xml/characters.ts';
import { pick, type Prelude } from './prelude.ts';

export const recordsPrelude: Prelude = {
  controlAt: layout.CONTROL_AT,
  slots: {
    ...pick(layout, 'BYTES', 'END', 'NEXT', 'ROW', 'ROW_LIMIT', 'STRIDE', 'IS_SPARSE', 'FIELD_COUNT'),
    ...pick(layout, 'DELIMITER', 'IS_QUOTED', 'HAS_HEADER', 'RECORDS', 'IS_CHANGED', 'YES'),
    ...pick(
      layout,
      'SURVEY_CARRIED',
      'SURVEY_HAS_KEY',
      'SURVEY_IN_QUOTES',
      'SURVEY_LONGEST',
      'SURVEY_ASCENDS',
      'SURVEY_PREFIX',
    ),
  },
  fields: pick(layout, 'FIELD_CELL', 'FIELD_FORM', 'FIELD_IS_OTHER', 'FIELD_NAME', 'FIELD_NAME_BYTES'),
  offsets: pick(layout, 'FIELDS_AT', 'UNREAD_AT', 'SURVEY_FIRST_AT', 'SURVEY_LAST_AT', 'MOST_KEY_BYTES'),
  integers: {
    ...pick(layout, 'FIELD_INTS', 'FORM_PLAIN', 'FORM_BOOLEAN', 'FORM_FLOAT', 'FORM_LIST'),
    ...pick(layout, 'EXIT_DONE', 'EXIT_FULL', 'EXIT_FAULT'),
  },
  characters: {
    ...pick(characters, 'TAB', 'LF', 'CR', 'QUOTE'),
    BACKSLASH: 0x5c,
    SLASH: 0x2f,
    PLUS: 0x2b,
    MINUS: 0x2d,
    POINT: 0x2e,
    COMMA: 0x2c,
    OPEN_BRACE: 0x7b,
    CLOSE_BRACE: 0x7d,
    OPEN_BRACKET: 0x5b,
    CLOSE_BRACKET: 0x5d,
    LARGE_F: 0x46,
    LARGE_I: 0x49,
    LARGE_N: 0x4e,
    SMALL_B: 0x62,
    SMALL_E: 0x65,
    SMALL_F: 0x66,
    SMALL_N: 0x6e,
    SMALL_R: 0x72,
    SMALL_T: 0x74,
    SMALL_U: 0x75,
  },
};
