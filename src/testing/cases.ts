/** Cases of contracts, for any test runner, and their assertions. */

export interface ContractCase {
  readonly name: string;
  /** Rejects with an Error that says what was expected. */
  readonly run: () => Promise<void>;
}

interface CollectedCases<Subject> {
  readonly cases: ContractCase[];
  /** Adds a case. */
  it(name: string, run: (subject: Subject) => Promise<void>): void;
}

/** `open`: makes the subject of a case when it runs. `close`: called when it has ended, however it did. */
export function collectCases<Subject>(
  open: () => Promise<Subject>,
  close?: (subject: Subject) => Promise<void>,
): CollectedCases<Subject> {
  const cases: ContractCase[] = [];
  return {
    cases,
    it(name, run) {
      cases.push({
        name,
        run: async () => {
          const subject = await open();
          try {
            await run(subject);
          } finally {
            await close?.(subject);
          }
        },
      });
    },
  };
}

export function expectEqual(what: string, found: unknown, expected: unknown): void {
  if (Object.is(found, expected)) return;
  throw new Error(`${what}: expected ${shown(expected)}, found ${shown(found)}`);
}

/** Like `expectEqual`, for plain data. */
export function expectSame(what: string, found: unknown, expected: unknown): void {
  expectEqual(what, JSON.stringify(found), JSON.stringify(expected));
}

/** The work must reject with an error that has this `code`, such as an AppError. */
export async function expectCode(what: string, work: Promise<unknown>, code: string): Promise<void> {
  const end = await work.then(
    () => 'no error',
    (error: unknown) => (error as { code?: unknown } | null)?.code ?? error,
  );
  expectEqual(`the code of the error of ${what}`, end, code);
}

/** The work must reject. */
export async function expectRejection(what: string, work: Promise<unknown>): Promise<void> {
  const isRejected = await work.then(
    () => false,
    () => true,
  );
  expectEqual(`whether ${what} rejects`, isRejected, true);
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
