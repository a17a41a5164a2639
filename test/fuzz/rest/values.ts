/** Values for parameters and bodies of requests. */
import type { Random } from '../random.ts';

export const texts: readonly string[] = [
  '',
  ' ',
  '0',
  '1',
  '2',
  '-1',
  '+1',
  '01',
  '1.5',
  '1e3',
  '9223372036854775807',
  '9223372036854775808',
  '2147483647',
  '2147483648',
  'NaN',
  'null',
  'true',
  'a',
  'é',
  '😀',
  '\uD800',
  '%',
  '%00',
  '%2e%2e%2f',
  '../../etc/passwd',
  '/etc/passwd',
  "' or 1=1 --",
  '"; drop schema svc; --',
  '$(id)',
  '${x}',
  '<script>',
  '{{7*7}}',
  '\u0000',
  '\n',
  '\r\nX: y',
  'a'.repeat(300),
  'x/y',
  '__proto__',
  'constructor',
  'metadb:svc',
  'metadb:x',
  'postgresql://127.0.0.1/x',
  'uploads/x',
  'xml2er',
  '-o',
  '$0',
  '*',
  '[',
  '(',
  '\\',
  'https://h/c/?sig=x',
  'all',
  'group',
];
/** One place of a JSON value, changed. */
export function changed(random: Random, value: unknown, depth: number): unknown {
  if (Array.isArray(value) && value.length > 0 && random.chance(0.8)) {
    const copy = [...value] as unknown[];
    const at = random.below(copy.length);
    const how = random.below(6);
    if (how === 0) copy.splice(at, 1);
    else if (how === 1) copy.push(copy[at]);
    else copy[at] = changed(random, copy[at], depth + 1);
    return copy;
  }
  if (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length > 0 &&
    random.chance(depth === 0 ? 0.97 : 0.85)
  ) {
    const copy: Record<string, unknown> = { ...value };
    const name = random.pick(Object.keys(copy));
    if (random.chance(0.12)) delete copy[name];
    else if (random.chance(0.08))
      copy[random.pick(['x', '', '__proto__', 'a/b~c', 'enabled', 'value'])] = scalar(random);
    else copy[name] = changed(random, copy[name], depth + 1);
    return copy;
  }
  return scalar(random);
}

function scalar(random: Random): unknown {
  if (random.chance(0.5)) return random.pick(texts);
  return random.pick([
    null,
    true,
    false,
    0,
    1,
    -1,
    1.5,
    1e308,
    9_007_199_254_740_992,
    [],
    {},
    [[]],
    [null],
    { a: {} },
    ['x'],
  ] as const);
}
