/** The child's side of `src/process/look-processes.ts`: requests are lines of JSON on its input, answers lines of its output. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { AppError, type ErrorDetail } from '../errors.ts';

/** The fault of a child, in the form of an AppError; `code` is null for an unexpected fault. */
export interface ChildFault {
  readonly code: string | null;
  readonly message: string;
  /** the places of the request that are wrong; absent: the message names none */
  readonly errors?: readonly ErrorDetail[];
  /** the request's own time limit had passed */
  readonly isTimeout?: boolean;
}

/** Answers requests until the input ends, and then ends the process. `printPart` prints a part of the answer before the rest exists. */
export async function serveRequests<Request>(
  answer: (request: Request, printPart: (part: unknown) => Promise<void>) => Promise<unknown>,
): Promise<never> {
  try {
    // if memory is short, the system ends this process before the service
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // there is no such setting here
  }
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, request } = JSON.parse(line) as { readonly id: number; readonly request: Request };
    void answer(request, (part) => print({ id, part }))
      .then(
        (value) => print({ id, value }),
        (error: unknown) => print({ id, error: faultOf(error) }),
      )
      // the requester is gone
      .catch(() => process.exit(1));
  }
  // connections that rest would keep the process
  process.exit(0);
}

async function print(answer: object): Promise<void> {
  if (!process.stdout.write(`${JSON.stringify(answer)}\n`)) await once(process.stdout, 'drain');
}

function faultOf(error: unknown): ChildFault {
  if (error instanceof AppError && error.code !== 'internal_error')
    return {
      code: error.code,
      message: error.message,
      ...(error.errors.length === 0 ? {} : { errors: error.errors }),
    };
  const isTimeout = error instanceof Error && error.name === 'TimeoutError';
  return {
    code: null,
    isTimeout,
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}
