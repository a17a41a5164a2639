/**
 * `npm run model-figures`: what a careful data modeller would look at first, counted over the XSD sets of the corpus, each pruned by up to four of its
 * documents.
 *
 *   --corpus NAME    one corpus of the manifest
 *   --levels 1,3     map levels (3)
 *   --documents N    documents of each set (4)
 *   --list FIGURE    the names that a figure counts: hashedNames, presenceColumns, emptyColumns, longNames, …
 *
 * The corpus lies beside the project (CORPUS_DIR). Exit code 1 when a goal is missed.
 */
import type { MapLevel } from '../src/engine/model/relational-model.ts';
import {
  counted,
  figuresOfCorpus,
  goals,
  totalFigures,
  type SetFigures,
} from '../test/support/models/corpus-figures.ts';
import { formatTable } from './demo/text-table.ts';
import { scriptOptions } from './options.ts';

const options = scriptOptions(import.meta.filename, {
  corpus: { type: 'string' },
  levels: { type: 'string', default: '3' },
  documents: { type: 'string', default: '4' },
  list: { type: 'string' },
});

if (options.list !== undefined && !Object.hasOwn(goals, options.list))
  throw new Error(`--list takes one of ${counted.join(', ')}`);
let missed = 0;
for (const level of options.levels.split(','))
  report(level, figuresOfCorpus(Number(level) as MapLevel, Number(options.documents), options.corpus));
process.exitCode = missed === 0 ? 0 : 1;

function report(level: string, sets: readonly SetFigures[]): void {
  const rows = sets.map(({ set, figures }) => ({
    set,
    tables: figures.tables,
    columns: figures.columns,
    keys: figures.foreignKeys,
    ...Object.fromEntries(counted.map((name) => [name, figures[name].length])),
    tablesWithoutRows: figures.tablesWithoutRows.length,
    maxParentKeys: `${figures.maxParentKeys.count} ${figures.maxParentKeys.table}`,
  }));
  console.log(`level ${level}`);
  for (const line of formatTable(rows)) console.log(line);
  if (sets.length === 0) {
    console.log('there is no such corpus: set CORPUS_DIR to where MANIFEST.tsv lies');
    missed += 1;
  }
  const totals = totalFigures(sets);
  console.log(`\n${totals.tables} tables, ${totals.columns} columns`);
  for (const { name, count, share, isMet } of totals.counted) {
    if (!isMet) missed += 1;
    const goal = goals[name] === 0 ? '0' : `< ${100 * goals[name]} %`;
    console.log(`${name}: ${count} (${(100 * share).toFixed(1)} %), goal ${goal}${isMet ? '' : ', missed'}`);
  }
  for (const { set, figures } of sets)
    for (const name of counted.filter((one) => one === options.list))
      for (const one of figures[name]) console.log(`${set}: ${one}`);
}
