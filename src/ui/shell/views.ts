/** Finds the view for an address of the page, from the text after its #. */

/** The element that a view draws into, and the part of the address that it shows. */
export interface ViewContext {
  readonly main: HTMLElement;
  /** aborted when the view is left */
  readonly signal: AbortSignal;
  /** parts of the address: `#/jobs/7` are `jobs` and `7` */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  /** Heads the page and its tab. */
  title(text: string): void;
}

export type View = (context: ViewContext) => void | Promise<void>;

export interface Address {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export function readAddress(hash: string): Address {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  return {
    path: path
      .split('/')
      .filter((part) => part !== '')
      .map(decode),
    query: new URLSearchParams(query),
  };
}

/** Decodes a part of the address; invalid encodings are returned unchanged. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** `#/schemas/7/tables/a%2Fb?l=4` */
export function linkTo(
  path: readonly (string | number)[],
  query: Readonly<Record<string, string | number | null>> = {},
): string {
  const given = Object.entries(query).filter(([, value]) => value !== null);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `#/${path.map((part) => encodeURIComponent(part)).join('/')}${search === '' ? '' : `?${search}`}`;
}
