/** Compresses answers in a coding that the client accepts (RFC 9110 section 12.5.3). */
import type { MiddlewareHandler } from 'hono';
import { parseAccept } from 'hono/utils/accept';
import { COMPRESSIBLE_CONTENT_TYPE_REGEX } from 'hono/utils/compress';
import type { Coding, Compressor } from '../ports/network.ts';
import type { AppEnv } from './env.ts';

/** Below this number of bytes, compressing costs more than it saves. */
const smallest = 1024;

function isCompressible(contentType: string): boolean {
  return COMPRESSIBLE_CONTENT_TYPE_REGEX.test(contentType) || /^application\/yaml\b/.test(contentType);
}

/** Returns the coding that `Accept-Encoding` prefers among `offered`, which are in the server's order; null for none. */
export function chooseCoding(header: string | undefined, offered: readonly Coding[]): Coding | null {
  if (header === undefined) return null;
  const accepted = new Map(parseAccept(header).map(({ type, q }) => [type.toLowerCase(), q]));
  let best: { readonly coding: Coding; readonly q: number } | null = null;
  for (const coding of offered) {
    const q = accepted.get(coding) ?? accepted.get('*') ?? 0;
    if (q > 0 && q > (best?.q ?? 0)) best = { coding, q };
  }
  return best?.coding ?? null;
}

/**
 * Compresses text as the client takes it, and content of the program once. Left alone are answers that are short, compressed already or
 * parts of a file, files that parts can be asked of, and server-sent events. `compressor`: undefined if the runtime compresses.
 */
export function compressed(compressor: Compressor | undefined): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    await next();
    if (compressor === undefined) return;
    const { headers, status } = c.res;
    // 304 has no type: it has the `Vary` of all answers with a tag
    if (headers.has('ETag')) varyByCoding(headers);
    if (
      status === 304 ||
      !isCompressible(headers.get('Content-Type') ?? '') ||
      headers.has('Content-Encoding') ||
      headers.has('Content-Range') ||
      headers.has('Accept-Ranges') ||
      /\bno-transform\b/i.test(headers.get('Cache-Control') ?? '') ||
      Number(headers.get('Content-Length') ?? smallest) < smallest
    )
      return;
    varyByCoding(headers);
    const coding = chooseCoding(c.req.header('Accept-Encoding'), compressor.codings);
    if (coding === null || c.req.method === 'HEAD' || c.res.body === null) return;
    const content = c.get('staticContent');
    if (content !== undefined && status === 200) {
      if (content.bytes.length < smallest) return;
      const bytes = await content.compressed(compressor, coding);
      c.res = new Response(bytes, c.res);
      c.res.headers.set('Content-Length', String(bytes.length));
    } else {
      const body = await readStart(c.res.body);
      if (body instanceof Uint8Array) {
        c.res = new Response(body, c.res);
        return;
      }
      c.res = new Response(body.pipeThrough(compressor.stream(coding)), c.res);
      c.res.headers.delete('Content-Length');
    }
    c.res.headers.set('Content-Encoding', coding);
  };
}

function varyByCoding(headers: Headers): void {
  const vary = headers.get('Vary');
  if (vary === null) headers.set('Vary', 'Accept-Encoding');
  else if (!/(?:^|,)\s*(?:\*|accept-encoding)\s*(?:,|$)/i.test(vary))
    headers.set('Vary', `${vary}, Accept-Encoding`);
}

/** Reads `smallest` bytes of a body. Returns the whole of a body that is shorter, and otherwise a stream of all its bytes. */
async function readStart(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>> {
  const reader = body.getReader();
  const start: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  while (size < smallest) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(start).arrayBuffer());
    start.push(value);
    size += value.length;
  }
  return new ReadableStream(
    {
      async pull(controller) {
        const chunk = start.shift();
        if (chunk !== undefined) return controller.enqueue(chunk);
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
