/** Arrays whose elements are made when they are first looked at. */

/** Below so many elements all are made at once: they cost less than what stands in for them. */
const fewElements = 256;

/** by array: what makes an element */
const makers = new WeakMap<readonly unknown[], (index: number) => unknown>();

/** The elements of an array one after the other, for one look at all: those that are made for it are not kept. */
export function* passing<T>(array: readonly T[]): Generator<T, void, void> {
  for (let index = 0; index < array.length; index += 1) yield passed(array, index);
}

/** An element for one look: where it is made for it, it is not kept. */
export function passed<T>(array: readonly T[], index: number): T {
  const make = makers.get(array) as ((index: number) => T) | undefined;
  return make === undefined || Object.hasOwn(array, index) ? array[index]! : make(index);
}

/**
 * An array like any other, but that `make` is asked for an element when somebody reads it, once. What nobody has read yet costs the array
 * a word: it is a hole, behind which stands a prototype that makes it. What goes by an array's own keys sees no holes.
 */
export function lazyArray<T>(length: number, make: (index: number) => T): T[] {
  if (length < fewElements) return Array.from({ length }, (_, index) => make(index));
  const elements: T[] = [];
  elements.length = length;
  makers.set(elements, make);
  const isIndex = (key: string | symbol): key is string => {
    const index = typeof key === 'string' ? Number(key) : -1;
    return index >= 0 && index < length && String(index) === key;
  };
  Object.setPrototypeOf(
    elements,
    new Proxy(Array.prototype, {
      get(prototype, key) {
        if (!isIndex(key)) return Reflect.get(prototype, key) as unknown;
        const value = make(Number(key));
        Object.defineProperty(elements, key, { configurable: true, enumerable: true, writable: true, value });
        return value;
      },
      has: (prototype, key) => isIndex(key) || Reflect.has(prototype, key),
    }),
  );
  return elements;
}
