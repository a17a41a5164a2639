/** Layout of the memory that src/engine/records/kernel/records.as works on, which has it as byte offsets. */

export const PAGE_BYTES = 65_536;
export const CONTROL_AT = 1024;
/** Vectors are read this far beyond the end of the data. */
export const MARGIN_BYTES = 64;
/** Address of the fields, which are followed by the piece and then by the cells of its rows. */
export const FIELDS_AT = 4096;

// control block, int32 slots
/** start and end of the piece, and start of its next record */
export const BYTES = 0;
export const END = 1;
export const NEXT = 2;
/** address for the cells of the next row, and the end of their room */
export const ROW = 3;
export const ROW_LIMIT = 4;
/** bytes of a row's cells; 1: some have no field, and are empty */
export const STRIDE = 5;
export const IS_SPARSE = 6;
/** number of fields of a record, and the delimiter between them */
export const FIELD_COUNT = 7;
export const DELIMITER = 8;
/** 1: values may be in quotes (CSV); 0: they may have escapes (TSV) */
export const IS_QUOTED = 9;
/** 1: the next record names the columns */
export const HAS_HEADER = 10;
/** records that were split, the header among them */
export const RECORDS = 11;
/** 1: a value in the piece was changed */
export const IS_CHANGED = 12;
/** offset of `true` from BYTES, with `false` after it */
export const YES = 13;
/** survey: bytes before the piece of the record that continues in it, and 1: its key is already known */
export const SURVEY_CARRIED = 14;
export const SURVEY_HAS_KEY = 15;
/** 1: the piece begins within quotes */
export const SURVEY_IN_QUOTES = 16;
/** bytes of the longest record */
export const SURVEY_LONGEST = 17;
/** 1: so far each key is greater than the one before */
export const SURVEY_ASCENDS = 18;
/** JSON Lines: bytes at FIELDS_AT that a record has before its key */
export const SURVEY_PREFIX = 19;
/** uint64: the first and the last key; 0: none yet */
export const SURVEY_FIRST_AT: number = CONTROL_AT + 80;
export const SURVEY_LAST_AT: number = CONTROL_AT + 88;
/** a cell that is never read */
export const UNREAD_AT: number = CONTROL_AT + 96;

// a field, int32
/** the offset in bytes of its cell in a row; below 0: it is not asked for */
export const FIELD_CELL = 0;
/** FORM_… */
export const FIELD_FORM = 1;
/** 1: some value differs from its form in XSD */
export const FIELD_IS_OTHER = 2;
/** JSON Lines: address and length of the name as a record has it, including quotes and colon */
export const FIELD_NAME = 3;
export const FIELD_NAME_BYTES = 4;
export const FIELD_INTS = 5;

/** Values are as in XSD. */
export const FORM_PLAIN = 0;
/** `t` and `f`, which become `true` and `false` */
export const FORM_BOOLEAN = 1;
/** values with an I may be infinities, of JSON Lines those that are strings */
export const FORM_FLOAT = 2;
/** values that begin with a brace may be arrays; JSON Lines: arrays, whose strings may be infinities */
export const FORM_LIST = 3;

/** The rest of the piece is not a whole record. */
export const EXIT_DONE = 0;
/** There is no room for another row. */
export const EXIT_FULL = 1;
/** A record has a different number of fields. */
export const EXIT_FAULT = 2;

/** Most bytes of a key and its terminator. */
export const MOST_KEY_BYTES = 20;
