/** Settings: defaults, units, the environment, complaints. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { properties, readConfig } from '../../../src/config/properties.ts';
import { ConfigError } from '../../../src/config/wrong-settings.ts';
import { checkConfig } from '../../../src/config/check-config.ts';
import { defaultEngineLimits } from '../../../src/engine/limits.ts';
import { defaultLimits, limitProperties, limitSpecs } from '../../../src/config/limits.ts';
import { engineLimitSpecs, type LimitSpec } from '../../../src/config/engine-limits.ts';
import {
  environmentName,
  initialProperties,
  mergeSettings,
  unknownSettings,
  parseProperties,
} from '../../../src/config/java-properties.ts';

function complaints(record: Record<string, string>): readonly string[] {
  try {
    readConfig(record);
  } catch (error) {
    if (error instanceof ConfigError) return error.complaints;
    throw error;
  }
  return [];
}

describe('settings', () => {
  it('have the defaults of the limits table', () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      commandsEnabled: false,
      metadbUrl: null,
      fileRoots: [],
      allowedHosts: [],
      secretKey: null,
    });
    expect(config.limits).toMatchObject({
      jsonBodyBytes: 1024 ** 2,
      uploadBytes: 10 * 1024 ** 3,
      executions: 100,
      runningJobs: 4,
      queuedJobs: 10_000,
      jobDeadlineMs: 24 * 3_600_000,
      attempts: 3,
      outageWaitMs: 24 * 3_600_000,
      leaseMs: 30_000,
      heartbeatMs: 10_000,
      keepJobsMs: 90 * 86_400_000,
    });
    expect(config.limits.engine).toMatchObject({ xmlMaxDepth: 4096, xmlMaxTextBytes: 1024 ** 3 });
  });

  it('are read with units, lists and surrounding blanks', () => {
    const config = readConfig({
      'cmd.enabled': ' TRUE ',
      'svc.files.roots': '/data/in, /data/{org}',
      'svc.allow.hosts': 'DWH:5432,[::1]',
      'svc.limits.upload': '5 MiB',
      'svc.limits.lease': '2 m',
      'svc.worker.concurrency': '0',
    });
    expect(config).toMatchObject({
      commandsEnabled: true,
      fileRoots: ['/data/in', '/data/{org}'],
      allowedHosts: ['dwh:5432', '[::1]'],
      worker: { concurrency: 0 },
      limits: { uploadBytes: 5 * 1024 ** 2, leaseMs: 120_000 },
    });
  });

  it.each([
    ['cmd.enabled', 'yes'],
    ['metadb.url', 'mysql://h'],
    ['svc.files.roots', 'relative'],
    ['svc.files.roots', '/a/../b'],
    ['svc.allow.hosts', 'http://x'],
    ['svc.secret.key', 'short'],
    ['svc.cors.origins', 'example.org'],
    ['svc.oidc.jwks', 'http://example.org/keys'],
    ['svc.oidc.algorithms', 'RS256,HS256'],
    ['svc.oidc.algorithms', 'none'],
    ['svc.oidc.default_org', '0'],
    ['svc.oidc.scopes', 'jobs:read'],
    ['svc.limits.upload', '5 parsecs'],
    ['svc.limits.upload', '0'],
    ['svc.limits.attempts', '-1'],
    ['svc.limits.heartbeat', '29 s'],
    ['svc.limts.upload', '5 MiB'],
  ])('name the property that is wrong: %s=%s', (name, value) => {
    expect(complaints({ [name]: value })).toEqual([expect.stringContaining(name)]);
  });

  it('are complained about all at once, without repeating secrets', () => {
    const found = complaints({
      'metadb.url': 'http://u:c4n4ry@h',
      'svc.secret.key': 'c4n4ry',
      'cmd.enabled': '1',
    });
    expect(found).toHaveLength(3);
    expect(found.join()).not.toContain('c4n4ry');
  });
});

describe('limits', () => {
  it('are each told once, with cause and consequence, and are the engine’s own where it has one', () => {
    const specs: LimitSpec[] = [...Object.values(limitSpecs), ...Object.values(engineLimitSpecs)];
    expect(new Set(specs.map(({ property }) => property)).size).toBe(specs.length);
    for (const { property, why, past } of specs)
      expect([property, why.length > 20, past.length > 0]).toEqual([property, true, true]);
    expect(defaultLimits.engine).toEqual(defaultEngineLimits);
    expect(readConfig({}).limits).toEqual(defaultLimits);
    expect(properties.filter(({ name }) => name.startsWith('svc.limits.')).map(({ name }) => name)).toEqual(
      specs.map(({ property }) => property),
    );
  });

  it('are those of the interface decisions', () => {
    const { engine, ...rest } = defaultLimits;
    expect({ ...rest, ...engine }).toEqual({
      jsonBodyBytes: 1024 ** 2,
      svgBytes: 8 * 1024 ** 2,
      jobLogBytes: 1024 ** 3,
      uploadBytes: 10 * 1024 ** 3,
      diskBytes: Number.MAX_SAFE_INTEGER,
      executions: 100,
      requestsPerSecond: 100,
      requestBurst: 200,
      connections: 2000,
      followersPerKey: 20,
      followersPerOrganisation: 100,
      targetNames: 1000,
      watches: 100,
      lookMs: 60_000,
      lookMemoryBytes: 512 * 1024 ** 2,
      compiles: 1,
      runningJobs: 4,
      queuedJobs: 10_000,
      jobDeadlineMs: 24 * 3_600_000,
      jobRunMs: Number.MAX_SAFE_INTEGER,
      attempts: 3,
      outageWaitMs: 24 * 3_600_000,
      leaseMs: 30_000,
      heartbeatMs: 10_000,
      xsdTimeMs: 60_000,
      xsdMemoryBytes: 1024 ** 3,
      transferTimeMs: 3_600_000,
      validationTimeMs: 20_000,
      toolMemoryBytes: 2 * 1024 ** 3,
      targetConnections: 32,
      targetMessageBytes: 64 * 1024 ** 2,
      archiveExpansion: 100,
      archiveMembers: 100_000,
      keepJobsMs: 90 * 86_400_000,
      keepUploadsMs: 30 * 86_400_000,
      keepIdempotencyKeysMs: 86_400_000,
      xmlMaxDepth: 4096,
      xmlMaxAttributes: 10_000,
      xmlMaxNameBytes: 64 * 1024,
      xmlMaxEntityExpansionBytes: 64 * 1024 ** 2,
      xmlMaxEntityAmplification: 100,
      xmlMaxTextBytes: 1024 ** 3,
      xsdMaxFiles: 20_000,
      xsdMaxComponents: 5_000_000,
    });
  });

  it('stand in docs/reference/limits.md as they are', () => {
    const page = readFileSync(new URL('../../../docs/reference/limits.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `(svc\.limits\.[a-z_]+)` +\| `?([^`|]*?)`? +\| (.*?) +\|$/gm)];
    expect(rows.map(([, name, initial, meaning]) => ({ name, initial, meaning }))).toEqual(limitProperties);
  });

  it('that are set hold in place of the defaults, each under its own property', () => {
    const { engine, ...rest } = readConfig({
      'svc.limits.xml_depth': '7',
      'svc.limits.archive_members': '8',
      'svc.limits.xsd_time': '9 s',
    }).limits;
    expect({ ...rest, engine }).toEqual({
      ...defaultLimits,
      archiveMembers: 8,
      xsdTimeMs: 9000,
      engine: { ...defaultEngineLimits, xmlMaxDepth: 7 },
    });
  });
});

describe('properties file', () => {
  it('is read as Java does', () => {
    const text = [
      '\u{FEFF}# comment',
      '! comment',
      '',
      'a=1',
      'b:2',
      'c 3',
      '  d  =  4 ',
      'e',
      'f\\=g=5',
      'long=one,\\',
      '    two,\\',
      '  three',
      'path=C:\\\\x',
      'tab=a\\tb',
      'u=\\u00e9\\u4e2d',
      'a=last',
      'odd\\',
      'even=x\\\\',
      '#x=\\',
      'after=1',
    ].join('\n');
    expect(parseProperties(text)).toEqual({
      a: 'last',
      b: '2',
      c: '3',
      d: '4 ',
      e: '',
      'f=g': '5',
      long: 'one,two,three',
      path: 'C:\\x',
      tab: 'a\tb',
      u: 'é中',
      oddeven: 'x\\',
      after: '1',
    });
    expect(parseProperties('a=1\r\nb=2\rc=3')).toEqual({ a: '1', b: '2', c: '3' });
  });

  it('of the first start names every property and changes nothing', () => {
    const text = initialProperties();
    for (const { name } of properties)
      expect(text).toMatch(new RegExp(`^#?${name.replaceAll('.', '\\.')}=`, 'm'));
    expect(readConfig(parseProperties(text))).toEqual(readConfig({}));
    const all = parseProperties(text.replaceAll(/^#(?=(svc|cmd|metadb)\.)/gm, ''));
    expect(Object.keys(all)).toHaveLength(properties.length);
    expect(readConfig(all)).toEqual(readConfig({}));
  });

  it('gives way to the environment, DATABASE_URL to both', () => {
    expect(environmentName('cmd.enabled')).toBe('SVC_CMD_ENABLED');
    expect(environmentName('svc.migration.azcopy_binary')).toBe('SVC_MIGRATION_AZCOPY_BINARY');
    expect(environmentName('metadb.url')).toBe('SVC_METADB_URL');
    const file = { 'cmd.enabled': 'false', 'metadb.url': '' };
    expect(mergeSettings(file, { SVC_CMD_ENABLED: 'true', DATABASE_URL: 'postgres://a' })).toMatchObject({
      'cmd.enabled': 'true',
      'metadb.url': 'postgres://a',
    });
    expect(mergeSettings({ 'metadb.url': 'postgres://f' }, { DATABASE_URL: 'postgres://a' })).toMatchObject({
      'metadb.url': 'postgres://f',
    });
    expect(
      mergeSettings(file, { SVC_METADB_URL: 'postgres://s', DATABASE_URL: 'postgres://a' }),
    ).toMatchObject({ 'metadb.url': 'postgres://s' });
  });

  it('names what looks like a setting of the environment and is none', () => {
    const others = {
      SVC_HOME: '/h',
      SVC_KEY: 'k',
      SVC_CMD_ENABLED: 'true',
      PATH: '/bin',
      SVC_METADB_URL: '',
    };
    expect(unknownSettings(others)).toEqual([]);
    expect(unknownSettings({ ...others, SVC_CMD_ENABLD: 'true', SVC_LIMITS_UPLAOD: '1 MiB' })).toEqual([
      'SVC_CMD_ENABLD',
      'SVC_LIMITS_UPLAOD',
    ]);
  });
});

describe('settings that a host hands to the application', () => {
  const config = readConfig({
    'svc.files.store': 's3://bucket/prefix',
    'svc.files.s3_access_key': 'a',
    'svc.files.s3_secret_key': 'b',
    'svc.oidc.issuer': 'https://issuer',
    'svc.oidc.audience': 'jobs',
    'svc.oidc.jwks': 'https://issuer/keys',
    'svc.oidc.scopes': 'analyst=jobs:read',
    'svc.webhooks.url': 'https://receiver/hooks',
    'svc.webhooks.secret': `whsec_${'QUJD'.repeat(10)}`,
    'svc.openlineage.url': 'https://receiver/lineage',
    'svc.spark.conf': 'spark.cores.max=4',
  });

  it('are taken as they were read', () => {
    expect(() => checkConfig(config)).not.toThrow();
    expect(() => checkConfig(readConfig({}))).not.toThrow();
  });

  it('are refused with every member that is wrong, and without its value', () => {
    const { corsOrigins: _, ...rest } = config;
    const wrong = {
      ...rest,
      secretKey: { c4n4ry: 1 },
      limits: { ...config.limits, leaseMs: 'c4n4ry', engine: { ...config.limits.engine, xmlMaxDepth: -1 } },
    };
    let complaints: readonly string[] = [];
    try {
      checkConfig(wrong);
    } catch (error) {
      if (error instanceof ConfigError) complaints = error.complaints;
    }
    expect(complaints.map((line) => line.split(':')[0])).toEqual([
      'config.secretKey',
      'config.corsOrigins',
      'config.limits.leaseMs',
      'config.limits.engine.xmlMaxDepth',
    ]);
    expect(complaints.join()).not.toContain('c4n4ry');
  });
});
