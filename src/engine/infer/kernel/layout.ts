/** Layout of the memory that src/engine/infer/kernel/collect.as works on, which has the same offsets. All are bytes. */
import { SCAN_KERNEL_BYTES } from '../../xml/kernel/layout.ts';

export const PAGE_BYTES = 65_536;
/** After the tokeniser's part. */
export const CONTROL_AT: number = SCAN_KERNEL_BYTES;
/** Vectors are read and written beyond the end of an array. */
export const MARGIN_BYTES = 64;

// control block, int32
export const EVENTS = 0;
export const BYTES = 4;
export const DECODED = 8;
/** record that the kernel stopped at */
export const NEXT = 12;
export const DEPTH = 16;
export const FRAMES = 20;
export const FRAME_CAPACITY = 24;
export const COUNTS_TOP = 28;
export const COUNTS_END = 32;
export const SEEN_TOP = 36;
export const SEEN_END = 40;
export const TEXT = 44;
export const TEXT_CAPACITY = 48;
export const TEXT_LENGTH = 52;
/** number of the document, from 1 */
export const DOCUMENT = 64;
export const SAMPLES = 68;
/** address of the record whose element or attribute has the ordinal ANSWER; -1: an attribute that is not content */
export const ANSWERED = 72;
export const ANSWER = 76;
/** address of the record whose value's extremes have been compared */
export const EXTREMES_SEEN = 80;
export const ASKED = 84;
export const ASKED_FROM = 88;
export const ASKED_TO = 92;

export const EXIT_DONE = 0;
/** A child element or an attribute that is new on this path, or one of very many. */
export const EXIT_ELEMENT = 1;
export const EXIT_ATTRIBUTE = 2;
/** The node ASKED has its first text. */
export const EXIT_VALUE = 3;
/** The value ASKED: whether the bytes are less or greater than all before. */
export const EXIT_EXTREMES = 4;
export const EXIT_NAMESPACE = 5;
/** Elements are nested too deeply, or have too many children. */
export const EXIT_FULL = 6;

// node: counts are float64
export const NODE_COUNT = 0;
export const NODE_WITH_CHILDREN = 8;
export const NODE_WITH_TEXT = 16;
export const NODE_MIXED = 24;
export const NODE_ENDED = 32;
export const NODE_TEXT_RUNS = 40;
export const NODE_DOCUMENTS = 48;
export const NODE_LAST_DOCUMENT = 52;
export const NODE_VALUE = 56;
export const NODE_CHILD_COUNT = 60;
export const NODE_CHILD_CAPACITY = 64;
/** addresses of int32 columns by ordinal: name ids, addresses of nodes, least and most occurrences */
export const NODE_CHILD_NAMES = 68;
export const NODE_CHILD_TARGETS = 72;
export const NODE_LEAST = 76;
export const NODE_MOST = 80;
/** address of the bits of the siblings seen before, NODE_WORDS int32 by ordinal */
export const NODE_PRECEDED = 84;
export const NODE_WORDS = 88;
export const NODE_ATTRIBUTES = 92;
export const NODE_ATTRIBUTE_COUNT = 96;
/** elements with attributes that only a wildcard allows */
export const NODE_WITH_OTHERS = 104;
export const NODE_BYTES = 112;

export const ATTRIBUTE_COUNT = 0;
export const ATTRIBUTE_NAME = 8;
export const ATTRIBUTE_VALUE = 12;
export const ATTRIBUTE_DOCUMENTS = 16;
export const ATTRIBUTE_LAST_DOCUMENT = 20;
/** not 0: only a wildcard allows it */
export const ATTRIBUTE_IS_OTHER = 24;
export const ATTRIBUTE_BYTES = 32;

export const FRAME_NODE = 0;
export const FRAME_COUNTS = 4;
export const FRAME_COUNTED = 8;
export const FRAME_SEEN = 12;
export const FRAME_WORDS = 16;
export const FRAME_LAST = 20;
export const FRAME_ATTRIBUTES = 24;
/**
 * int16 each; in the first, bit 0: there was text other than white space, bit 1: a run of text continues, bit 2: an attribute that only a
 * wildcard allows was counted
 */
export const FRAME_HAS_TEXT = 28;
export const FRAME_HAS_CHILDREN = 30;
export const HAS_TEXT = 1;
export const IN_RUN = 2;
export const HAS_OTHER = 4;
export const FRAME_BYTES = 32;

// value: counts and numbers are float64
export const VALUE_COUNT = 0;
export const VALUE_EMPTY = 8;
export const LEAST_NUMBER = 16;
export const GREATEST_NUMBER = 24;
export const CLASSES = 32;
export const MIN_LENGTH = 36;
export const MAX_LENGTH = 40;
export const WHOLE_DIGITS = 44;
export const MIN_FRACTION = 48;
export const MAX_FRACTION = 52;
export const SKETCH_SIZE = 56;
/** followed by the kind: 0 text, 1 a number, 3 a number of digits only */
export const LEAST_LENGTH = 60;
export const GREATEST_LENGTH = 68;
/** values that are dates with times and have an offset from UTC */
export const WITH_OFFSET = 76;
export const SKETCH = 80;
export const RECENT = 336;
export const LEAST = 592;
export const GREATEST = 1424;
export const VALUE_BYTES = 2256;
