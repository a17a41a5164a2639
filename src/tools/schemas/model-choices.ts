/** The choices for a logical schema, beside its source: level, names, roots. */
import { AppError } from '../../errors.ts';
import type { MetContent } from '../../engine/map/tables/draw-model.ts';
import type { MapLevel, RelationalModel } from '../../engine/model/relational-model.ts';
import { clarkName, type QName, type SourceModel } from '../../engine/model/source-model.ts';
import type { RowElementName } from '../../engine/shred/row-tag/elements.ts';
import type { ToolRequest } from '../../jobs/request/tool-request.ts';
import { extraColumnsOf } from '../../engine/map/creation-options.ts';

/** The default of `-g` (docs/decisions/loading/target-decides.md). */
export const defaultMapLevel: MapLevel = 3;

/** The elements that documents start with, as the options say; none if no option says it. AppError if the model has no such element. */
export function rootsOf(request: ToolRequest, source: SourceModel): readonly QName[] {
  if (request.root !== undefined) return elementsOf('--root', request.root, source);
  return request.rowTag === undefined ? [] : elementsOf('--row-tag', request.rowTag, source);
}

/**
 * The names of the elements of a model that the text of an option means: a name without a namespace means each element of that local
 * name. Of documents (`--root`), those that documents may start with come before others. AppError `invalid_option` if there is none.
 */
export function elementsOf(
  option: '--root' | '--row-tag',
  text: string,
  source: SourceModel,
): readonly QName[] {
  const wanted = requiredName(option, text, source);
  const named = source.elements.flatMap(({ name }) => (isMeant(wanted, name) ? [name] : []));
  const starting = source.roots
    .map((root) => source.elements[root]!.name)
    .filter((name) => isMeant(wanted, name));
  const all = option === '--root' && starting.length > 0 ? starting : [...starting, ...named];
  const found = new Map(all.map((name) => [clarkName(name), name]));
  if (found.size > 0) return [...found.values()];
  const known = source.roots.slice(0, 10).map((at) => source.elements[at]!.name.localName);
  throw new AppError(
    'invalid_option',
    `${option} ${text}: no such element; documents may start with ${known.join(', ')}`,
  );
}

/** Whether an element of this name is one that an option names. */
export function isMeant({ namespaceUri, localName }: RowElementName, name: QName): boolean {
  return localName === name.localName && (namespaceUri === null || namespaceUri === name.namespaceUri);
}

/**
 * The row elements of `--row-tag` in documents of a model. An XSD decides which namespace a name means; documents without one may have
 * rows in several.
 */
export function rowElement(text: string, source: SourceModel): RowElementName {
  const names = elementsOf('--row-tag', text, source);
  return names.length === 1 && source.inferred !== true ? names[0]! : requiredName('--row-tag', text, source);
}

/**
 * `{uri}local`, `prefix:local` with one of these prefixes, or `local`, of any namespace (null). Returns null if the prefix is none of
 * them.
 */
export function elementName(text: string, namespaces: SourceModel['namespaces']): RowElementName | null {
  const clark = /^\{([^}]*)\}(.+)$/.exec(text);
  if (clark !== null) return { namespaceUri: clark[1]!, localName: clark[2]! };
  const prefix = prefixOf(text);
  if (prefix === null) return { namespaceUri: null, localName: text };
  const uri = Object.hasOwn(namespaces, prefix) ? namespaces[prefix] : undefined;
  return uri === undefined ? null : { namespaceUri: uri, localName: text.slice(prefix.length + 1) };
}

/** The prefix of an element's name; null if it has none. */
export function prefixOf(text: string): string | null {
  const colon = text.startsWith('{') ? -1 : text.indexOf(':');
  return colon < 0 ? null : text.slice(0, colon);
}

export function unknownPrefix(option: '--root' | '--row-tag', text: string): AppError {
  const prefix = prefixOf(text)!;
  const local = text.slice(prefix.length + 1);
  return new AppError(
    'invalid_option',
    `${option} ${text}: neither the schema nor the documents declare the prefix ${prefix}; name the namespace itself, as in {urn:o}${local}, or leave the prefix out to mean ${local} in any namespace`,
  );
}

function requiredName(option: '--root' | '--row-tag', text: string, source: SourceModel): RowElementName {
  const name = elementName(text, source.namespaces);
  if (name === null) throw unknownPrefix(option, text);
  return name;
}

export interface ModelChoices {
  readonly mapLevel: MapLevel;
  /** roots beside those of the source model */
  readonly extraRoots?: readonly QName[];
  /** an earlier version: content at the same path keeps its name, and new names follow the same rules */
  readonly previous?: RelationalModel;
  /** false: names follow the run's options, except names of other content */
  readonly keepNames?: boolean;
  /** false: rows that were split over several tables go to one table if possible */
  readonly keepSplits?: boolean;
  /** see RelationalModel.keepsDefaultNames */
  readonly keepsDefaultNames?: boolean;
  /** content of the documents: nothing else is drawn (`--prune`) */
  readonly met?: MetContent | undefined;
  /** columns beside the content of every table, unless `-R` gives others */
  readonly extras?: ReturnType<typeof extraColumnsOf>;
}
