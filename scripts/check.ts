/** `npm run check`: format, lint, types, rules and the golden files that need no database, side by side. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Check {
  readonly name: string;
  /** module to run, from the project's root, and its arguments */
  readonly argv: readonly [string, ...string[]];
  /** what mends it, where a command does */
  readonly mend?: string;
}

interface Outcome {
  readonly check: Check;
  readonly passed: boolean;
  readonly output: string;
  readonly seconds: number;
}

const root = fileURLToPath(new URL('../', import.meta.url));

const checks: readonly Check[] = [
  {
    name: 'format',
    argv: ['node_modules/oxfmt/bin/oxfmt', '--check', '.'],
    mend: 'npx oxfmt .',
  },
  { name: 'lint', argv: ['node_modules/oxlint/bin/oxlint', '.'] },
  { name: 'types', argv: ['node_modules/typescript/bin/tsc', '--pretty', 'false', '-p', 'tsconfig.json'] },
  { name: 'rules', argv: ['node_modules/vitest/vitest.mjs', 'run', 'test/rules', '--reporter=dot'] },
  { name: 'wasm', argv: ['scripts/wasm/index.ts', '--check'], mend: 'npm run wasm' },
  { name: 'page', argv: ['scripts/ui.ts', '--check'], mend: 'npm run ui' },
  {
    name: 'golden files',
    argv: ['scripts/golden.ts', '--check'],
    mend: 'npm run golden, then read the difference',
  },
];

function run(check: Check): Promise<Outcome> {
  const startedMs = performance.now();
  return new Promise((settle) => {
    const chunks: Buffer[] = [];
    const child = spawn(process.execPath, check.argv, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        CI: 'true',
        ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : { NO_COLOR: '1' }),
      },
    });
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('close', (code) =>
      settle({
        check,
        passed: code === 0,
        output: Buffer.concat(chunks).toString().trimEnd(),
        seconds: (performance.now() - startedMs) / 1000,
      }),
    );
  });
}

const missing = checks.find((check) => !existsSync(new URL(`../${check.argv[0]}`, import.meta.url)));
if (missing !== undefined) {
  console.error(`${missing.argv[0]} is missing: run \`npm ci\`, without --omit=dev.`);
  process.exit(1);
}

const outcomes = await Promise.all(
  checks.map(async (check) => {
    const outcome = await run(check);
    console.log(
      `${outcome.passed ? 'ok    ' : 'FAILED'} ${check.name.padEnd(20)} ${outcome.seconds.toFixed(1)} s`,
    );
    return outcome;
  }),
);

for (const { check, passed, output } of outcomes) {
  if (passed) continue;
  console.log(`\n${check.name}\n${output}`);
  if (check.mend !== undefined) console.log(`-> ${check.mend}`);
}
if (outcomes.some((outcome) => !outcome.passed)) process.exitCode = 1;
