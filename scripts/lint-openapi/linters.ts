/** Spectral and Redocly, installed beside the project and run over a document. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const packages = { '@stoplight/spectral-cli': '6.16.3', '@redocly/cli': '2.77.0' } as const;
const entries = {
  spectral: '@stoplight/spectral-cli/dist/index.js',
  redocly: '@redocly/cli/bin/cli.js',
} as const;

export type LinterName = keyof typeof entries;

export interface Linters {
  readonly folder: string;
}

export interface Verdict {
  /** without an error or a warning */
  readonly passed: boolean;
  readonly output: string;
}

/** Installs what is not there yet; without install scripts. Rejects where there is no registry to be reached. */
export async function installLinters(folder: string): Promise<Linters> {
  const wanted = JSON.stringify({ private: true, dependencies: packages });
  const manifest = join(folder, 'package.json');
  const there = await readFile(manifest, 'utf8').catch(() => '');
  const complete = Object.values(entries).every((entry) => existsSync(join(folder, 'node_modules', entry)));
  if (there !== wanted || !complete) {
    await mkdir(folder, { recursive: true });
    await writeFile(manifest, wanted);
    const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent', '--fetch-retries', '1'];
    await execute('npm', ['install', '--prefix', folder, ...quietly], { cwd: folder });
  }
  return { folder };
}

export async function lintOpenApi({ folder }: Linters, name: LinterName, document: string): Promise<Verdict> {
  const work = await mkdtemp(join(tmpdir(), 'openapi-'));
  try {
    const file = join(work, 'openapi.json');
    const rules = join(work, 'rules.json');
    await writeFile(file, document);
    await writeFile(rules, JSON.stringify({ extends: ['spectral:oas'] }));
    const argv = {
      spectral: ['lint', '--ruleset', rules, '--fail-severity', 'warn', '--quiet', file],
      redocly: ['lint', '--extends', 'recommended', '--format', 'json', file],
    }[name];
    const environment = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const outcome = await execute(process.execPath, [join(folder, 'node_modules', entries[name]), ...argv], {
      cwd: work,
      env: environment,
      maxBuffer: 64 * 1024 * 1024,
    }).then(
      ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
      (error: { readonly code: number; readonly stdout: string; readonly stderr: string }) => ({
        code: error.code,
        output: error.stdout + error.stderr,
      }),
    );
    const warned = name === 'redocly' && /"warnings":\s*[1-9]/.test(outcome.output);
    return { passed: outcome.code === 0 && !warned, output: outcome.output };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
