/**
 * Runs a TypeScript entry on a Node that can: in this process when it is new enough, else in the Node that the
 * development dependency `node` brings. Plain JavaScript on purpose: this file is what an old Node reads.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** First release that strips types without a flag. */
const oldestNode = [22, 18];

const root = new URL('../../../', import.meta.url);

/** Where the package `node` puts its binary: linked by its install script, or only in the platform's own package. */
const platformPackage =
  (process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node') +
  `-${process.platform}-${process.arch}`;
const bundledNodes = [
  'node_modules/node/bin/node',
  `node_modules/node/node_modules/${platformPackage}/bin/node`,
  `node_modules/${platformPackage}/bin/node`,
];

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
}

/**
 * @param {string} entry absolute path of a module that does its work when imported (its `import.meta.main` is false)
 * @param {readonly string[]} args what the entry finds in `process.argv` from index 2 on
 * @returns {Promise<(() => void) | undefined>} keeps what was compiled for the next start, as the end of a process does; undefined: it ran in another process
 */
export async function launch(entry, args) {
  // the published package holds JavaScript, so that any Node of its engines runs it
  if (!existsSync(entry)) entry = entry.replace(/\.ts$/, '.js');
  if (isNewEnough(process.versions.node)) {
    process.argv.splice(1, process.argv.length, entry, ...args);
    const { runQuickly } = await import('./quick-start.mjs');
    return runQuickly(entry);
  }
  const bundled = bundledNodes
    .map((path) => fileURLToPath(new URL(path, root)))
    .find((path) => existsSync(path));
  if (bundled === undefined || process.env.SVC_LAUNCHED_BY) {
    const found =
      bundled === undefined
        ? 'the package `node` is not installed'
        : 'the one in node_modules is too old as well';
    const needed = `This needs Node ${oldestNode.join('.')} or later. Running is ${process.versions.node}`;
    if (entry.endsWith('.js')) {
      process.stderr.write(`${needed}.\n`);
      process.exitCode = 1;
      return;
    }
    process.stderr.write(
      `${needed}, and ${found}.\n` +
        'Run `npm ci` in the project folder, without --ignore-scripts and without --omit=dev: it brings a Node of its own.\n',
    );
    process.exitCode = 1;
    return;
  }
  await runIn(bundled, [fileURLToPath(import.meta.url), entry, ...args]);
}

/** The same launch in another Node: same terminal, its exit code or signal is ours, signals sent to us are passed on. */
async function runIn(node, argv) {
  const { spawn } = await import('node:child_process');
  const { constants } = await import('node:os');
  const child = spawn(node, argv, {
    stdio: 'inherit',
    env: { ...process.env, SVC_LAUNCHED_BY: process.versions.node },
  });
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGUSR2']) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the whole group: passing it on would count twice.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    process.stderr.write(`Could not start ${node}: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal ?? 'SIGKILL'] ?? 0);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [entry = '', ...args] = process.argv.slice(2);
  delete process.env.SVC_LAUNCHED_BY;
  await launch(entry, args);
}
