/** Layout of the control block at the start of the memory that the kernel shares with the scanners: int32 slots. */

export const WINDOW = 0;
export const END = 1;
export const POS = 2;
export const EVENTS = 3;
export const COUNT = 4;
export const FLUSH_AT = 5;
export const EVENTS_LENGTH = 6;
export const DECODED = 7;
export const DECODED_END = 8;
export const DECODED_FULL = 9;
export const SOURCES = 10;
export const DEPTH = 11;
export const STACK_CAPACITY = 12;
export const STACK_RAW = 13;
export const STACK_NAME = 14;
export const STACK_CONTEXT = 15;
export const CONTEXT = 16;
export const PREDICTOR = 17;
export const SERIAL = 18;
export const ARENA = 19;
export const STARTS = 20;
export const ENDS = 21;
export const SLOTS = 22;
export const SLOT_MASK = 23;
export const HASHES = 24;
export const KINDS = 25;
export const ELEMENT_CONTEXTS = 26;
export const ELEMENT_NAMES = 27;
export const ATTRIBUTE_NAMES = 28;
export const SEEN_IN = 29;
export const NEXT_ATTRIBUTES = 30;
export const NEXT_ELEMENTS = 31;
export const EXPANDED_SEEN_IN = 32;
export const EXPANDED_LENGTH = 33;
export const NAME_CLASS = 34;
export const MAX_TEXT = 35;
export const MAX_ATTRIBUTES = 36;
export const TEXT_START = 37;
export const TEXT_AT = 38;
export const TAGS = 40;
export const GAPS = 41;
export const CONTROL_SLOTS = 64;
/** The batch is to be handed over. */
export const EXIT_FULL = 0;
/** Text from `textStart` on, known to be plain up to `textAt`. */
export const EXIT_TEXT = 1;
export const EXIT_END_TAG = 2;
/** `<!` or `<?`. */
export const EXIT_MARKUP = 3;
export const EXIT_START_TAG = 4;
export const EXIT_ROOT_CLOSED = 5;
/** Longest window; with it all that is allocated fits. */
export const KERNEL_WINDOW_BYTES: number = 64 * 1024;
export const PAGE_BYTES = 65_536;
export const PAGES = 38;
/** The number of bytes that the kernel uses of a shared memory, from its start. */
export const SCAN_KERNEL_BYTES: number = PAGES * PAGE_BYTES;
