/**
 * The same orders, replaced and taken away again and again, by `-S m` and by dlt (PyPI): its delete-insert for what is there, its SCD2 for what was.
 * Both are held against a model in memory, ours by the rows and by the documents that are written back.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { isHere, needs, skipFor } from '../../support/needs.ts';
import { mariadbParts } from '../../support/servers/mariadb.ts';
import { eventually } from '../../support/service/waiting.ts';
import { firstLine, pythonProgram } from '../../support/tool-cache.ts';
import { createDice, expectSame, mergeFolder, orderModel, written } from './orders.ts';
import { openMergeTargets, type MergeTargetKind, type MergeTargets } from './targets.ts';

const dlt = 'dlt[duckdb]==1.31.0';
const script = fileURLToPath(new URL('dlt-oracle.py', import.meta.url));

interface Part {
  readonly no: number;
  readonly parts: readonly Part[];
}
interface Order {
  readonly id: string;
  readonly customer: string;
  readonly tags: readonly string[];
  readonly lines: readonly { readonly quantity: string; readonly parts: readonly Part[] }[];
}

/** `current`: all that is there after it. What is not among the documents of a whole round is gone. */
interface Round {
  readonly isWhole: boolean;
  readonly documents: readonly Order[];
  readonly deleted: readonly string[];
  readonly current: readonly Order[];
}

/** Keys that are alike, and different ones: a database that compares them as people do takes one document for another. */
const likes = [
  (no: number) => `order ${no}`,
  (no: number) => `ORDER ${no}`,
  (no: number) => `order  ${no}`,
  (no: number) => `ordér ${no}`,
  (no: number) => `orde\u0301r ${no}`,
  (no: number) => `order '${no}' \\' -- %_`,
  (no: number) => `straße ${no} 😀`,
  (no: number) => `strasse ${no} 😁`,
];

/** The same in every run. `count`: documents of a round. */
function storyOf(rounds: number, count: number): readonly Round[] {
  const dice = createDice(4711);
  const part = (depth: number): Part => ({
    no: dice(1000) - 500,
    parts: depth === 0 ? [] : Array.from({ length: dice(3) }, () => part(depth - 1)),
  });
  const order = (id: string): Order => ({
    id,
    customer: `customer ${dice(50)}`,
    tags: Array.from({ length: dice(3) }, () => `t${dice(5)}`),
    lines: Array.from({ length: dice(4) }, () => ({
      quantity: `${dice(100)}.${dice(9) + 1}`,
      parts: Array.from({ length: dice(3) }, () => part(1)),
    })),
  });
  const current = new Map<string, Order>();
  const earlier = new Map<string, Order>();
  return Array.from({ length: rounds }, (_, round): Round => {
    const isWhole = round % 3 === 2;
    const documents = new Map<string, Order>(isWhole ? current : []);
    for (let left = count; left > 0; left -= 1) {
      const id = likes[dice(likes.length)]!(dice(Math.ceil(count / 6)));
      const kind = dice(10);
      // as it is, as it once was, or another
      const known = kind === 0 ? current.get(id) : kind === 1 ? earlier.get(id) : undefined;
      documents.set(id, known ?? order(id));
    }
    const all = [...current.keys()];
    const deleted = isWhole ? all.filter((_, at) => at % 5 === round % 5) : [];
    for (const id of deleted) documents.delete(id);
    for (const [id, one] of current) earlier.set(id, one);
    for (const id of deleted) current.delete(id);
    for (const [id, one] of documents) current.set(id, one);
    return { isWhole, documents: [...documents.values()], deleted, current: [...current.values()] };
  });
}

function xmlOf({ id, customer, tags, lines }: Order): string {
  const part = ({ no, parts }: Part): string => `<part no="${no}">${parts.map(part).join('')}</part>`;
  const inner = lines.map(
    ({ quantity, parts }) => `<line><quantity>${quantity}</quantity>${parts.map(part).join('')}</line>`,
  );
  const list = tags.length === 0 ? '' : `<tags>${tags.join(' ')}</tags>`;
  return `<order id="${id}"><customer>${customer}</customer>${list}${inner.join('')}</order>`;
}

const textsOf = (orders: readonly Order[]): ReadonlyMap<string, string> =>
  new Map(orders.map((order) => [order.id, xmlOf(order)]));
const sorted = (orders: readonly Order[]): readonly Order[] =>
  orders.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));

/** 1,000 documents, or a few of them; and rounds of targets that take long */
const [rounds, perRound, fewer] = isHere('whole run') ? [25, 40, 9] : [4, 12, 3];
const otherKinds = ['SQLite', 'DuckDB', 'Delta', 'Delta and Iceberg'] as const;
const kinds: readonly (readonly [MergeTargetKind, number])[] = [
  ['PostgreSQL', rounds],
  ['MariaDB', fewer],
  // test/contracts/merge/every-target.test.ts compares the other targets with the same model
  ...(isHere('whole run') ? otherKinds.map((kind) => [kind, fewer] as const) : []),
];

/** By round: what is there after it, and what was there at its time. */
interface Oracle {
  readonly replaced: readonly (readonly Order[])[];
  readonly moments: readonly (readonly Order[])[];
}

describe('merges are those of dlt', { timeout: 900_000 }, () => {
  const story = storyOf(rounds, perRound);
  let targets: MergeTargets;
  let folders: string;
  /** null: dlt cannot be had */
  let oracle: Oracle | null = null;
  let lack = '';

  beforeAll(async () => {
    folders = await mkdtemp(join(tmpdir(), 'dlt-'));
    const python = await pythonProgram(dlt, 'python').catch((error: unknown) => {
      lack = firstLine(error);
      return null;
    });
    if (python === null) return;
    await writeFile(join(folders, 'rounds.json'), JSON.stringify(story));
    const { stdout } = await promisify(execFile)(python, [script, folders], { maxBuffer: 2 ** 28 });
    oracle = JSON.parse(stdout) as Oracle;
    targets = await openMergeTargets(['replaced', 'kept']);
  }, 600_000);
  afterAll(async () => {
    await targets?.end();
    await rm(folders, { recursive: true, force: true });
  });

  const oracleOr = (context: TestContext): Oracle => oracle ?? skipFor(context, 'dlt', lack);

  it('of which dlt makes what a model in memory does', (context) => {
    const { replaced, moments } = oracleOr(context);
    for (const [round, { current }] of story.entries()) {
      expect(sorted(replaced[round]!)).toEqual(sorted(current));
      expect(sorted(moments[round]!)).toEqual(sorted(current));
    }
    expect(story.flatMap(({ deleted }) => deleted).length).toBeGreaterThan(0);
  });

  for (const [kind, count] of kinds)
    it.for(['replaced', 'kept'] as const)(
      `into ${kind}: %s`,
      kind === 'MariaDB' ? needs(mariadbParts) : {},
      async (what, context) => {
        const { replaced, moments } = oracleOr(context);
        const target = targets.target(kind, what);
        const known = new Map<string, string>();
        const times: string[] = [];
        for (const [round, { documents, deleted, isWhole }] of story.slice(0, count).entries()) {
          const folder = await mkdtemp(join(folders, 'inbox-'));
          const texts = textsOf(documents);
          for (const [at, text] of [...texts.values()].entries())
            await writeFile(join(folder, `${round}-${at}.xml`), text);
          const present = [...texts].filter(([id]) => known.has(id));
          const unchanged = present.filter(([id, text]) => known.get(id) === text).length;
          const merged = await mergeFolder(target, orderModel, folder, round + 1, {
            ...(what === 'kept' ? { history: true as const } : {}),
            ...(isWhole ? { deleteMissing: true as const } : {}),
          });
          expect([merged.unchanged, merged.merged]).toMatchObject([
            unchanged,
            { replaced: present.length - unchanged, deleted: deleted.length },
          ]);
          for (const id of deleted) known.delete(id);
          for (const [id, text] of texts) known.set(id, text);
          times.push(await nextMillisecond());
          await nextMillisecond();
          await rm(folder, { recursive: true });
        }
        const read = (at?: string) =>
          written(target.createSource(), orderModel, ...(at === undefined ? [] : [{ at }]));
        expectSame(await read(), textsOf(replaced[count - 1]!));
        if (what === 'replaced') return;
        const last = replaced[count - 1]!;
        expect([await target.count('order_current'), await target.count('line_current')]).toEqual([
          last.length,
          last.flatMap(({ lines }) => lines).length,
        ]);
        for (const [round, at] of [...times.entries()].slice(-10))
          expectSame(await read(at), textsOf(moments[round]!));
      },
    );
});

/** A time that no other event of this machine has, of the moment when it is answered. */
async function nextMillisecond(): Promise<string> {
  const before = Date.now();
  return eventually(
    'the clock goes on',
    () => (Date.now() > before + 1 ? new Date(before + 1).toISOString() : null),
    1,
  );
}
