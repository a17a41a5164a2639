/**
 * `npm run golden`: writes the golden files anew from what the code gives today; the difference is then yours to read.
 * With `--check`: compares those that need no database, and changes nothing.
 *
 * Golden files lie in test/golden beside the tests that produce them; a test named `*.db.test.ts` needs a database.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const argv = process.argv.includes('--check')
  ? ['run', 'test/golden', '--reporter=dot', '--passWithNoTests', '--exclude', '**/*.db.test.ts']
  : ['run', 'test/golden', '--update', '--passWithNoTests'];

spawn(process.execPath, ['node_modules/vitest/vitest.mjs', ...argv], { cwd: root, stdio: 'inherit' }).on(
  'exit',
  (code) => {
    process.exitCode = code ?? 1;
  },
);
