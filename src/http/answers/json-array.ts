/** Long arrays as answers. */
import type { Context } from 'hono';
import type { AppEnv } from '../env.ts';

const chunkCharacters = 64 * 1024;
/** Chunks after which other requests have their turn, however fast the client takes them. */
const chunksInTurn = 8;

/** A long array as JSON, written piece by piece as the client takes it: its whole text is never held. */
export function jsonArray(c: Context<AppEnv>, values: Iterable<unknown>): Response {
  return c.body(arrayStream(values), 200, { 'Content-Type': 'application/json' });
}

function arrayStream(values: Iterable<unknown>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const rest = values[Symbol.iterator]();
  let separator = '[';
  let chunks = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        chunks += 1;
        if (chunks % chunksInTurn === 0) await new Promise((resolve) => setTimeout(resolve));
        let text = '';
        while (text.length < chunkCharacters) {
          const next = rest.next();
          if (next.done === true) {
            controller.enqueue(encoder.encode(`${text}${separator === '[' ? '[' : ''}]`));
            controller.close();
            return;
          }
          text += separator + JSON.stringify(next.value);
          separator = ',';
        }
        controller.enqueue(encoder.encode(text));
      },
    },
    { highWaterMark: 0 },
  );
}
