/** Layout of the memory that src/engine/parquet/reading/kernel/cells.as works on, which has it as byte offsets. */

export const PAGE_BYTES = 65_536;
export const CONTROL_AT = 1024;
/** Vectors are read and written this far beyond the end of the data. */
export const MARGIN_BYTES = 64;
/** Start of the heap. The control block and the powers of ten are before it. */
export const HEAP_AT = 8192;

// control block, int32 slots
/** room for an int32 of each row: levels, then numbers of a dictionary */
export const LEVELS = 0;
export const NUMBERS = 1;
/** room for an int64 of each row */
export const WIDES = 2;
/** address of the texts of a block; its cells are relative to it */
export const ORIGIN = 3;
export const CONTROL_SLOTS = 8;
export const POWERS_AT: number = CONTROL_AT + CONTROL_SLOTS * 4;

// a column, int32 fields
/** FORM_… */
export const COLUMN_FORM = 0;
/** digits after the point, and the number of these that are kept even if they are zeros */
export const COLUMN_SCALE = 1;
export const COLUMN_KEPT = 2;
/** bytes of a value that is written whole; 0: text, 1: a bit */
export const COLUMN_WIDTH = 3;
/** encoding of the page: IN_… */
export const COLUMN_ENCODING = 4;
/** next byte of values written whole (for booleans the next bit, for texts after all lengths the next text), and the end of the page */
export const COLUMN_AT = 5;
export const COLUMN_END = 6;
/** address of the starts of the dictionary's texts, each text after its length of 32 bits; then the number of texts */
export const COLUMN_STARTS = 7;
export const COLUMN_ENTRIES = 8;
/** bytes of the longest of them */
export const COLUMN_LONGEST = 9;
/** runs of levels, and of numbers of the dictionary */
export const COLUMN_LEVELS = 10;
export const COLUMN_NUMBERS = 16;
/** differences, including those of the lengths of texts: address of their widths, and the next group of 32 */
export const DELTAS_WIDTHS = 22;
export const DELTAS_MINI = 23;
/** next one of the 32 values that were unpacked last */
export const DELTAS_NEXT = 24;
/** whether the first value, which is stored separately, has been read */
export const DELTAS_BEGUN = 25;
/** int64: the last value, and the least difference of the block */
export const DELTAS_LAST = 26;
export const DELTAS_LEAST = 28;
/** 32 int64 */
export const DELTAS_UNPACKED = 30;
/** next byte of them */
export const DELTAS_AT = 94;
export const COLUMN_INTS = 96;

// runs, int32 fields
export const RUNS_AT = 0;
export const RUNS_END = 1;
/** bits of a value */
export const RUNS_WIDTH = 2;
/** remaining values of the run */
export const RUNS_LEFT = 3;
/** value of a run of equal values */
export const RUNS_VALUE = 4;
/** next bit of packed values, from the run's first byte; -1: a run of equal values */
export const RUNS_BIT = 5;

export const IN_PLAIN = 0;
export const IN_DICTIONARY = 1;
export const IN_DELTAS = 2;
/** all lengths, which are differences, followed by the texts */
export const IN_LENGTHS = 3;

/** The forms of values as text. */
export const FORM_TEXT = 0;
export const FORM_INTEGER = 1;
export const FORM_DECIMAL = 2;
/** 128 bits, highest byte first */
export const FORM_WIDE_DECIMAL = 3;
export const FORM_BOOLEAN = 4;
export const FORM_DATE = 5;
export const FORM_TIME = 6;
export const FORM_TIMESTAMP = 7;
export const FORM_TIMESTAMP_UTC = 8;
/** doubles are left to who called, each in room for its text */
export const FORM_FLOAT = 9;
export const FORM_DOUBLE = 10;

/** No value but a text is longer as text. */
export const LONGEST_VALUE = 48;
