/** Names lists of codes after the simple types that have them. */
import { clarkName, type QName, type SourceModel, type ValueType } from '../model/source-model.ts';

export interface ListName {
  /** name for people */
  readonly local: string;
  /** unique among all lists */
  readonly full: string;
}

/** Returns the name of the type that has these values, or null if it has none. For a list, that of the type of its items. */
export function namedType({ variety, name, itemType, memberTypes = [] }: ValueType): QName | null {
  const inner = variety === 'list' ? itemType : memberTypes.length === 1 ? memberTypes[0] : undefined;
  return (
    (variety === 'list' && inner !== undefined ? namedType(inner) : null) ??
    name ??
    (inner === undefined ? null : namedType(inner))
  );
}

export interface AnonymousTypes {
  /** name of the list of an unnamed type, in an element's content; by the type's index */
  named(type: number): ListName;
  attribute(type: number, localName: string): ListName;
}

/** Types without a name by their path: from a global element (`/order/status`) or from a type that has a name (`Line/status`). */
export function anonymousTypes({ elements, types }: SourceModel): AnonymousTypes {
  let paths: readonly (ListName | undefined)[] | null = null;
  const pathOf = (type: number): ListName => (paths ??= findPaths())[type] ?? { local: '', full: '' };

  function findPaths(): readonly (ListName | undefined)[] {
    const found: (ListName | undefined)[] = types.map(({ name }) =>
      name === null ? undefined : { local: name.localName, full: clarkName(name) },
    );
    const pending = types.flatMap(({ name }, at) => (name === null ? [] : [at]));
    const reach = (type: number, name: ListName): void => {
      if (found[type] !== undefined) return;
      found[type] = name;
      pending.push(type);
    };
    for (const { name, type, global } of elements)
      if (global) reach(type, { local: `/${name.localName}`, full: `/${clarkName(name)}` });
    for (const at of pending)
      for (const { element } of types[at]!.children) {
        const { name, type } = elements[element]!;
        reach(type, below(found[at]!, name.localName));
      }
    return found;
  }

  return {
    named: pathOf,
    attribute: (type, localName) => below(pathOf(type), `@${localName}`),
  };
}

function below({ local, full }: ListName, step: string): ListName {
  return { local: `${local}/${step}`, full: `${full}/${step}` };
}

/** Returns the local name if it is unique. */
export function listNames(names: readonly ListName[]): (name: ListName) => string {
  const fulls = new Map<string, string>();
  const shared = new Set<string>();
  for (const { local, full } of names) {
    if ((fulls.get(local) ?? full) !== full) shared.add(local);
    fulls.set(local, full);
  }
  return ({ local, full }) => (shared.has(local) ? full : local);
}
