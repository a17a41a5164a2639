/** What is said of targets: the page has the same, and versions are those that are installed. */
import { describe, expect, it } from 'vitest';
import { whatWasRun, whatWasRunPlain } from '../../src/tools/operator/access.ts';
import { readText } from './project-files.ts';

describe('kinds of targets', () => {
  it('are those of docs/reference/targets.md', () => {
    const section = readText('docs/reference/targets.md')
      .split('## Tested versions\n')[1]!
      .split('\n## ')[0]!;
    const [, , ...rows] = section.split('\n').filter((line) => line.startsWith('|'));
    const cells = rows.map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
    expect(cells).toEqual(
      whatWasRun().map((kind) => [kind.target, kind.driver, kind.transaction, kind.run_against]),
    );
  });

  it('name drivers by the versions that are installed', () => {
    const { dependencies } = JSON.parse(readText('package.json')) as { dependencies: Record<string, string> };
    const named = whatWasRun().flatMap(({ driver }) => [...driver.matchAll(/`([^`]+)` (\d[\d.]*)/g)]);
    expect(named.map(([, name]) => name)).toEqual(['postgres', 'mysql2', '@duckdb/node-api', 'avsc', 'avsc']);
    for (const [, name, version] of named) expect(dependencies[name!]!.split('-')[0]).toBe(version);
  });

  it('are printed without the marks of the page', () => {
    const text = JSON.stringify(whatWasRunPlain());
    expect(text).not.toMatch(/`|\]\(/);
    expect(text).toContain('metadb:');
    expect(text).toContain('(Delta, Iceberg)');
  });
});
