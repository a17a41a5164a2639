/** What src/engine/shred/json-lines/rows.as knows of the rows: made of the constants that TypeScript works with. */
import { WRITE_BOOLEAN, WRITE_NUMBER } from '../../src/engine/shred/json-lines/kernel.ts';
import * as characters from '../../src/engine/xml/characters.ts';
import { pick, type Prelude } from './prelude.ts';

export const linesPrelude: Prelude = {
  controlAt: 0,
  integers: {
    WRITE_NUMBER,
    WRITE_BOOLEAN,
    /** a backslash, and an N */
    NULL_TEXT: 0x4e5c,
  },
  characters: {
    ...pick(characters, 'TAB', 'LF', 'SPACE', 'QUOTE'),
    PLUS: 43,
    MINUS: 45,
    POINT: 46,
    ZERO: 48,
    BACKSLASH: 92,
  },
};
