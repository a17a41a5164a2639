/** What src/engine/shred/row-tag/kernel/find-rows.as knows of its memory: made of the constants that TypeScript works with. */
import * as layout from '../../src/engine/shred/row-tag/kernel/layout.ts';
import * as characters from '../../src/engine/xml/characters.ts';
import { pick, type Prelude } from './prelude.ts';

export const rowsPrelude: Prelude = {
  controlAt: 0,
  slots: {
    ...pick(layout, 'POS', 'END', 'WANTED', 'DEPTH', 'NUMBER', 'INSIDE', 'NAME_BYTES', 'TAG', 'TAG_END'),
    ...pick(layout, 'NAMESPACED', 'KNOWN_BYTES', 'VERDICT', 'AT_LEVEL', 'ROW_NAME_BYTES'),
  },
  offsets: pick(layout, 'ROW_NAME_AT', 'NAME_AT', 'KNOWN_AT'),
  integers: {
    ...pick(layout, 'IN_CONTENT', 'IN_COMMENT', 'IN_CDATA', 'IN_INSTRUCTION'),
    ...pick(layout, 'EXIT_MORE', 'EXIT_OPEN', 'EXIT_CLOSE', 'EXIT_ROW', 'EXIT_DECLARATION', 'EXIT_ASK'),
    ...pick(layout, 'EXIT_TEXT', 'EXIT_EMPTY', 'NAMELESS', 'MAX_NAME_BYTES'),
    ...pick(layout, 'ASK', 'IS_ROW'),
    /** `--` as two bytes are loaded */
    DASHES: 0x2d2d,
    /** `xmln`, as four */
    XMLN: 0x6e6c6d78,
  },
  characters: {
    ...pick(
      characters,
      'LF',
      'CR',
      'SPACE',
      'EXCLAMATION',
      'QUOTE',
      'APOSTROPHE',
      'DASH',
      'SLASH',
      'COLON',
      'LESS',
      'GREATER',
      'QUESTION',
      'CLOSE_BRACKET',
    ),
    OPEN_BRACKET: 0x5b,
    SMALL_S: 0x73,
    SMALL_X: 0x78,
  },
};
