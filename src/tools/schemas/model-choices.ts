/** What a logical schema is made with, beside its source: level, names, roots. */
import { AppError } from '../../errors.ts';
import type { MetContent } from '../../engine/map/tables/draw-model.ts';
import type { MapLevel, RelationalModel } from '../../engine/model/relational-model.ts';
import type { QName, SourceModel } from '../../engine/model/source-model.ts';
import type { RowElementName } from '../../engine/shred/row-tag/elements.ts';
import type { ToolRequest } from '../../jobs/request/tool-request.ts';
import { extraColumnsOf } from '../../engine/map/creation-options.ts';
import { rootsNamed } from '../../engine/map/chosen-roots.ts';

/** `-g` where nothing says otherwise (docs/decisions/loading/target-decides.md). */
export const defaultMapLevel: MapLevel = 3;

/** What the options say that documents start with, if they do. AppError where the model has no such element. */
export function rootsOf(request: ToolRequest, source: SourceModel): readonly QName[] {
  if (request.root !== undefined) return [elementOf('--root', request.root, source)];
  return request.rowTag === undefined ? [] : [elementOf('--row-tag', request.rowTag, source)];
}

/** An element of the model, one that documents start with before others; AppError `invalid_option` where there is none. */
export function elementOf(option: string, text: string, source: SourceModel): QName {
  const { namespaceUri, localName } = elementName(text, source.namespaces);
  const [root] = rootsNamed(source, [{ namespaceUri: namespaceUri ?? '', localName }]);
  const found =
    source.elements[root ?? -1] ??
    source.elements.find(
      ({ name }) =>
        name.localName === localName && (namespaceUri === null || name.namespaceUri === namespaceUri),
    );
  if (found !== undefined) return found.name;
  const known = source.roots.slice(0, 10).map((at) => source.elements[at]!.name.localName);
  throw new AppError(
    'invalid_option',
    `${option} ${text}: no such element; documents may start with ${known.join(', ')}`,
  );
}

/** `{uri}local`, `prefix:local` with a prefix of the model, or `local`; namespace null: any. */
export function elementName(text: string, namespaces: SourceModel['namespaces']): RowElementName {
  const clark = /^\{([^}]*)\}(.+)$/.exec(text);
  if (clark !== null) return { namespaceUri: clark[1]!, localName: clark[2]! };
  const colon = text.indexOf(':');
  if (colon < 0) return { namespaceUri: null, localName: text };
  return { namespaceUri: namespaces[text.slice(0, colon)] ?? null, localName: text.slice(colon + 1) };
}

export interface ModelChoices {
  readonly mapLevel: MapLevel;
  /** roots beside those of the source model */
  readonly extraRoots?: readonly QName[];
  /** an earlier version: what stands at the same path keeps its name, and new names are made as its were */
  readonly previous?: RelationalModel;
  /** false: names are given as the run's options say, but for those that stood for something else */
  readonly keepNames?: boolean;
  /** false: rows that were dealt out over several tables lie in one where they can */
  readonly keepSplits?: boolean;
  /** see RelationalModel.keepsDefaultNames */
  readonly keepsDefaultNames?: boolean;
  /** what documents held: nothing else is drawn (`--prune`) */
  readonly met?: MetContent | undefined;
  /** columns beside the content of every table, where `-R` gives none */
  readonly extras?: ReturnType<typeof extraColumnsOf>;
}
