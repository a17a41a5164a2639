/**
 * `node scripts/complete-lock.mjs`, after every `npm install` that changes package-lock.json: adds the optional packages
 * of other platforms that npm left out, because node_modules held none of them or the registry in use has none. `npm ci`
 * refuses a lock file without them. They are taken over by name and version alone: npm skips what is for another platform.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));

const systems = { windows: 'win32' };
const processors = { 64: 'x64', 32: 'ia32' };

/** `@scope/name-linux-arm64-musl` -> the fields by which npm decides whether a package is for this machine. */
function platformOf(name) {
  const parts = name.replace(/^.*\//, '').split('-');
  const at = parts.findIndex((part) =>
    /^(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32|windows)$/.test(part),
  );
  if (at < 0 || parts[at + 1] === undefined) return null;
  const abi = parts[at + 2] ?? '';
  const libc = abi.startsWith('musl') ? ['musl'] : abi.startsWith('gnu') ? ['glibc'] : undefined;
  return { os: [systems[parts[at]] ?? parts[at]], cpu: [processors[parts[at + 1]] ?? parts[at + 1]], libc };
}

const added = [];
for (const [parent, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const held = [`${parent}/node_modules/${name}`, `node_modules/${name}`].some(
      (path) => path in lock.packages,
    );
    const platform = held || !/^\d[\w.+-]*$/.test(version) ? null : platformOf(name);
    if (platform === null) continue;
    lock.packages[`node_modules/${name}`] = { version, ...platform, dev: entry.dev, optional: true };
    added.push(`${name}@${version}`);
  }
}

lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)));
if (added.length > 0) writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(added.length === 0 ? 'nothing is missing\n' : `added ${added.join(', ')}\n`);
