/**
 * The bytes of packed JSON. All numbers are LEB128 varints unless said otherwise:
 * `version byte, text form byte (0 UTF-8, 1 UTF-16LE), shapes, texts, value`, where
 * - shapes: count, then for each the number of its keys and the text ids of them;
 * - texts: count, for each the id of its prefix + 1 (0: none), for each the length of its rest in UTF-16 units, the byte length of
 *   all rests, all rests one after the other;
 * - value: a tag byte and what follows it.
 */
export const version = 1;

/** First byte of a value. Frequent values are in the byte itself, as ranges. */
export const tags = {
  /** 0x00-0x3f: the integer itself */
  smallInteger: 0x00,
  /** 0x40-0x7f: an object of that shape */
  smallShape: 0x40,
  /** 0x80-0x9f: an array of up to 31 values */
  smallArray: 0x80,
  null: 0xa0,
  false: 0xa1,
  true: 0xa2,
  integer: 0xa3,
  negativeInteger: 0xa4,
  /** 8 bytes, little-endian IEEE 754 */
  double: 0xa5,
  /** text id */
  text: 0xa6,
  /** shape id */
  object: 0xa7,
  /** count */
  array: 0xa8,
  /** count, the byte length of each element, then the elements: each is decoded when it is first looked at */
  indexedArray: 0xa9,
  /** a member of an object: byte length, then the value: decoded when it is first read */
  heldValue: 0xaa,
  /** 0xc0-0xff: text id of 14 bits, the lower 8 in the next byte */
  smallText: 0xc0,
} as const;
