/** Sends long texts, arrays and records as answers. */
import type { Context } from 'hono';
import type { AppEnv } from './env.ts';

const chunkCharacters = 64 * 1024;
/** Chunks after which other requests have their turn, however fast the client takes them. */
const chunksInTurn = 8;

/** A long array as JSON, written piece by piece as the client takes it. */
export function jsonArray(c: Context<AppEnv>, values: Iterable<unknown>): Response {
  return longText(c, arrayPieces(values), 'application/json');
}

/** A record some of whose members are long arrays; written as `jsonArray` does. */
export function jsonRecord(c: Context<AppEnv>, record: object): Response {
  return longText(c, recordPieces(record), 'application/json');
}

/** Answers with a text in pieces, at the client's pace. */
export function longText(c: Context<AppEnv>, pieces: Iterable<string>, contentType: string): Response {
  return c.body(textStream(pieces), 200, { 'Content-Type': contentType });
}

/** Answers with bytes in chunks, at the client's pace; sends `Content-Length`. */
export function longBytes(
  c: Context<AppEnv>,
  chunks: readonly Uint8Array<ArrayBuffer>[],
  headers: Readonly<Record<string, string>>,
): Response {
  const rest = chunks.values();
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const next = rest.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
    },
    { highWaterMark: 0 },
  );
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return c.body(stream, 200, { 'Content-Length': String(length), ...headers });
}

function* arrayPieces(values: Iterable<unknown>): Generator<string, void, void> {
  let separator = '[';
  for (const value of values) {
    yield separator + JSON.stringify(value);
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

function* recordPieces(record: object): Generator<string, void, void> {
  let separator = '{';
  for (const [name, value] of Object.entries(record)) {
    yield `${separator}${JSON.stringify(name)}:`;
    if (Array.isArray(value)) yield* arrayPieces(value);
    else yield JSON.stringify(value);
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

function textStream(pieces: Iterable<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const rest = pieces[Symbol.iterator]();
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
            if (text !== '') controller.enqueue(encoder.encode(text));
            controller.close();
            return;
          }
          text += next.value;
        }
        controller.enqueue(encoder.encode(text));
      },
    },
    { highWaterMark: 0 },
  );
}
