/** Random decisions out of a list of numbers: a shorter list, or a smaller number, makes a simpler case, so that shrinking works. */
import fc from 'fast-check';

const range = 0x10000;

export class Choices {
  readonly #numbers: readonly number[];
  #next = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** From 0 to `count - 1`; 0 when the numbers are used up. */
  below(count: number): number {
    const number = this.#numbers[this.#next++] ?? 0;
    return Math.floor((number * count) / range);
  }

  between(least: number, greatest: number): number {
    return least + this.below(greatest - least + 1);
  }

  /** Never when the numbers are used up. */
  chance(percent: number): boolean {
    return this.below(100) >= 100 - percent;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError('there is nothing to pick from');
    return item;
  }

  shuffled<Item>(items: readonly Item[]): Item[] {
    const rest = [...items];
    const result: Item[] = [];
    while (rest.length > 0) result.push(...rest.splice(this.below(rest.length), 1));
    return result;
  }

  /** Results of `make`, as many as the numbers say. */
  several<Item>(least: number, greatest: number, make: (index: number) => Item): Item[] {
    return Array.from({ length: this.between(least, greatest) }, (_, index) => make(index));
  }
}

/** Lists of up to `maxLength` numbers for `Choices`: as often long as short. */
export function decisions(maxLength: number): fc.Arbitrary<number[]> {
  return fc.noBias(fc.array(fc.integer({ min: 0, max: range - 1 }), { maxLength, size: 'max' }));
}
