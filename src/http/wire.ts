/** The wire form of a record: the same JSON, without the `readonly` that Zod's types do not carry. */
export type Wire<T> = T extends readonly (infer Item)[]
  ? Wire<Item>[]
  : T extends object
    ? { -readonly [Member in keyof T]: Wire<T[Member]> }
    : T;

/** Types only: nothing is copied. */
export function wire<T>(value: T): Wire<T> {
  return value as Wire<T>;
}
