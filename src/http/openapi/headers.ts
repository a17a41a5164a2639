/** The response headers in the OpenAPI document. Headers that several operations send are components. */
import { apiKeySchemeName } from '../auth.ts';

// a type: an interface has no index signature, which the registry wants
type Header = {
  readonly description: string;
  readonly schema: { readonly type: 'string' | 'integer' };
  readonly example: string | number;
};

function text(description: string, example: string): Header {
  return { description, schema: { type: 'string' }, example };
}

/** Headers of every answer. */
const common: Readonly<Record<string, Header>> = {
  'X-Request-Id': text(
    'Names the request in the log of the service: the id that the request gave, or a new one.',
    '6b0f6f4e-0c5c-4a55-9d5c-3c8b9a7f1d10',
  ),
  'Cache-Control': text('Who may store the answer, and for how long.', 'no-store'),
  'Content-Security-Policy': text(
    'What a browser may load for the answer.',
    "default-src 'none'; frame-ancestors 'none'",
  ),
  'X-Content-Type-Options': text('Browsers do not guess media types.', 'nosniff'),
  'X-Frame-Options': text('No page may frame the answer.', 'DENY'),
  'Referrer-Policy': text('Links do not reveal the address of the page.', 'no-referrer'),
  'Cross-Origin-Resource-Policy': text('Pages of other origins may not embed the answer.', 'same-origin'),
};

/** Headers of every answer to a request with a key. */
const ofKeys: Readonly<Record<string, Header>> = {
  'RateLimit-Policy': text(
    'The limit of requests of a key (draft-ietf-httpapi-ratelimit-headers): at most `q` requests, which are replenished in `w` seconds.',
    '"default";q=200;w=2',
  ),
  RateLimit: text(
    'The rest of that limit: `r` requests may follow at once, and all are replenished after `t` seconds without requests.',
    '"default";r=199;t=1',
  ),
};

/** Headers of answers that have content, or would have it. */
const ofContent: Readonly<Record<string, Header>> = {
  Vary: text('The request headers that the form of the answer depends on.', 'Accept, Accept-Encoding'),
  'Content-Encoding': text('`br` or `gzip`, if `Accept-Encoding` allowed it.', 'gzip'),
};

/** Names of the headers that almost every answer has. */
export const commonHeaderNames: readonly string[] = [...Object.keys(common), ...Object.keys(ofContent)];

/** Headers that say how to repeat a refused request. */
const ofRefusals: Readonly<Record<string, Header>> = {
  'WWW-Authenticate': text('How to authenticate, and the scope that the key lacks.', 'Bearer realm="api"'),
  'Retry-After': {
    description: 'Seconds after which the request may be repeated.',
    schema: { type: 'integer' },
    example: 1,
  },
  Accept: text('The media types that the body may have.', 'application/json'),
  'Accept-Encoding': text('The codings that the body may have.', 'identity'),
};

/** Components of the document. */
export const headerComponents: Readonly<Record<string, Header>> = {
  ...common,
  ...ofKeys,
  ...ofContent,
  ...ofRefusals,
};

/** Headers of refusals by status. */
const byStatus: Readonly<Record<string, readonly (keyof typeof ofRefusals)[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  409: ['Retry-After'],
  415: ['Accept', 'Accept-Encoding'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

interface AnsweringOperation {
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly responses?: Readonly<Record<string, DescribedAnswer>>;
}

interface DescribedAnswer {
  headers?: Readonly<Record<string, unknown>>;
}

/** Adds the headers that follow from the kind of an answer to the answers of an operation; its own headers are declared by its route. */
export function declareHeaders({ security = [], responses = {} }: AnsweringOperation): void {
  const isKeyed = security.length > 0 && security.every((scheme) => apiKeySchemeName in scheme);
  for (const [status, response] of Object.entries(responses)) {
    const names = [
      ...Object.keys(common),
      // a refused key is unknown, and has no limit
      ...(isKeyed && status !== '401' ? Object.keys(ofKeys) : []),
      ...(status === '204' ? [] : Object.keys(ofContent)),
      ...(byStatus[status] ?? []),
    ];
    response.headers = {
      ...response.headers,
      ...Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    };
  }
}
