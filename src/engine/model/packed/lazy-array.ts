/** Arrays whose elements are made when they are first looked at. */

/** Below so many elements all are made at once: they cost less than what stands in for them. */
const fewElements = 256;

/** by array: what makes an element */
const makers = new WeakMap<readonly unknown[], (index: number) => unknown>();

/** The elements of an array one after the other, for one look at all: those that are made for it are not kept. */
export function* passing<T>(array: readonly T[]): Generator<T, void, void> {
  const make = makers.get(array) as ((index: number) => T) | undefined;
  for (let index = 0; index < array.length; index += 1) {
    const isMade = make === undefined || Object.getOwnPropertyDescriptor(array, index)?.get === undefined;
    yield isMade ? array[index]! : make(index);
  }
}

/**
 * An array like any other, but that `make` is asked for an element when somebody reads it, once. Reading an element again costs
 * more than in a plain array: not for innermost loops.
 */
export function lazyArray<T>(length: number, make: (index: number) => T): T[] {
  if (length < fewElements) return Array.from({ length }, (_, index) => make(index));
  const elements: T[] = [];
  makers.set(elements, make);
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
