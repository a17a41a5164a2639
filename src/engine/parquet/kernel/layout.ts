/** Layout of the memory that src/engine/parquet/kernel/columns.as works on, which has it as byte offsets. */

export const PAGE_BYTES = 65_536;
export const CONTROL_AT = 1024;
/** Vectors are read and written beyond the end of an array, and digits before its start. */
export const MARGIN_BYTES = 64;
/** Start of the heap. The control block and the powers of ten are before it. */
export const HEAP_AT = 8192;

// control block, int32 slots; the first ones are the parameters of reading a column
/** address of the delimiter after the column's field in the first row */
export const FIRST = 0;
/** distance in bytes to the delimiter of the next row */
export const STRIDE = 1;
export const ROWS = 2;
/** address for the values */
export const VALUES = 3;
/** address for the levels, one for each row: int32, 1 for a value, 0 for NULL */
export const LEVELS = 4;
/** room for text without its escapes */
export const PLAIN_TEXT = 5;
/** the column's dictionary; 0: values are written whole */
export const DICTIONARY = 6;
export const SCALE = 7;
/** address for the values that the TypeScript code must convert: their number, start and end; or lengths of texts, int32 */
export const LEFT = 8;
// results
/** values that are not NULL */
export const COUNT = 9;
/** end of the last value */
export const VALUES_END = 10;
export const LEFT_COUNT = 11;
/** row of a value that the type does not hold, from 1; 0: none */
export const MISFIT = 12;
export const LEAST_AT = 14;
export const LEAST_LENGTH = 15;
export const GREATEST_AT = 16;
export const GREATEST_LENGTH = 17;
/** first free address */
export const FREE = 18;
/** int64 or double; for 128 bits the low half is first */
export const LEAST = 20;
export const GREATEST = 24;
export const CONTROL_SLOTS = 32;
export const POWERS_AT: number = CONTROL_AT + CONTROL_SLOTS * 4;
/** 16 bytes of zeros, and 16 of ones: from the nth on, a vector that selects the last n bytes of another */
export const LAST_BYTES_AT = 2048;
/** for each place of a point among 16 bytes, and for none: the vector that moves the digits before it up by one */
export const WITHOUT_POINT_AT: number = LAST_BYTES_AT + 32;

// a dictionary, int32 fields
/** slots that lead from a hash to an entry, int32: its number, from 1, above which those of text have bits of the hash; 0: free */
export const DICTIONARY_TABLE = 0;
/** slots, less one */
export const DICTIONARY_MASK = 1;
export const DICTIONARY_COUNT = 2;
/** entries as a dictionary page has them */
export const DICTIONARY_VALUES = 3;
export const DICTIONARY_USED = 4;
export const DICTIONARY_CAPACITY = 5;
/** address of the facts about each text entry */
export const DICTIONARY_TEXTS = 6;
/** most entries */
export const DICTIONARY_LIMIT = 7;
/** most bytes of entries */
export const DICTIONARY_BYTES_LIMIT = 8;
/** pages that were read by it, this one included */
export const DICTIONARY_PAGE = 9;
/** the last page that each entry of text was on, as far as known */
export const DICTIONARY_PAGES = 10;
/** for whole numbers: int16 for those near the first one */
export const DICTIONARY_NEAR = 11;
export const DICTIONARY_INTS = 16;

// the facts about a text in a dictionary: its first eight bytes, then int32 fields
export const TEXT_PREFIX = 0;
export const TEXT_LENGTH = 2;
/** offset from the first entry */
export const TEXT_START = 3;
export const TEXT_INTS = 4;

/** How fields are read as values. */
export const READ_INT32 = 1;
export const READ_INT64 = 2;
export const READ_INT128 = 3;
export const READ_BOOLEAN = 4;
export const READ_DATE = 5;
export const READ_TIME = 6;
export const READ_TIMESTAMP = 7;
export const READ_FLOAT = 8;
export const READ_DOUBLE = 9;
export const READ_TEXT = 10;
export const READ_TEXT_APART = 11;
