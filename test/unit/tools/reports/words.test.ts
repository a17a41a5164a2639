/** What a person reads while a tool works, and at its end. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closestWord } from '../../../../src/engine/closest-word.ts';
import { readConfig } from '../../../../src/config/properties.ts';
import { parseToolArguments } from '../../../../src/service/jobs/request/read-request.ts';
import { openInputs } from '../../../../src/inputs/list-files.ts';
import { progressLine, textTable } from '../../../../src/tools/cli/terminal.ts';
import { printSummary, type ToolSummary } from '../../../../src/tools/reports/summary.ts';

const summary: ToolSummary = {
  job: 3,
  origin: 1,
  logical: 2,
  schema_chosen: null,
  status: 'C',
  documents: 6,
  rejected: 1,
  unknown_root: 1,
  unmapped: { values: 3, documents: 0 },
  rows: 1280,
  tables: { leg: 1200, voyage: 80 },
  xpaths: { mapped: 4, new: 1 },
  bytes: 2_000_000,
  seconds: 0.24,
  mb_per_s: 8.3,
  steps: [],
};

describe('the summary', () => {
  it('says in words what was done, and where to look; the last line counts', () => {
    expect(printSummary(summary, 'loaded', 'duckdb:out.duckdb').slice(-2)).toEqual([
      '6 documents loaded, 1,280 rows in 2 tables, 0.2 s; 2 documents left out: the log says why; 3 values kept in _unmapped: see the table _unmapped of duckdb:out.duckdb',
      'loaded 6, unknown root 1, rejected 1, 3 values kept in _unmapped',
    ]);
    const one = {
      ...summary,
      documents: 1,
      rejected: 0,
      unknown_root: 0,
      unmapped: { values: 0, documents: 0 },
    };
    expect(printSummary(one, 'read', null).slice(-2)).toEqual([
      '1 document read, 0.2 s',
      'read 1, unknown root 0, rejected 0',
    ]);
  });
});

describe('progress', () => {
  it('has share, pass, speed, rows, documents and the time that is left', () => {
    const done = { pass: 'loading', documents: 12, bytes: 5_000_000, rows: 345 } as const;
    expect(progressLine(0.5, done, 12_340_000, 3_725_000)).toBe(
      '██████████░░░░░░░░░░  50 %  loading  12.3 MB/s  345 rows  12 documents  1:02:05 left',
    );
    expect(progressLine(1, { ...done, pass: 'publishing' }, 1, 0)).toBe(
      '████████████████████ 100 %  publishing  345 rows  12 documents',
    );
    expect(progressLine(0, undefined, null, null)).toBe('░░░░░░░░░░░░░░░░░░░░   0 %');
  });
});

describe('a word that was meant', () => {
  it.each([
    ['--outt', '--out'],
    ['--xds', '--xsd'],
    ['--Validate', '--validate'],
    ['--skip-laoded', '--skip-loaded'],
  ])('%s: %s', (given, meant) => {
    expect(() => parseToolArguments('xml2er', ['a.xml', given])).toThrow(`did you mean ${meant}?`);
  });

  it('is none where nothing is near, and another tool’s option is said to be so', () => {
    expect(closestWord('abc', ['xyz', 'something'])).toBeNull();
    expect(() => parseToolArguments('xml2er', ['a.xml', '--frobnicate'])).toThrow(
      /has no option "--frobnicate"$/,
    );
    expect(() => parseToolArguments('xsd2er', ['a.xsd', '--validate'])).toThrow(/which xml2er has/);
  });

  it('holds for properties', () => {
    expect(() => readConfig({ 'svc.worker.concurency': '2' })).toThrow(
      'svc.worker.concurency: there is no such property; did you mean svc.worker.concurrency?',
    );
  });
});

describe('an input that leads nowhere', () => {
  it('is told apart from a folder without documents', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'inputs-'));
    try {
      const missing = join(folder, 'none.xml');
      await expect(openInputs([missing], () => true)).rejects.toThrow(`the path searched was ${missing}`);
      await expect(openInputs([folder], () => true)).rejects.toThrow(
        'the folder is there: documents are files',
      );
      await expect(openInputs([join(folder, '*.xml')], () => true)).rejects.toThrow('matches the pattern');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('a table of text', () => {
  it('fits a terminal, the widest columns cut', () => {
    const rows = [['1', 'a very long text that does not fit', 'x']];
    expect(textTable(['ID', 'TEXT', 'Z'], rows, 24)).toBe(
      ['ID  TEXT               Z', '1   a very long text…  x'].join('\n'),
    );
    expect(textTable(null, [['name', 'value']], 80)).toBe('name  value');
  });
});
