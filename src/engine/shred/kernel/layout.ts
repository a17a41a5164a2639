/** Layout of the memory that src/engine/shred/kernel/shred.as works on, which has it as byte offsets. The state's own arrays: src/engine/shred/open-elements.ts. */
import { SCAN_KERNEL_BYTES } from '../../xml/kernel/layout.ts';

export const PAGE_BYTES = 65_536;
/** After the tokeniser's part. */
export const CONTROL_AT: number = SCAN_KERNEL_BYTES;
/** Vectors are read and written beyond the end of an array. */
export const MARGIN_BYTES = 64;

export interface KernelMemory {
  readonly control: Int32Array;
  /** zeroed */
  ints(length: number): Int32Array<ArrayBuffer>;
  /** zeroed */
  bytes(length: number): Uint8Array<ArrayBuffer>;
}

// control block, int32 slots
export const EVENTS = 0;
export const BYTES = 1;
export const DECODED = 2;
export const NEXT = 3;
export const FULL_TABLE = 4;
export const RELAXED = 5;
export const DEPTH = 6;
export const FRAMES = 7;
export const FRAME_CAPACITY = 8;
export const ROWS = 9;
export const ROW_CAPACITY = 10;
export const ROW_TOP = 11;
export const SLOTS = 12;
export const SLOT_TOP = 13;
export const SLOT_CAPACITY = 14;
export const ARENA = 15;
export const ARENA_LENGTH = 16;
export const ARENA_CAPACITY = 17;
export const TEXT = 18;
export const TEXT_LENGTH = 19;
export const TEXT_CAPACITY = 20;
export const SCOPE_SIZE = 21;
export const NODES = 22;
export const TABLES = 23;
export const COLUMNS = 24;
export const REQUIRED = 25;
export const LAST_NUMBERS = 26;
export const EDGES = 27;
export const EDGE_MASK = 28;
export const OUT_STARTS = 29;
export const OUT_LENGTHS = 30;
export const OUT_PENDING = 31;
export const OUT_CAPACITY = 32;
export const MODE = 33;
export const SEPARATOR = 34;
export const XSI_TYPE = 35;
/** int64 */
export const KEY_BASE = 36;
export const KEY_TEXTS = 38;
export const MEMBERS = 39;
// documents that are parts of a larger one
/** index of the record at which the present part began */
export const PART_FROM = 40;
/** number of the present part, or of the next one, in the larger document */
export const PART_NUMBER = 41;
/** number of the last document that was begun, if keys are numbers; float64 */
export const DOCUMENT_NUMBER = 42;
/** address and length of the digits of the document's key */
export const DOCUMENT_KEY = 44;
export const DOCUMENT_KEY_LENGTH = 45;
/** indexes of the columns that have it in every row */
export const DOCUMENT_COLUMNS = 46;
export const DOCUMENT_COLUMN_COUNT = 47;
/** address and length of the pieces of a row of `_documents`: before its key, before the part's number, before its size, and after it */
export const DOCUMENT_PIECES = 48;
/** rows of `_documents`: address, bytes, capacity in bytes, and number of rows */
export const DOCUMENTS = 49;
export const DOCUMENTS_LENGTH = 50;
export const DOCUMENTS_CAPACITY = 51;
export const DOCUMENTS_PENDING = 52;
/** bytes of the pieces of one */
export const DOCUMENTS_ROOM = 53;
/** 1: keys follow from the SHA-256 of a part */
export const HASHED = 54;
export const TABLE_COUNT = 55;
/** heads of members of substitution groups: HEAD_… */
export const HEADS = 56;
export const XML_SPACE = 57;
/** initial value of FRAME_SPACE in a part */
export const PART_SPACE = 58;
/** prefixes whose texts are left to the TypeScript code: each as a byte with its length, and the prefix; then their number, -1: all */
export const PREFIXES = 59;
export const PREFIX_COUNT = 60;
export const CONTROL_SLOTS = 64;

// the known part of the plan, int32 fields
/** the last key of a table that was written: 32 bytes */
export const KEY_TEXT_INTS = 8;
export const NODE_INTS = 16;
export const TABLE_INTS = 16;
export const TABLE_FIRST_COLUMN = 1;
export const TABLE_BASE_BYTES = 9;
export const COLUMN_INTS = 8;
export const COLUMN_DEFAULT = 4;
export const COLUMN_DEFAULT_LENGTH = 5;
export const COLUMN_RELAXED = 6;
/** for a column in JSON Lines: address and length of the bytes before its values, and MEMBER_… */
export const MEMBER_INTS = 4;
export const EDGE_INTS = 8;
export const EDGE_NODE = 0;
export const EDGE_NAME = 1;
export const EDGE_NEXT = 6;
export const EDGE_CHILD_KEY = 7;
/** An edge to a member with two rows: EDGE_CHILD_KEY has this value less the number of its head. */
export const FIRST_HEAD: number = -2;
export const HEAD_INTS = 2;
export const HEAD_NODE = 0;
export const HEAD_PARENT_KEY = 1;
/** Added to a node's index: an attribute of it. */
export const ATTRIBUTE_OF = 0x40000000;
/** Replaces a node's index as the source of the edges to root elements. */
export const ROOT_NODE = 0x3fffffff;

export const OPENS_ROW = 1;
export const TAKES_TEXT = 2;
export const SHOWS_NOTHING = 4;
/** folded, with a text column as its only column */
export const LEAF = 8;
/** has a default of xml:space */
export const SETS_SPACE = 16;

/** How rows are encoded (src/engine/shred/row-output.ts). */
export const MODE_COPY = 0;
export const MODE_CSV = 1;
export const MODE_WORDS = 2;
export const MODE_JSON_LINES = 3;

/** Why the kernel returned. */
export const EXIT_DONE = 0;
export const EXIT_EVENT = 1;
export const EXIT_TABLE_FULL = 2;

/** Replaces a table's index for `_documents`. */
export const DOCUMENTS_TABLE = -2;

/**
 * Conversions of columns (src/engine/shred/kernel/learned-plan.ts). OTHERS: names with prefixes to resolve, lists of dates and truth
 * values.
 */
export const CONVERT_OTHERS = 0;
export const CONVERT_TEXT = 1;
export const CONVERT_BOOLEAN = 2;
export const CONVERT_INTEGER = 3;
export const CONVERT_DECIMAL = 4;
export const CONVERT_FLOAT = 5;
export const CONVERT_DATE = 6;
export const CONVERT_TIME = 7;
export const CONVERT_TIMESTAMP = 8;
export const CONVERT_TIMESTAMP_UTC = 9;
/** with the offset in the next column */
export const CONVERT_TIMESTAMP_OFFSET = 10;
/** added to that of its items: a list, as an array literal */
export const CONVERT_LIST = 16;

// the forms of values as members of JSON
export const MEMBER_TEXT = 0;
export const MEMBER_NUMBER = 1;
export const MEMBER_BOOLEAN = 2;
/** a number that the shredder itself writes: digits only */
export const MEMBER_DIGITS = 3;
/** added to the form of the items */
export const MEMBER_LIST = 4;

// flags of a column
export const COLLAPSES = 1;
export const KEEPS_FORM = 2;

/** plain scale of values that are printed with as few digits after the point as they need; less n: with at least n */
export const SHORTEST_SCALE = -2;
