/** Parses the texts of settings; each Error says what the text must be, and repeats no secret. */

export const sizeUnits: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
  tib: 1024 ** 4,
};
export const timeUnits: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** The value for "no limit": more than anything can be. */
export const unlimited: number = Number.MAX_SAFE_INTEGER;

export function parseQuantity(text: string, units: Readonly<Record<string, number>>, form: string): number {
  const match = /^(\d{1,12})\s*([a-z]*)$/i.exec(text);
  const unit = match === null ? undefined : units[match[2]!.toLowerCase()];
  const value = match === null || unit === undefined ? Number.NaN : Number(match[1]) * unit;
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`must be ${form}, and more than zero`);
  return value;
}

export function parseCount(text: string, min: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= 2_147_483_647)) throw new Error(`must be a whole number from ${min} on`);
  return value;
}

export function parseSwitch(text: string): boolean {
  const word = text.toLowerCase();
  if (word !== 'true' && word !== 'false') throw new Error('must be true or false');
  return word === 'true';
}

export function parseDatabaseUrl(text: string): string | null {
  if (text === '') return null;
  // Never repeats the address: it may hold a password
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text))
    throw new Error('must be a postgresql:// address');
  return text;
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export function parseRoots(text: string): string[] {
  const roots = list(text);
  for (const root of roots) {
    if (!root.startsWith('/')) throw new Error(`${root} must be an absolute path`);
    if (root.split('/').includes('..')) throw new Error(`${root} must not contain ..`);
  }
  return roots;
}

export function parseHosts(text: string): string[] {
  const hosts = list(text).map((host) => host.toLowerCase());
  for (const host of hosts) {
    if (host !== '*' && !/^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/.test(host))
      throw new Error(`${host} must be host, host:port or *`);
  }
  return hosts;
}

export function parseOrigins(text: string): string[] {
  const origins = list(text);
  for (const origin of origins) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      throw new Error(`${origin} must be an origin such as https://host`);
  }
  return origins;
}

export function parseJwks(text: string): string | null {
  if (text === '') return null;
  if (text.startsWith('/')) return text;
  const url = URL.canParse(text) ? new URL(text) : null;
  const onLoopback = url !== null && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && onLoopback))
    throw new Error('must be an https: address or an absolute path');
  return text;
}

const asymmetricAlgorithms = ['RS', 'PS', 'ES']
  .flatMap((family) => ['256', '384', '512'].map((bits) => family + bits))
  .concat('EdDSA', 'Ed25519');

export function parseAlgorithms(text: string): string[] {
  const names = list(text);
  for (const name of names) {
    if (!asymmetricAlgorithms.includes(name))
      throw new Error(`${name} must be one of ${asymmetricAlgorithms.join(', ')}`);
  }
  return names;
}

export function parseScopeNames(text: string): Record<string, string[]> {
  const names: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const pair of list(text)) {
    const [, name = '', scopes = ''] = /^([^=]+)=(.+)$/.exec(pair) ?? [];
    if (name === '') throw new Error(`${pair} must be NAME=SCOPE SCOPE …`);
    names[name.trim()] = scopes.trim().split(/\s+/);
  }
  return names;
}

export function parseKey(text: string): string | null {
  if (text === '') return null;
  // The message must not repeat the key
  const fault = new Error('must be the base64 form of 32 bytes');
  if (!/^[A-Za-z0-9+/]{43}=$/.test(text)) throw fault;
  return text;
}

export function parseKeys(text: string): string[] {
  return list(text).flatMap((key) => parseKey(key) ?? []);
}

/** The messages never repeat the address: it may hold a secret. */
export function parseHttpAddress(text: string): string | null {
  if (text === '') return null;
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw new Error('must be an https: or http: address');
  if (url.username !== '' || url.password !== '') throw new Error('must not contain a user or a password');
  return url.href;
}

export function parseWebhookSecret(text: string): string | null {
  if (text === '') return null;
  if (!/^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text))
    throw new Error('must be whsec_ and the base64 of 24 to 64 bytes');
  return text;
}

/** `spark.NAME=VALUE`, separated by blanks. */
export function parseSparkConf(text: string): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    const [, name, value] = /^(spark\.[\w.-]+)=(.+)$/.exec(word) ?? [];
    if (name === undefined || value === undefined)
      throw new Error('must be spark.SETTING=VALUE, separated by blanks');
    settings[name] = value;
  }
  return settings;
}

/** Parses printable ASCII without spaces, as it follows `Bearer`; API keys are not tokens. */
export function parseBearerToken(text: string): string | null {
  if (text === '') return null;
  if (!/^[\x21-\x7e]+$/.test(text)) throw new Error('must be printable ASCII without spaces');
  if (text.startsWith('svk_')) throw new Error('must not begin with svk_, as API keys do');
  return text;
}
