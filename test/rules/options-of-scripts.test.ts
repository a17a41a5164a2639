/** Scripts that take options: `--help` tells which, and an option that is none ends without a stack trace. */
import { execFile } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { listFiles, projectRoot, readText } from './project-files.ts';

interface Ended {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

const run = (file: string, argument: string): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(process.execPath, [file, argument], { cwd: projectRoot }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (error.code ?? 'killed'), stdout, stderr }),
    );
  });

const scripts = listFiles('scripts').filter((path) =>
  readText(path).includes('scriptOptions(import.meta.filename'),
);

describe('options of scripts', () => {
  it('are read in one place', () => {
    const own = listFiles('scripts').filter(
      (path) => path !== 'scripts/options.ts' && /\bparseArgs\b/.test(readText(path)),
    );
    expect(own).toEqual([]);
    expect(scripts.length).toBeGreaterThan(5);
  });

  it.each(scripts)('%s tells with --help what there is', async (path) => {
    const { code, stdout } = await run(path, '--help');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^`npm run [\w-]+/);
    expect(stdout).not.toMatch(/^ *\*/m);
  });

  it.each(scripts)('%s refuses an option that is none', async (path) => {
    const { code, stderr } = await run(path, '--no-such-option');
    expect(code).toBe(2);
    expect(stderr).toContain("'--no-such-option'");
    expect(stderr).toContain('--help');
    expect(stderr).not.toContain('    at ');
  });
});
