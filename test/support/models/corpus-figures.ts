/** What those who judge a model count, over the XSD sets of the corpus, each pruned by some of its documents. */
import type { MapLevel } from '../../../src/engine/model/relational-model.ts';
import { readCorpus } from '../corpus.ts';
import { corpusGroups, groupSource } from '../round-trip/corpus.ts';
import { modelFigures, prunedModel, type ModelFigures } from './figures.ts';

/** shares of all names that are to be stayed below; 0: none at all */
export const goals = {
  tablesWithoutDocument: 0,
  tablesWithoutRows: 0,
  keysWithoutIndex: 0,
  hashedNames: 0.01,
  presenceColumns: 0.03,
  emptyColumns: 0.08,
  longNames: 0.03,
} as const satisfies Partial<Record<keyof ModelFigures, number>>;

export const counted = Object.keys(goals) as (keyof typeof goals)[];

export interface SetFigures {
  /** its first file */
  readonly set: string;
  readonly figures: ModelFigures;
}

/** `most`: documents of each set. `corpus`: one of the manifest; absent: all. */
export function figuresOfCorpus(level: MapLevel, most: number, corpus?: string): SetFigures[] {
  return corpusGroups()
    .filter((group) => group.xsd !== null && (corpus ?? group.corpus) === group.corpus)
    .map((group) => {
      const documents = group.documents.slice(0, most).map((name) => readCorpus(name));
      const model = prunedModel(groupSource(group).source, level, documents);
      return {
        set: group.xsd!.slice(group.xsd!.lastIndexOf('/') + 1),
        figures: modelFigures(model, documents),
      };
    });
}

export interface CountedFigure {
  readonly name: (typeof counted)[number];
  readonly count: number;
  /** of the names of tables and columns */
  readonly share: number;
  readonly isMet: boolean;
}

export function totalFigures(sets: readonly SetFigures[]): {
  readonly tables: number;
  readonly columns: number;
  readonly counted: readonly CountedFigure[];
} {
  const total = (count: (figures: ModelFigures) => number): number =>
    sets.reduce((sum, { figures }) => sum + count(figures), 0);
  const [tables, columns] = [total((one) => one.tables), total((one) => one.columns)];
  return {
    tables,
    columns,
    counted: counted.map((name) => {
      const count = total((figures) => figures[name].length);
      const share = count / Math.max(1, tables + columns);
      return { name, count, share, isMet: goals[name] === 0 ? count === 0 : share < goals[name] };
    }),
  };
}
