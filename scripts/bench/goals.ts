/** What the engine is meant to reach on any machine: ratios of one run, and few absolute bounds. */
import { contestants as names } from './names.ts';
import type { Goal, Results } from './report.ts';

const lxml = 'lxml iterparse + COPY';

const atLeast = (what: string, bound: number, of: string, value: number | null): Goal => ({
  what,
  goal: `≥ ${bound} × ${of}`,
  value,
  unit: '×',
  met: (found) => found >= bound,
});
const atMost = (what: string, bound: number, unit: Goal['unit'], value: number | null, of = ''): Goal => ({
  what,
  goal: `≤ ${bound} ${unit}${of}`,
  value,
  unit,
  met: (found) => found <= bound,
});

/** `parser`: what stands for libexpat. */
export function goalsOf(results: Results, parser: string): Goal[] {
  const ratio = (
    over: readonly [string, string],
    under: readonly [string, string],
    of: 'rate' | 'seconds' | 'cpuSeconds' = 'rate',
  ): number | null => {
    const [a, b] = [results[of](...over), results[of](...under)];
    return a === null || b === null ? null : a / b;
  };
  const tokenise = (shape: string): number | null => ratio([names.tokenise, shape], [parser, shape]);
  const element = 'element';
  return [
    atLeast('tokenise, element-heavy', 4, 'libexpat', tokenise(element)),
    atLeast('tokenise, attribute-heavy', 5, 'libexpat', tokenise('attribute')),
    atLeast('tokenise, text-heavy', 3, 'libexpat', tokenise('text')),
    atLeast('XML to COPY bytes', 3, 'libexpat alone', ratio([names.copyBytes, element], [parser, element])),
    atLeast(
      'XML to PostgreSQL',
      0.9,
      'COPY alone, one connection',
      ratio([names.load, element], [names.copyAlone, element]),
    ),
    atLeast(
      'XML to PostgreSQL',
      0.9,
      'COPY alone, tables at once',
      ratio([names.load, element], [names.copyAtOnce, element]),
    ),
    atLeast('XML to PostgreSQL', 15, 'lxml + COPY', ratio([names.load, element], [lxml, element])),
    atLeast('XML to PostgreSQL', 50, 'xml2db', ratio([names.load, element], ['xml2db', element])),
    atLeast(
      'XML to MariaDB',
      0.9,
      'LOAD DATA LOCAL INFILE alone',
      ratio([names.mariadb, element], [names.loadData, element]),
    ),
    atLeast(
      'XML to MariaDB, processor time',
      0.9,
      'LOAD DATA LOCAL INFILE alone',
      ratio([names.loadData, element], [names.mariadb, element], 'cpuSeconds'),
    ),
    atLeast(
      'XML to SQLite',
      0.8,
      '.import of the SQLite shell',
      ratio([names.sqlite, element], [names.sqliteImport, element]),
    ),
    atLeast(
      'XML to SQLite, processor time',
      0.8,
      '.import of the SQLite shell',
      ratio([names.sqliteImport, element], [names.sqlite, element], 'cpuSeconds'),
    ),
    atLeast(
      'the kernel for content',
      1.5,
      'without it',
      ratio([names.tokenise, element], [names.plain, element]),
    ),
    atLeast(
      'the kernel for rows',
      1.5,
      'without it',
      ratio([names.copyBytes, element], [names.plainCopyBytes, element]),
    ),
    atLeast(
      'the kernel for statistics',
      1.5,
      'without it',
      ratio([names.statistics, element], [names.plainStatistics, element]),
    ),
    atMost(
      'infer, then convert',
      1.6,
      '×',
      ratio([names.infer, element], [names.load, element], 'seconds'),
      ' with a known model',
    ),
    atLeast(
      'PostgreSQL to XML',
      0.6,
      'XML to PostgreSQL',
      ratio([names.writeBack, element], [names.load, element]),
    ),
    atLeast('XML to Parquet', 0.8, 'XML to TSV', ratio([names.parquet, element], [names.tsv, element])),
    atLeast('XML to JSON Lines', 0.8, 'XML to TSV', ratio([names.jsonLines, element], [names.tsv, element])),
    atMost('size of Parquet files', 1, '×', results.parquetSize, ' of what DuckDB writes of the same rows'),
    atMost(
      'statistics of a load into PostgreSQL',
      1.1,
      '×',
      ratio([names.statisticsToo, element], [names.load, element], 'seconds'),
      ' of one without',
    ),
    atMost(
      'SHA-256 of a document',
      0.1,
      '×',
      ratio([names.sha256, element], [names.load, element], 'seconds'),
      ' of its load into PostgreSQL',
    ),
    atLeast(
      'statistics of a document',
      1,
      'libexpat alone',
      ratio([names.statistics, element], [parser, element]),
    ),
    atLeast('--row-tag', 0.7, 'the document whole', ratio([names.rowTag, element], [names.tsv, element])),
    atLeast('--row-tag, two workers', 1.8, 'one', ratio([names.rowTagTwo, element], [names.rowTag, element])),
    atLeast(
      'Parquet to XML',
      0.6,
      'XML to Parquet',
      ratio([names.writeBackParquet, element], [names.parquet, element]),
    ),
    atMost('memory, writing back', 200, 'MB', results.peakMegabytes(names.writeBack)),
    atMost('memory, one worker', 200, 'MB', results.peakMegabytes(names.load)),
    atMost('one page, tool start to exit', 0.5, 's', results.wallSeconds(names.onePage, 'one page')),
    atMost('compile NeTEx', 2, 's', results.seconds(names.netex, 'XSD set')),
    atMost('compile FpML', 2, 's', results.seconds(names.fpml, 'XSD set')),
  ];
}
