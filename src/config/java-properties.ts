/** Reads files of properties like Java, and finds the origin of each setting. */
import { properties, sourcePropertyOf, type PropertyRecord } from './properties.ts';
import type { SettingOrigin } from '../ports/adapters.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The format of java.util.Properties: `key=value`, `key:value` or `key value`, `#` and `!` comments, a backslash at a line's end
 * continues it, escapes `\t \n \r \f \uXXXX`. The last of several lines with one key counts.
 */
export function parseProperties(text: string): Record<string, string> {
  const record: Record<string, string> = {};
  for (const line of logicalLines(text.replace(/^\u{FEFF}/u, ''))) {
    const match = /^((?:\\[^]|[^\\\s=:])*)[ \t\f]*[=:]?[ \t\f]*([^]*)$/.exec(line);
    if (match !== null) record[unescape(match[1]!)] = unescape(match[2]!);
  }
  return record;
}

function* logicalLines(text: string): Generator<string> {
  let open: string | null = null;
  for (const natural of text.split(/\r\n|[\r\n]/)) {
    const line = natural.replace(/^[ \t\f]+/, '');
    if (open === null && (line === '' || line.startsWith('#') || line.startsWith('!'))) continue;
    const joined: string = (open ?? '') + line;
    const backslashes = /\\*$/.exec(line)![0].length;
    if (backslashes % 2 === 1) {
      open = joined.slice(0, -1);
    } else {
      open = null;
      yield joined;
    }
  }
  if (open !== null && open !== '') yield open;
}

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' };

function unescape(text: string): string {
  return text.replace(/\\(?:u([0-9A-Fa-f]{4})|([^]))/g, (_, code: string | undefined, character: string) =>
    code === undefined ? (escapes[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** `cmd.enabled` is `SVC_CMD_ENABLED`, `svc.files.roots` is `SVC_FILES_ROOTS`. */
export function environmentName(property: string): string {
  return `SVC_${property
    .replace(/^svc\./, '')
    .replaceAll('.', '_')
    .toUpperCase()}`;
}

/** The environment takes precedence over the file; DATABASE_URL sets `metadb.url` only if neither does. */
export function mergeSettings(file: PropertyRecord, environment: Environment): PropertyRecord {
  const merged: Record<string, string | undefined> = { ...file };
  for (const { name } of properties) {
    const given = environment[environmentName(name)];
    // Set to nothing is not set: container tools pass empty variables on, and the file must not lose to one
    if (isGiven(given)) merged[name] = given;
  }
  for (const [variable, given] of Object.entries(environment)) {
    const name = sourcePropertyOf(variable);
    if (name !== null && isGiven(given)) merged[name] = given;
  }
  if (!isGiven(merged['metadb.url'])) merged['metadb.url'] = environment['DATABASE_URL'];
  return merged;
}

function isGiven(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== '';
}

/** Returns the origin of each setting, in the order of the list. */
export function settingOrigins(file: PropertyRecord, environment: Environment): SettingOrigin[] {
  return properties.map(({ name, initial }) => {
    const inFile = isGiven(file[name]);
    const byPlatform = name === 'metadb.url' && !inFile && isGiven(environment['DATABASE_URL']);
    if (byPlatform || isGiven(environment[environmentName(name)]))
      return { name, source: 'systemEnvironment', value: null };
    return inFile
      ? { name, source: 'backend.properties', value: null }
      : { name, source: 'default', value: initial };
  });
}

/**
 * Returns names in the environment that look like settings but are none, such as `SVC_LIMITS_UPLAOD`. They are reported, not refused: a
 * platform may set names of its own there.
 */
export function unknownSettings(environment: Environment): string[] {
  const known = new Set(properties.map(({ name }) => environmentName(name)));
  const families = new Set([...known].map((name) => name.split('_')[1]));
  return Object.keys(environment).filter(
    (name) => /^SVC_[^_]+_/.test(name) && families.has(name.split('_')[1]) && !known.has(name),
  );
}

/** The file of the first start: every property with its meaning, all but one as comments. */
export function initialProperties(): string {
  const lines = [
    '# Settings of the conversion job service, read when it starts.',
    '# Each may also be given in the environment, which wins: cmd.enabled is SVC_CMD_ENABLED, svc.files.roots is SVC_FILES_ROOTS.',
    '',
  ];
  for (const { name, initial, meaning } of properties) {
    lines.push(`# ${meaning}`, name === 'cmd.enabled' ? `${name}=${initial}` : `#${name}=${initial}`, '');
  }
  return lines.join('\n');
}
