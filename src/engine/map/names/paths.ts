/** Absolute XPaths as the interface shows them: without predicates, and with prefixes only if they are needed. */
import type { QName, SourceModel } from '../../model/source-model.ts';

export interface PathPrinter {
  root(element: number): string;
  child(parent: string, name: QName): string;
  attribute(parent: string, name: QName): string;
}

/**
 * Prints a prefix of the model's `namespaces` only for steps whose namespace is not that of the (first) root. If that namespace and no
 * namespace have the same local name, elements of the latter are `{}local`, and attributes of the former have their prefix.
 */
export function createPathPrinter(model: SourceModel, roots: readonly number[]): PathPrinter {
  const first = roots[0];
  const rootNamespace = first === undefined ? '' : model.elements[first]!.name.namespaceUri;
  const prefixes = new Map(Object.entries(model.namespaces).map(([prefix, uri]) => [uri, prefix]));
  const elementsInBoth = localsInBoth(model.elements, rootNamespace);
  const attributes = rootNamespace === '' ? [] : model.types.flatMap((type) => type.attributes);
  const attributesInBoth = localsInBoth(attributes, rootNamespace);
  const prefixed = ({ namespaceUri, localName }: QName): string => {
    const prefix = prefixes.get(namespaceUri);
    return prefix === undefined ? localName : `${prefix}:${localName}`;
  };
  const step = (name: QName): string => {
    const { namespaceUri, localName } = name;
    if (namespaceUri === '') return elementsInBoth.has(localName) ? `{}${localName}` : localName;
    return namespaceUri === rootNamespace ? localName : prefixed(name);
  };
  const attributeStep = (name: QName): string => {
    const { namespaceUri, localName } = name;
    const isPlain =
      namespaceUri === '' || (namespaceUri === rootNamespace && !attributesInBoth.has(localName));
    return isPlain ? localName : prefixed(name);
  };
  return {
    root: (element) => `/${step(model.elements[element]!.name)}`,
    child: (parent, name) => `${parent}/${step(name)}`,
    attribute: (parent, name) => `${parent}/@${attributeStep(name)}`,
  };
}

/** Local names that occur both in no namespace and in `uri`. */
function localsInBoth(declarations: readonly { readonly name: QName }[], uri: string): ReadonlySet<string> {
  if (uri === '') return new Set();
  const bare = new Set<string>();
  const qualified = new Set<string>();
  for (const { name } of declarations) {
    if (name.namespaceUri === '') bare.add(name.localName);
    else if (name.namespaceUri === uri) qualified.add(name.localName);
  }
  return bare.intersection(qualified);
}

// Paths that identify the use of the source that a table or column has, and that are the same in every version of a model. They start at
// the root element, or at a type (`/(type Party)/name`) whose rows share one table whatever path leads to them. They are printed for
// comparison and not for people, so that no two names of a model look the same.

/** The namespaces that names are printed with: the prefixes of a model, and the namespace of its first root, which needs no prefix. */
export interface UseNamespaces {
  readonly root: string;
  readonly prefixes: Readonly<Record<string, string>>;
}

export interface UsePrinter {
  /** `local`, `prefix:local`, or `{}local` for a name without a namespace if the root has one */
  element(name: QName): string;
  /** `@local` without a namespace, `@:local` in that of the root, `@prefix:local` */
  attribute(name: QName): string;
}

export function namespacesOf({
  roots,
  namespaces,
}: {
  readonly roots: readonly { readonly name: QName }[];
  readonly namespaces: Readonly<Record<string, string>>;
}): UseNamespaces {
  return { root: roots[0]?.name.namespaceUri ?? '', prefixes: namespaces };
}

export function createUsePrinter({ root, prefixes }: UseNamespaces): UsePrinter {
  const prefixOf = new Map(Object.entries(prefixes).map(([prefix, uri]) => [uri, prefix]));
  const prefixed = ({ namespaceUri, localName }: QName): string => {
    const prefix = prefixOf.get(namespaceUri);
    return prefix === undefined
      ? `{${encodeURIComponent(namespaceUri)}}${localName}`
      : `${prefix}:${localName}`;
  };
  return {
    element: (name) => {
      if (name.namespaceUri === root) return name.localName;
      return name.namespaceUri === '' ? `{}${name.localName}` : prefixed(name);
    },
    attribute: (name) => {
      if (name.namespaceUri === '') return `@${name.localName}`;
      return name.namespaceUri === root ? `@:${name.localName}` : `@${prefixed(name)}`;
    },
  };
}

/**
 * Maps a namespace of `earlier` to that of `later`: the same one or, if neither version has the other's, the one that replaced it as the
 * root's namespace or under its prefix (a standard's next version).
 */
export function namespaceCounterpart(earlier: UseNamespaces, later: UseNamespaces): (uri: string) => string {
  const known = (of: UseNamespaces): Set<string> => new Set(['', of.root, ...Object.values(of.prefixes)]);
  const [before, after] = [known(earlier), known(later)];
  const found = new Map<string, string>();
  const find = (uri: string): string => {
    if (after.has(uri)) return uri;
    if (uri === earlier.root) return before.has(later.root) ? uri : later.root;
    const prefix = Object.keys(earlier.prefixes).find((candidate) => earlier.prefixes[candidate] === uri);
    const next = prefix === undefined ? undefined : later.prefixes[prefix];
    return next === undefined || before.has(next) ? uri : next;
  };
  return (uri) => {
    let next = found.get(uri);
    if (next === undefined) found.set(uri, (next = find(uri)));
    return next;
  };
}

/** Matches a step's printed name, with the text around it: `@`, `(type `, `)`. */
const printedName = /(@?)(?:\{([^}]*)\}|([^\s/@(){}:]*):)?([^\s/@(){}:]+)(?=[/)\s]|$)/g;
const words = /^\((?:type|group|head|element|as|text|any|items|role)\b/;

/** Returns a function that rewrites paths of `earlier` in the form in which `later` prints them. */
export function useTranslation(earlier: UseNamespaces, later: UseNamespaces): (path: string) => string {
  const counterpart = namespaceCounterpart(earlier, later);
  const printer = createUsePrinter(later);
  const steps = new Map<string, string>();
  const uriOf = (mark: string, braced: string | undefined, prefix: string | undefined): string => {
    if (braced !== undefined) return decodeURIComponent(braced);
    if (prefix === undefined) return mark === '@' ? '' : earlier.root;
    return prefix === '' ? earlier.root : (earlier.prefixes[prefix] ?? '');
  };
  const translateName = (text: string): string =>
    text.replace(
      printedName,
      (_, mark: string, braced: string | undefined, prefix: string | undefined, localName: string) => {
        const name = { namespaceUri: counterpart(uriOf(mark, braced, prefix)), localName };
        return mark === '@' ? printer.attribute(name) : printer.element(name);
      },
    );
  const translateStep = (step: string): string => {
    const word = words.exec(step)?.[0] ?? '';
    return word + translateName(step.slice(word.length));
  };
  if (sameNamespaces(earlier, later)) return (path) => path;
  // the text before the first slash is not a step but the role of a use
  return (path) =>
    path
      .split('/')
      .map((step, at) => {
        if (at === 0) return step;
        let next = steps.get(step);
        if (next === undefined) steps.set(step, (next = translateStep(step)));
        return next;
      })
      .join('/');
}

function sameNamespaces(a: UseNamespaces, b: UseNamespaces): boolean {
  return a.root === b.root && Object.entries(a.prefixes).every(([prefix, uri]) => b.prefixes[prefix] === uri);
}
