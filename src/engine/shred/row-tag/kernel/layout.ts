/** Memory of the kernel that looks for row elements: int32 slots of its control block, the row's name, and the window. */

/** addresses: the present position, and the end of the window */
export const POS = 0;
export const END = 1;
/** row elements that begin at this address or later are reported */
export const WANTED = 2;
/** open elements of the present row element's name, itself included; 0 outside */
export const DEPTH = 3;
/** row elements so far */
export const NUMBER = 4;
/** the construct that POS is inside of, IN_… */
export const INSIDE = 5;
export const NAME_BYTES = 6;
/** addresses of the tag that an exit reports */
export const TAG = 7;
/** 1: the namespace is significant, so that other tags with the local name of rows than the known one are asked about */
export const NAMESPACED = 8;
/** bytes at KNOWN_AT: prefixed names that belong to rows in tags without namespace declarations, each after its length in two bytes */
export const KNOWN_BYTES = 9;
/** the verdict on the tag at POS; ASK if there is none */
export const VERDICT = 10;
export const TAG_END = 11;
/** 1: every element that begins outside of rows is a row, except those whose names the caller rejects; text there is reported */
export const AT_LEVEL = 12;
/** bytes at ROW_NAME_AT: the name of the present row element, or of the last one, with its prefix */
export const ROW_NAME_BYTES = 13;
export const CONTROL_SLOTS = 14;

export const ASK = 0;
export const IS_ROW = 1;
export const IS_OTHER = 2;

export const IN_CONTENT = 0;
export const IN_COMMENT = 1;
export const IN_CDATA = 2;
export const IN_INSTRUCTION = 3;

/** The construct that begins at POS does not end in the window. */
export const EXIT_MORE = 0;
/** The start tag of an element around rows. */
export const EXIT_OPEN = 1;
/** The end tag of one. */
export const EXIT_CLOSE = 2;
/** A reported row element. */
export const EXIT_ROW = 3;
/** Declarations: the document is to be read with all that XML has. */
export const EXIT_DECLARATION = 4;
/** The caller must decide if the tag at TAG is a row's. Scanning continues there. */
export const EXIT_ASK = 5;
/** AT_LEVEL: text between rows that is not white space. */
export const EXIT_TEXT = 6;
/** NAMELESS: the tag of an element without content outside of rows. */
export const EXIT_EMPTY = 7;

/** NAME_BYTES if rows have no common name. */
export const NAMELESS = -1;

export const ROW_NAME_AT = 2048;
export const NAME_AT = 4096;
export const KNOWN_AT = 6144;
export const MAX_NAME_BYTES = 2000;
export const WINDOW_AT = 8192;
export const WINDOW_BYTES = 512 * 1024;
/** Bytes after the window: `<>"'`, so that every search ends there at the latest. */
export const MARGIN_BYTES = 64;
