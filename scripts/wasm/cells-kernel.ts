/** What src/engine/parquet/reading/kernel/cells.as knows of its memory: made of the constants that TypeScript works with. */
import * as layout from '../../src/engine/parquet/reading/kernel/layout.ts';
import * as characters from '../../src/engine/xml/characters.ts';
import { pick, type Prelude } from './prelude.ts';

export const cellsPrelude: Prelude = {
  controlAt: layout.CONTROL_AT,
  slots: pick(layout, 'LEVELS', 'NUMBERS', 'WIDES', 'ORIGIN'),
  fields: {
    ...pick(layout, 'COLUMN_FORM', 'COLUMN_SCALE', 'COLUMN_KEPT', 'COLUMN_WIDTH', 'COLUMN_ENCODING'),
    ...pick(layout, 'COLUMN_AT', 'COLUMN_END', 'COLUMN_STARTS', 'COLUMN_ENTRIES', 'COLUMN_LONGEST'),
    ...pick(layout, 'COLUMN_LEVELS', 'COLUMN_NUMBERS'),
    ...pick(layout, 'DELTAS_WIDTHS', 'DELTAS_MINI', 'DELTAS_NEXT', 'DELTAS_BEGUN', 'DELTAS_LAST'),
    ...pick(layout, 'DELTAS_LEAST', 'DELTAS_UNPACKED', 'DELTAS_AT'),
    ...pick(layout, 'RUNS_AT', 'RUNS_END', 'RUNS_WIDTH', 'RUNS_LEFT', 'RUNS_VALUE', 'RUNS_BIT'),
  },
  offsets: pick(layout, 'POWERS_AT', 'LONGEST_VALUE'),
  integers: {
    ...pick(layout, 'IN_PLAIN', 'IN_DICTIONARY', 'IN_DELTAS', 'IN_LENGTHS'),
    ...pick(layout, 'FORM_TEXT', 'FORM_INTEGER', 'FORM_DECIMAL', 'FORM_WIDE_DECIMAL', 'FORM_BOOLEAN'),
    ...pick(layout, 'FORM_DATE', 'FORM_TIME', 'FORM_TIMESTAMP', 'FORM_TIMESTAMP_UTC', 'FORM_FLOAT'),
    ...pick(layout, 'FORM_DOUBLE'),
  },
  characters: { ...pick(characters, 'COLON'), MINUS: 45, POINT: 46, ZERO: 48 },
};
