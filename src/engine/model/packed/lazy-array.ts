/** Arrays whose elements are made on first access. */

/** Arrays with fewer elements are made at once, because that costs less than the lazy form. */
const fewElements = 256;

interface Maker {
  readonly make: (index: number) => unknown;
  /** a member of an element, for which the element is not made; null: it has to be made */
  readonly member: ((index: number, key: string) => unknown) | null;
}

/** by array: the function that makes an element */
const makers = new WeakMap<readonly unknown[], Maker>();

/** Yields the elements of an array for one pass. Elements that are made for it are not kept. */
export function* passing<T>(array: readonly T[]): Generator<T, void, void> {
  for (let index = 0; index < array.length; index += 1) yield passed(array, index);
}

/** Returns an element for one use. If it is made for that, it is not kept. */
export function passed<T>(array: readonly T[], index: number): T {
  const maker = makers.get(array);
  return maker === undefined || Object.hasOwn(array, index) ? array[index]! : (maker.make(index) as T);
}

/**
 * Returns a member of an element for one use. If the element is made for that, it is not kept, and if possible only that member is
 * decoded.
 */
export function memberOf<T extends object, Key extends keyof T & string>(
  array: readonly T[],
  index: number,
  key: Key,
): T[Key] {
  const member = makers.get(array)?.member ?? null;
  if (member === null || Object.hasOwn(array, index)) return passed(array, index)[key];
  return member(index, key) as T[Key];
}

/** Returns that member of all elements; see `memberOf`. */
export function membersOf<T extends object, Key extends keyof T & string>(
  array: readonly T[],
  key: Key,
): T[Key][] {
  return Array.from({ length: array.length }, (_, index) => memberOf(array, index, key));
}

/**
 * Returns an array that calls `make` once for each element, on first access. An element that has not been read costs one word: it is a
 * hole, and the array's prototype makes the element. Code that uses the array's own keys sees no holes. `member`: implements `memberOf`
 * without making the element.
 */
export function lazyArray<T>(
  length: number,
  make: (index: number) => T,
  member: Maker['member'] = null,
): T[] {
  if (length < fewElements) return Array.from({ length }, (_, index) => make(index));
  const elements: T[] = [];
  elements.length = length;
  makers.set(elements, { make, member });
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
