/** Rejects bodies that arrive too slowly: a sender of a byte now and then must not hold a connection, a file and memory for ever. */
import { AppError } from '../errors.ts';

export interface Pace {
  /** bytes that must arrive at least … */
  readonly bytes: number;
  /** … in each stretch of so many milliseconds */
  readonly everyMs: number;
}

/**
 * Passes the same bytes on. Reading fails with AppError `invalid_body` if the body is slower than its pace, which cancels it, or breaks
 * off: a sender that hangs up is no fault of the service.
 */
export function atPace(body: ReadableStream<Uint8Array>, pace: Pace): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let arrived = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = (): void => clearTimeout(timer);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let late = false;
        // Only waiting time counts: a slow reader does not make the sender slow
        timer ??= setTimeout(() => {
          late = true;
          timer = undefined;
          const fault = new AppError('invalid_body', 'the body arrives too slowly');
          controller.error(fault);
          // the reader of the body has the fault; the sender need not take it
          reader.cancel(fault).catch(() => undefined);
        }, pace.everyMs);
        try {
          const { done, value } = await reader.read();
          if (late) return;
          if (done) {
            stop();
            controller.close();
            return;
          }
          arrived += value.byteLength;
          if (arrived >= pace.bytes) {
            arrived = 0;
            stop();
            timer = undefined;
          }
          controller.enqueue(value);
        } catch {
          stop();
          if (!late) controller.error(new AppError('invalid_body', 'the body broke off before its end'));
        }
      },
      async cancel(reason) {
        stop();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
