/** The contract of a place for rows. */
import type { RowBatch, RowStore } from '../ports/row-sink.ts';
import { collectCases, expectEqual, type ContractCase } from './cases.ts';

/**
 * The contract that every `RowStore` must satisfy. `open` opens the place of that name, empty at first. Different names are different
 * places; one name may be opened again, also while it is open.
 */
export function rowStoreContract(open: (place: string) => Promise<RowStore>): readonly ContractCase[] {
  let places = 0;
  const { cases, it } = collectCases(() => {
    places += 1;
    return Promise.resolve(`place-${places}`);
  });
  const withStore = async <T>(place: string, work: (store: RowStore) => Promise<T>): Promise<T> => {
    const store = await open(place);
    try {
      return await work(store);
    } finally {
      await store.close?.();
    }
  };
  const stateOf = (place: string): Promise<string | null> => withStore(place, (store) => store.readState());
  const linesOf = (place: string, batch: string): Promise<string> =>
    withStore(place, async (store) => {
      const decoder = new TextDecoder();
      let text = '';
      for await (const bytes of store.readLines(batch)) text += decoder.decode(bytes, { stream: true });
      return text + decoder.decode();
    });
  const change = (place: string, state: string, add: readonly RowBatch[], drop: readonly string[] = []) =>
    withStore(place, (store) => store.change({ state, add, drop }, yes));

  it('has no state before the first change', async (place) => {
    expectEqual('the state of a new store', await stateOf(place), null);
  });

  it('keeps the state and the batches of a change', async (place) => {
    await change(place, '{"n":1}', [orders, countries]);
    expectEqual('the state', await stateOf(place), '{"n":1}');
    expectEqual('the first batch', await linesOf(place, orders.name), textOf(orders));
    expectEqual('the second batch', await linesOf(place, countries.name), textOf(countries));
  });

  it('adds batches to those that are there', async (place) => {
    await change(place, 'first', [orders]);
    await change(place, 'second', [countries]);
    expectEqual('the state', await stateOf(place), 'second');
    expectEqual('the earlier batch', await linesOf(place, orders.name), textOf(orders));
    expectEqual('the later batch', await linesOf(place, countries.name), textOf(countries));
  });

  it('drops batches in the same step', async (place) => {
    await change(place, 'first', [orders, countries]);
    await change(place, 'second', [], [orders.name]);
    expectEqual('the batch that stays', await linesOf(place, countries.name), textOf(countries));
    const left = await linesOf(place, orders.name).catch(() => '');
    expectEqual('the batch that was dropped', left, '');
  });

  it('changes nothing where mayCommit rejects', async (place) => {
    await change(place, 'first', [orders]);
    const refused = new Error('the job is another worker’s');
    const fault = await withStore(place, (store) =>
      store
        .change({ state: 'second', add: [countries], drop: [orders.name] }, () => Promise.reject(refused))
        .then(
          () => null,
          (error: unknown) => error,
        ),
    );
    expectEqual('the rejection', fault, refused);
    expectEqual('the state', await stateOf(place), 'first');
    expectEqual('the batch of before', await linesOf(place, orders.name), textOf(orders));
    expectEqual('the batch that was to come', await linesOf(place, countries.name).catch(() => ''), '');
  });

  it('changes nothing where a batch cannot be read', async (place) => {
    const broken: RowBatch = {
      ...countries,
      // eslint-disable-next-line require-yield
      lines: async function* () {
        throw new Error('the disk is gone');
      },
      // eslint-disable-next-line require-yield
      rows: async function* () {
        throw new Error('the disk is gone');
      },
    };
    const failed = await change(place, 'first', [orders, broken]).then(
      () => false,
      () => true,
    );
    expectEqual('whether the change rejected', failed, true);
    expectEqual('the state', await stateOf(place), null);
    expectEqual('the batch before it', await linesOf(place, orders.name).catch(() => ''), '');
  });

  it('asks mayCommit once, before others can see the change', async (place) => {
    let asked = 0;
    let seen: string | null = 'not asked';
    await withStore(place, (store) =>
      store.change({ state: 'first', add: [orders], drop: [] }, async () => {
        asked += 1;
        seen = await stateOf(place);
      }),
    );
    expectEqual('how often mayCommit was called', asked, 1);
    expectEqual('the state while mayCommit was asked', seen, null);
  });

  it('keeps places apart', async (place) => {
    await change(place, 'first', [orders]);
    expectEqual('the state of another place', await stateOf(`${place}-other`), null);
  });

  it('keeps long batches and values of every kind', async (place) => {
    const long = batch('long.1.jsonl', 'long', manyLines());
    await change(place, 'first', [long]);
    expectEqual('the batch', await linesOf(place, long.name), textOf(long));
  });

  return cases;
}

const yes = (): Promise<void> => Promise.resolve();

const texts = new WeakMap<RowBatch, string>();

function textOf(of: RowBatch): string {
  return texts.get(of)!;
}

function batch(name: string, table: string, lines: readonly string[]): RowBatch {
  const text = lines.map((line) => `${line}\n`).join('');
  const made: RowBatch = {
    name,
    table,
    columns: Object.keys(JSON.parse(lines[0]!) as object).map((column) => ({
      name: column,
      type: { kind: 'text' },
    })),
    rowCount: lines.length,
    async *lines() {
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length; at += 65_536) yield bytes.slice(at, at + 65_536);
    },
    async *rows() {
      for (const line of lines) yield JSON.parse(line) as Record<string, unknown>;
    },
  };
  texts.set(made, text);
  return made;
}

const orders = batch('orders.1-0a1b2c3d.jsonl', 'orders', [
  '{"orders_key":1,"total":12345678901234567.89,"paid":null,"tags":["a","b"]}',
  '{"orders_key":2,"total":0.10,"paid":true,"tags":[]}',
]);

const countries = batch('pays%20visit%C3%A9s.2-4e5f6071.jsonl', 'pays visités', [
  '{"key":"FR","name":"line\\nbreak, \\"quotes\\", \\u0000, 𝄞, é"}',
]);

function manyLines(): string[] {
  return Array.from({ length: 20_000 }, (_, at) =>
    JSON.stringify({ at, text: `value ${at} ${'é'.repeat(at % 50)}`, nothing: null }),
  );
}
