/** What differs from run to run, made alike: times, random names, the machine. */
const someTimeMs = 1_790_000_000_306;
const longestList = 3;

const byMember: Readonly<Record<string, unknown>> = {
  host: 'etl-1/10.0.0.5',
  os_user: 'svc',
  base_path: '/srv/conversions',
  token: '1f0c4e2b9d7a4c53a8e6f1b2c3d4e5f6',
  total: 270_553_174_016,
  free: 71_203_110_912,
  id_key: '208c83bed142d284b2ac',
  trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
  request_id: '6b0f6f4e-0c5c-4a55-9d5c-3c8b9a7f1d10',
  timestamp: '2026-09-21T14:13:21.301+00:00',
};

/** Gives a copy of an answer; lists are as long as a reader needs them. */
export function createLikeness(home: string, url: string): (answer: unknown) => unknown {
  const ofText = (text: string): string =>
    text
      .replaceAll(home, '/srv/conversions')
      .replaceAll(/\bsvk_[\w-]+/g, 'svk_8c1f0a52_…')
      .replaceAll(/\buploads\/[0-9a-f]{16}\//g, 'uploads/7f3c9a5240b14c8e/')
      .replaceAll(url, 'https://conversions.example')
      .replaceAll(
        /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g,
        '7f3c9a52-40b1-4c8e-a0d6-2f1e5b7c9d30',
      )
      .replaceAll(/\b\d+ bytes by now/g, '20480 bytes by now')
      .replaceAll(/\bkey [0-9a-f]{20}\b/g, 'key 208c83bed142d284b2ac')
      .replaceAll(/\b(local|pid)-\d+\b/g, '$1-1790000000306')
      .replaceAll(
        /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g,
        '2026-09-21T14:13:20.306Z',
      )
      .replaceAll(/\b\d+(?:\.\d+)? (?=s\b|ms\b|MB\/s\b)/g, '0.2 ')
      .replaceAll(/("(?:(?:cpu_)?seconds|mb_per_s)":)\d+(?:\.\d+)?/g, '$10.1');

  const alike = (value: unknown, member = ''): unknown => {
    if (typeof value === 'string') return byMember[member] ?? ofText(value);
    if (typeof value === 'number') return byMember[member] ?? (value > 1e12 ? someTimeMs : value);
    if (Array.isArray(value)) return value.slice(0, longestList).map((item) => alike(item));
    if (typeof value !== 'object' || value === null) return value;
    // settings are listed by their names, and there are as many as there are; only a checkout knows its commit
    const members = Object.entries(value)
      .slice(0, member === 'properties' ? longestList : undefined)
      .filter(([name]) => name !== 'git');
    return Object.fromEntries(members.map(([name, item]) => [name, alike(item, name)] as const));
  };
  return (answer) => alike(answer);
}
