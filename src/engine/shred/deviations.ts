/** Deviations of documents from the model (unmapped content, values that columns cannot hold, ignored values): counted and sampled per path (docs/decisions/loading/nothing-lost.md). */
import { InputError } from '../diagnostics.ts';
import { clarkName, type QName } from '../model/source-model.ts';
import { utf8Text } from '../xml/utf8.ts';

export interface UnmappedPath {
  readonly xpath: string;
  readonly kind: 'element' | 'attribute' | 'text';
  count: number;
  /** the first content, cut to 200 characters */
  readonly sample: string;
  /** the document of the first, with line and column if they are known */
  readonly where?: string;
}

/** A type that `xsi:type` names but that has no columns of its own: it may need none, or may not exist. */
export interface MentionedType {
  /** XPath of the element */
  readonly xpath: string;
  readonly name: QName;
  count: number;
  /** document, line and column of the first */
  readonly where: string;
}

export interface Deviations {
  readonly paths: ReadonlyMap<string, UnmappedPath>;
  /** columns with values that they cannot hold: name -> count, and the first value */
  readonly unconvertedValues: ReadonlyMap<string, { count: number; readonly sample: string }>;
  readonly namedTypes: ReadonlyMap<string, MentionedType>;
  readonly total: number;
  /** documents that were kept whole, which the total counts too */
  documents: number;
  /** values that the schema knows and leaves out, their mappings being inactive: how many, by path */
  readonly ignored: ReadonlyMap<string, number>;
  /** `values`: how many the content has; an element without any counts as one */
  ignore(xpath: string, values: number): void;
  unmapped(xpath: string, kind: UnmappedPath['kind'], content: Uint8Array, where?: string): void;
  unconverted(column: string, text: string): void;
  /** Calls `where` only for the first occurrence. */
  namedType(xpath: string, name: QName, where: () => string): void;
}

/** the most paths that are counted separately; further ones are counted together */
const maxPaths = 10_000;

export function createDeviations(mode: 'capture' | 'report' | 'fail'): Deviations {
  const paths = new Map<string, UnmappedPath>();
  const unconvertedValues = new Map<string, { count: number; readonly sample: string }>();
  const ignored = new Map<string, number>();
  const namedTypes = new Map<string, MentionedType>();
  let total = 0;
  return {
    paths,
    unconvertedValues,
    ignored,
    namedTypes,
    documents: 0,
    ignore(xpath, values) {
      const path = ignored.size < maxPaths || ignored.has(xpath) ? xpath : '…';
      ignored.set(path, (ignored.get(path) ?? 0) + values);
    },
    get total() {
      return total;
    },
    unmapped(xpath, kind, content, where) {
      const sample = utf8Text(content.subarray(0, 800)).slice(0, 200);
      if (mode === 'fail') {
        throw new InputError({
          code: 'unmapped_content',
          severity: 'error',
          message: `the schema has no place for this ${kind}: ${sample}; load with --unmapped capture to keep it beside the data`,
          path: xpath,
        });
      }
      total += 1;
      const identity = paths.size < maxPaths || paths.has(xpath) ? xpath : '…';
      const known = paths.get(identity);
      const location = where === undefined ? {} : { where };
      if (known === undefined) paths.set(identity, { xpath: identity, kind, count: 1, sample, ...location });
      else known.count += 1;
    },
    namedType(xpath, name, where) {
      const identity = `${clarkName(name)} ${xpath}`;
      const known = namedTypes.get(identity);
      if (known !== undefined) known.count += 1;
      else if (namedTypes.size < maxPaths)
        namedTypes.set(identity, { xpath, name, count: 1, where: where() });
    },
    unconverted(column, text) {
      const known = unconvertedValues.get(column);
      if (known === undefined) unconvertedValues.set(column, { count: 1, sample: text.slice(0, 200) });
      else known.count += 1;
    },
  };
}
