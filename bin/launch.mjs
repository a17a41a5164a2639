/**
 * Starts a program of src/programs on a Node that can run it: in this process if it is new enough, otherwise in the Node of the
 * development dependency `node`. The build runs if it is as new as the sources, otherwise the sources do. Plain JavaScript, because an
 * old Node reads this file.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** First release that strips types without a flag. */
const oldestNode = [22, 18];

const root = fileURLToPath(new URL('../', import.meta.url));
const sources = join(root, 'src');
const builds = join(root, 'dist');
/** Beside the dependencies, where only a user who can install may write. */
const cache = join(root, 'node_modules/.cache/compile');

/** Paths of the binary of the package `node`: its install script links it, or only the platform's own package has it. */
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
 * @param {string} name a program: `tools/load` is `load` of src/programs/tools.ts
 * @param {readonly string[]} args what the program finds in `process.argv` from index 2 on
 */
export async function launch(name, args) {
  if (!isNewEnough(process.versions.node))
    return launchElsewhere([fileURLToPath(import.meta.url), name, ...args]);
  delete process.env.SVC_LAUNCHED_BY;
  nodeModule.enableCompileCache?.(cache);
  const [group, program] = name.split('/');
  const source = join(sources, 'programs', `${group}.ts`);
  const build = join(builds, `${group}.cjs`);
  const isBuilt = isBuildCurrent(build, source);
  process.argv.splice(1, process.argv.length, isBuilt ? build : source, ...args);
  const { programs } = isBuilt
    ? nodeModule.createRequire(build)(build)
    : await import(pathToFileURL(source).href);
  await programs[program]();
}

/** Imports a module of the sources, for scripts of a checkout. The module finds `args` in `process.argv` from index 2 on. */
export async function importSource(path, args) {
  if (!isNewEnough(process.versions.node))
    return launchElsewhere([join(root, 'scripts/guard.mjs'), path, ...args]);
  delete process.env.SVC_LAUNCHED_BY;
  nodeModule.enableCompileCache?.(cache);
  process.argv.splice(1, process.argv.length, path, ...args);
  await import(pathToFileURL(path).href);
}

/** Whether there is a build as new as the sources. The published package has no sources. */
export function isBuildCurrent(build, source) {
  const built = statSync(build, { throwIfNoEntry: false })?.mtimeMs;
  if (built === undefined) return false;
  if (!existsSync(source)) return true;
  const isOlder = (path) => statSync(path).mtimeMs <= built;
  const isOlderFolder = (folder) =>
    isOlder(folder) &&
    readdirSync(folder, { withFileTypes: true }).every((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? isOlderFolder(path) : isOlder(path);
    });
  return isOlderFolder(sources);
}

async function launchElsewhere(argv) {
  const bundled = bundledNodes.map((path) => join(root, path)).find((path) => existsSync(path));
  if (bundled !== undefined && !process.env.SVC_LAUNCHED_BY) return runIn(bundled, argv);
  process.stderr.write(
    `This needs Node ${oldestNode.join('.')} or later. Running is ${process.versions.node}`,
  );
  if (!existsSync(join(sources, 'programs'))) process.stderr.write('.\n');
  else {
    const found =
      bundled === undefined
        ? 'the package `node` is not installed'
        : 'the one in node_modules is too old as well';
    process.stderr.write(
      `, and ${found}.\n` +
        'Run `npm ci` in the project folder, without --ignore-scripts and without --omit=dev: it brings a Node of its own.\n',
    );
  }
  process.exitCode = 1;
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

// processes and threads that the programs start
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name = '', ...args] = process.argv.slice(2);
  await launch(name, args);
}
