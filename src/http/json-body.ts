/** Reading a JSON body: size, media type, coding, encoding, depth. Its shape is the operation's own matter. */
import type { Context, MiddlewareHandler } from 'hono';
import { AppError } from '../errors.ts';
import { atPace } from '../service/files/upload.ts';
import { ambiguity, hasMoreValuesThan, isDeeperThan } from '../service/files/strict-json.ts';
import { fixedLimits } from '../config/limits.ts';
import type { AppEnv } from './env.ts';

const jsonType = /^application\/(?:[a-z.-]+\+)?json$/;

/** Reads the body once, for the validator that runs after it (Hono looks into `bodyCache` before it reads the request). */
export function jsonBody(maxBytes: number, mediaType = jsonType): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const bytes = await readLimited(c.req.raw, maxBytes);
    if (bytes.byteLength === 0) throw new AppError('missing_body', 'the operation needs a JSON body');
    checkCoding(c.req.header('Content-Encoding'));
    checkMediaType(c.req.header('Content-Type'), mediaType);
    // Hono declares the cache by the resolved types of its promises.
    (c.req.bodyCache as Record<string, unknown>).text = Promise.resolve(decodeJson(bytes));
    await next();
  };
}

/** The same of an operation that needs none. */
export function optionalJsonBody(maxBytes: number): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const bytes = await readLimited(c.req.raw, maxBytes);
    if (bytes.byteLength === 0) {
      // a server hands over an empty body, which the validator would take for one of no media type, or for JSON that breaks off
      const { url, method } = c.req.raw;
      const headers = new Headers(c.req.raw.headers);
      headers.delete('Content-Type');
      c.req.raw = new Request(url, { method, headers });
    } else {
      checkCoding(c.req.header('Content-Encoding'));
      checkMediaType(c.req.header('Content-Type'), jsonType);
      (c.req.bodyCache as Record<string, unknown>).text = Promise.resolve(decodeJson(bytes));
    }
    await next();
  };
}

/** The text of a body that `jsonBody` has read. */
export function bodyText(c: Context<AppEnv>): Promise<string> {
  return c.req.text();
}

async function readLimited(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = (): AppError =>
    new AppError('payload_too_large', `the body may have at most ${maxBytes} bytes`);
  const declared = Number(request.headers.get('Content-Length') ?? '0');
  if (declared > maxBytes) throw tooLarge();
  if (request.body === null) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let total = 0;
  const reader = atPace(request.body, fixedLimits.jsonPace).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    total += value.byteLength;
    if (total > maxBytes) {
      // the body is refused, however its sender ends
      await reader.cancel().catch(() => undefined);
      throw tooLarge();
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

/** Refuses compressed bodies (RFC 9110 section 15.5.16), because a small body could expand to any size. */
function checkCoding(header: string | undefined): void {
  if (header === undefined || /^\s*(?:identity\s*)?$/i.test(header)) return;
  throw new AppError(
    'unsupported_media_type',
    'compressed request bodies are not accepted: send the body without Content-Encoding',
    {
      headers: { 'Accept-Encoding': 'identity' },
    },
  );
}

function checkMediaType(header: string | undefined, expected: RegExp): void {
  const [type = '', ...parameters] = (header ?? '').split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  const utf8 = charset === undefined || /^"?utf-?8"?$/.test(charset);
  if (!expected.test(type) || !utf8) {
    throw new AppError('unsupported_media_type', 'the body must be application/json in UTF-8', {
      headers: { Accept: 'application/json' },
    });
  }
}

function decodeJson(bytes: Uint8Array): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new AppError('malformed_json', 'the body is not UTF-8');
  }
  if (text.startsWith('\uFEFF'))
    throw new AppError('malformed_json', 'the body starts with a byte order mark, which JSON does not allow');
  if (isDeeperThan(text, fixedLimits.jsonDepth))
    throw new AppError('malformed_json', `the body is nested more than ${fixedLimits.jsonDepth} deep`);
  if (hasMoreValuesThan(text, fixedLimits.jsonValues))
    throw new AppError(
      'malformed_json',
      `the body has more than ${fixedLimits.jsonValues} values and members`,
    );
  try {
    JSON.parse(text);
  } catch {
    throw new AppError('malformed_json', 'the body is not JSON');
  }
  refuseLargeIntegers(text);
  const fault = ambiguity(text);
  if (fault !== null) throw new AppError('malformed_json', `the body ${fault}`);
  return text;
}

/**
 * For operations whose body has objects with arbitrary members: the validator drops members named `__proto__`, a name that nothing has,
 * instead of refusing them.
 */
export async function refuseProto(c: Context<AppEnv>): Promise<void> {
  const text = await bodyText(c);
  if (!/__proto__|\\u005f/i.test(text)) return;
  const pointer = pointerOfProto(JSON.parse(text), '');
  if (pointer === null) return;
  const detail = 'is not a member of this object';
  throw new AppError('invalid_body', `${pointer} ${detail}`, { errors: [{ pointer, detail }] });
}

/** Returns the RFC 6901 pointer of the first such member, or null if there is none. The depth of the body was checked before. */
function pointerOfProto(value: unknown, pointer: string): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const found = name === '__proto__' ? at : pointerOfProto(member, at);
    if (found !== null) return found;
  }
  return null;
}

const maxInt64 = 2n ** 63n - 1n;
/** digits, and a sign */
const longestInt64 = 20;

/** Compares digits as written, because as doubles, 2^63 and the largest id are the same number. */
function refuseLargeIntegers(text: string): void {
  if (!/\d{19}/.test(text)) return;
  const digits = /^-?\d{19,}$/;
  const check = (key: string, value: unknown, { source = '' }: { source?: string } = {}): unknown => {
    if (typeof value !== 'number' || !digits.test(source)) return value;
    // a number of a million digits takes long to read
    const written = source.length > longestInt64 ? null : BigInt(source);
    if (written !== null && written <= maxInt64 && written >= -maxInt64) return value;
    const detail = `${key}: must be an integer from 0 to ${maxInt64}`;
    throw new AppError('invalid_body', detail, { errors: [{ pointer: '', detail }] });
  };
  JSON.parse(text, check);
}
