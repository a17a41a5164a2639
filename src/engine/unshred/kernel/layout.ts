/** Layout of the memory that src/engine/unshred/kernel/elements.as works on, which has it as byte offsets. */

export const PAGE_BYTES = 65_536;
export const CONTROL_AT = 1024;
/** Vectors are read and written this far beyond the end of the data. */
export const MARGIN_BYTES = 64;
/** Start of the heap. */
export const HEAP_AT = 4096;

// control block, int32 slots
/** by index: address of the node's record (0: not learned), and the array of tables */
export const NODES = 0;
export const TABLES = 1;
/** start and end of the room for the element that is written */
export const OUT = 2;
export const OUT_LIMIT = 3;
/** memory for open elements */
export const SCRATCH = 4;
export const SCRATCH_LIMIT = 5;
/** numbers of the tables that rows were read from, and their count */
export const TOUCHED = 6;
export const TOUCHED_COUNT = 7;
/** why the element was not written: WHY_…, and the number of the node or table */
export const WHY = 8;
export const SUBJECT = 9;

/** it is for TypeScript */
export const WHY_LEFT = 0;
export const WHY_UNKNOWN_NODE = 1;
/** the rows of the table that are here are at their end, or it is not known whether there are any */
export const WHY_ENDED = 2;

// a table, int32 fields
export const TABLE_BYTES = 0;
export const TABLE_CELLS = 1;
/** the next row, as an index of its cells; below 0: there are no rows */
export const TABLE_AT = 2;
/** end of the cells; 0: the table's rows are not in this memory */
export const TABLE_END = 3;
/** int32 values of a row's cells, two for each: start of the value in BYTES, below 0 for NULL, and its end */
export const TABLE_STRIDE = 4;
/** column of the row's key */
export const TABLE_KEY = 5;
/** a number that changes when the table moves to another row */
export const TABLE_MOVES = 6;
/** for the present element: number of rows consumed, and the table's position before it */
export const TABLE_TAKEN = 7;
export const TABLE_BEFORE = 8;
/** 1: rows from the key NEXT_BESIDE on may have entries beside them */
export const TABLE_HAS_BESIDE = 9;
/** a double, as an offset in bytes */
export const TABLE_NEXT_BESIDE = 40;
/** 1: the table ends with its cells */
export const TABLE_IS_LAST = 12;
export const TABLE_BYTES_OF_RECORD = 56;

// A column is the offset in bytes of its cell in a row; below 0: there is none. Lists have an address and a count.

// a node, int32 fields
export const NODE_TEXT = 0;
/** 1: no child folded into the row has a position in it */
export const NODE_IS_FREE = 1;
/** columns that must be empty for the kernel to write the element */
export const NODE_EMPTY = 2;
export const NODE_EMPTY_COUNT = 3;
export const NODE_ATTRIBUTES = 4;
export const NODE_ATTRIBUTE_COUNT = 5;
export const NODE_GROUPS = 6;
export const NODE_GROUP_COUNT = 7;
export const NODE_CONTENTS = 8;
export const NODE_CONTENT_COUNT = 9;
/** addresses of the children folded into the row */
export const NODE_FOLDED = 10;
export const NODE_FOLDED_COUNT = 11;
export const NODE_INTS = 12;

// an attribute: its name with the characters around it (` name="`)
export const ATTRIBUTE_COLUMN = 0;
export const ATTRIBUTE_NAME = 1;
export const ATTRIBUTE_NAME_LENGTH = 2;
export const ATTRIBUTE_INTS = 3;

// rows of a table that are children
export const GROUP_TABLE = 0;
export const GROUP_POSITION = 1;
export const GROUP_KEY = 2;
export const GROUP_USES = 3;
export const GROUP_USE_COUNT = 4;
export const GROUP_INTS = 5;

export const USE_PARENT_KEY = 0;
export const USE_CHILD_KEY = 1;
export const USE_ELEMENT_NAME = 2;
export const USE_BY_ROLE = 3;
/** columns that are empty */
export const USE_EMPTY = 4;
export const USE_EMPTY_COUNT = 5;
export const USE_CHILDREN = 6;
export const USE_CHILD_COUNT = 7;
export const USE_INTS = 8;

export const CHILD_TAG = 0;
export const CHILD_TAG_LENGTH = 1;
export const CHILD_LABEL = 2;
export const CHILD_LABEL_LENGTH = 3;
/** below 0: the element is for TypeScript */
export const CHILD_NODE = 4;
export const CHILD_INTS = 5;

export const CONTENT_TABLE = 0;
/** 1: XML text */
export const CONTENT_IS_MARKUP = 1;
export const CONTENT_PARENT_KEY = 2;
export const CONTENT_POSITION = 3;
export const CONTENT_COLUMN = 4;
export const CONTENT_INTS = 5;

// a child folded into the row
export const FOLDED_TAG = 0;
export const FOLDED_TAG_LENGTH = 1;
export const FOLDED_LABEL = 2;
export const FOLDED_LABEL_LENGTH = 3;
export const FOLDED_NODE = 4;
export const FOLDED_POSITION = 5;
export const FOLDED_PRESENCE = 6;
export const FOLDED_ELEMENT_NAME = 7;
/** columns that show that the element is present */
export const FOLDED_COLUMNS = 8;
export const FOLDED_COLUMN_COUNT = 9;
export const FOLDED_ROWS = 10;
export const FOLDED_ROW_COUNT = 11;
export const FOLDED_INTS = 12;

export const EVIDENT_TABLE = 0;
export const EVIDENT_PARENT_KEY = 1;
/** the column that says which name rows have; below 0: none does */
export const EVIDENT_ROLE = 2;
export const EVIDENT_LABEL = 3;
export const EVIDENT_LABEL_LENGTH = 4;
export const EVIDENT_INTS = 5;

// the next child of a group, valid while its table is at the same row
/** bytes: MOVES of the table, the child (0: none), and a double with its position */
export const NEXT_BYTES = 16;
/** bytes: a double with the position, and the child */
export const PLACED_BYTES = 16;

/** most nested elements, each of which is a call */
export const MOST_DEPTH = 200;
