/** Metrics, settings and loggers as Spring Boot's actuator writes them. */
import { z } from '@hono/zod-openapi';
import type { LogLevel } from '../../ports/environment.ts';

const names = z.array(z.string());
export const logLevels = ['OFF', 'ERROR', 'WARN', 'INFO'] as const satisfies readonly LogLevel[];

const level = z.enum(logLevels);

export const MetricNames = z
  .object({ names })
  .openapi('MetricNames', { example: { names: ['svc.http.requests', 'svc.jobs'] } });

const Measurement = z
  .object({ statistic: z.string(), value: z.number() })
  .openapi('Measurement', { example: { statistic: 'COUNT', value: 17 } });

const AvailableTag = z.object({ tag: z.string(), values: names }).openapi('AvailableTag', {
  description: 'A tag of the samples of a metric, for `?tag=TAG:VALUE`.',
  example: { tag: 'status', values: ['2xx', '4xx'] },
});

export const Metric = z
  .object({
    name: z.string(),
    description: z.string(),
    baseUnit: z.string().optional(),
    measurements: z.array(Measurement),
    availableTags: z.array(AvailableTag),
  })
  .openapi('Metric', {
    example: {
      name: 'svc.http.requests',
      description: 'Requests answered, by route and class of status.',
      measurements: [{ statistic: 'COUNT', value: 17 }],
      availableTags: [{ tag: 'status', values: ['2xx', '4xx'] }],
    },
  });

const SettingValue = z.object({ value: z.string(), origin: z.string().optional() }).openapi('SettingValue', {
  description: 'The value of a setting that is not a default is masked.',
  example: { value: '******' },
});

const PropertySource = z
  .object({ name: z.string(), properties: z.record(z.string(), SettingValue) })
  .openapi('PropertySource', {
    example: { name: 'systemEnvironment', properties: { 'cmd.enabled': { value: '******' } } },
  });

export const EnvironmentSources = z
  .object({ activeProfiles: names, propertySources: z.array(PropertySource) })
  .openapi('EnvironmentSources', {
    description: 'Settings by source: the environment, `backend.properties`, or the defaults.',
    example: {
      activeProfiles: [],
      propertySources: [
        { name: 'systemEnvironment', properties: { 'cmd.enabled': { value: '******' } } },
        { name: 'default', properties: { 'svc.oidc.scope_claim': { value: 'scope' } } },
      ],
    },
  });

const UsedSetting = z
  .object({ source: z.string(), value: z.string() })
  .openapi('UsedSetting', { example: { source: 'systemEnvironment', value: '******' } });

const SourceOfSetting = z
  .object({ name: z.string(), property: SettingValue.optional() })
  .openapi('SourceOfSetting', { example: { name: 'systemEnvironment', property: { value: '******' } } });

export const EnvironmentSetting = z
  .object({ property: UsedSetting, activeProfiles: names, propertySources: z.array(SourceOfSetting) })
  .openapi('EnvironmentSetting', {
    example: {
      property: { source: 'systemEnvironment', value: '******' },
      activeProfiles: [],
      propertySources: [{ name: 'systemEnvironment', property: { value: '******' } }, { name: 'default' }],
    },
  });

export const LoggerLevel = z
  .object({ configuredLevel: level.optional(), effectiveLevel: level })
  .openapi('LoggerLevel', {
    description: '`configuredLevel`: the level set since the start, or null.',
    example: { effectiveLevel: 'INFO' },
  });

export const Loggers = z
  .object({
    levels: z.array(level),
    loggers: z.record(z.string(), LoggerLevel),
    groups: z.record(z.string(), z.unknown()),
  })
  .openapi('Loggers', {
    description: 'There is one logger, ROOT.',
    example: {
      levels: ['OFF', 'ERROR', 'WARN', 'INFO'],
      loggers: { ROOT: { effectiveLevel: 'INFO' } },
      groups: {},
    },
  });

export const LevelRequest = z
  .strictObject({ configuredLevel: level.nullable().optional() })
  .openapi('LevelRequest', {
    description: 'Without a level, or with null, the level of the start is restored.',
    example: { configuredLevel: 'WARN' },
  });
