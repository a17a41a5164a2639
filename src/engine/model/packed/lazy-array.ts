/** Arrays whose elements are made when they are first looked at. */

/** Below so many elements all are made at once: they cost less than what stands in for them. */
const fewElements = 256;

/**
 * An array like any other, but that `make` is asked for an element when somebody reads it, once. Reading an element again costs
 * more than in a plain array: not for innermost loops.
 */
export function lazyArray<T>(length: number, make: (index: number) => T): T[] {
  if (length < fewElements) return Array.from({ length }, (_, index) => make(index));
  const elements: T[] = [];
  for (let index = 0; index < length; index += 1) {
    Object.defineProperty(elements, index, {
      configurable: true,
      enumerable: true,
      get: () => {
        const value = make(index);
        Object.defineProperty(elements, index, {
          configurable: true,
          enumerable: true,
          writable: true,
          value,
        });
        return value;
      },
    });
  }
  return elements;
}
