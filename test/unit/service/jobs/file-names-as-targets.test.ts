/** Targets that are called as files are, without their kind. */
import { describe, expect, it } from 'vitest';
import { parseToolArguments } from '../../../../src/service/jobs/request/read-request.ts';

describe('a target that is called as a file is', () => {
  it.each([
    ['out/sales.duckdb', 'write duckdb:out/sales.duckdb'],
    ['Sales.DuckDB', 'write duckdb:Sales.DuckDB'],
    ['sales.sqlite', 'write sqlite:sales.sqlite'],
    ['sales.db', 'write sqlite:sales.db or duckdb:sales.db'],
    ['/a/sales.PARQUET', 'write /a/sales with -f parquet'],
    ['sales.xlsx', 'write sales with -f xlsx'],
    ['s3://bucket/sales.parquet', 'write s3://bucket/sales with -f parquet'],
    ['s3://bucket/sales.duckdb', 'a database file cannot be written into a bucket'],
  ])('is refused with the right spelling: %s', (out, meant) => {
    expect(() => parseToolArguments('xml2er', ['a.xml', '-o', out])).toThrow(meant);
    const read = out.startsWith('s3:') ? [] : [['er2xml', '-i', out, '-o', 'back'] as const];
    for (const [tool, ...argv] of read) expect(() => parseToolArguments(tool, argv)).toThrow(meant);
  });

  it('is a folder of documents for er2xml', () => {
    expect(() => parseToolArguments('er2xml', ['-i', 'sqlite:a', '-o', 'back.db'])).toThrow('write back');
  });

  it.each(['sales', 'sales.parquet/', 'duckdb:sales.duckdb', 'sqlite:sales.db', 'parquet', 'sales.csv'])(
    'and %s is none',
    (out) => expect(parseToolArguments('xml2er', ['a.xml', '-o', out]).out).toBe(out),
  );
});
