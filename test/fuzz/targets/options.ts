/** Options, targets and properties: what is asked for, or a complaint that repeats no secret. */
import { properties, readConfig } from '../../../src/config/properties.ts';
import { ConfigError } from '../../../src/config/wrong-settings.ts';
import { AppError } from '../../../src/errors.ts';
import { maskSecrets } from '../../../src/service/jobs/mask-secrets.ts';
import { parseTarget } from '../../../src/service/jobs/request/target.ts';
import { tools } from '../../../src/service/jobs/request/tools.ts';
import { toolOptions } from '../../../src/service/jobs/option-table.ts';
import { parseProperties } from '../../../src/config/java-properties.ts';
import { Finding, type FuzzTarget } from '../fuzzer.ts';
import type { Random } from '../random.ts';
import { parseExecution, parseToolArguments } from '../../../src/service/jobs/request/read-request.ts';

const secret = 'c4n4ryS3cret';
const pieces = [
  '',
  ' ',
  '0',
  '1',
  '3',
  '4',
  '-1',
  '1e3',
  '9007199254740993',
  '$0',
  '$1',
  '$-1',
  'a',
  'é',
  '😀',
  '\ud800',
  '\0',
  '\n',
  '\r',
  '=',
  ':',
  ',',
  ';',
  '/',
  '../',
  '@',
  '?',
  '#',
  '%',
  '%2F',
  '%zz',
  '[::1]',
  'postgresql://',
  'postgres:',
  'metadb:',
  'duckdb:',
  'sqlite:',
  'svc',
  'pg_x',
  'public',
  'host',
  ':5432',
  '-',
  '--',
  'NAME:int',
  'NOW',
  'old=new',
  'spark.executor.memory=1g',
  'schema=x',
  'sslmode=require',
  '__proto__',
  '64 MiB',
  '30 s',
  'true',
  '*',
  "'",
  '"',
  '\\',
  '$(id)',
  'x'.repeat(300),
];

export function createOptionsTarget(): FuzzTarget {
  const flags = toolOptions.flatMap(({ short, long }) => [short, long]).filter((flag) => flag !== null);

  function options(random: Random): void {
    const tool = random.pick(tools);
    const items = Array.from({ length: random.below(6) }, (_, at) => ({
      pointer: `/executions/0/target/${at}`,
      flag: random.chance(0.2) ? null : random.chance(0.9) ? random.pick(flags) : text(random),
      ...(random.chance(0.8) ? { value: text(random) } : {}),
    }));
    refuses(JSON.stringify(items), () => parseExecution(tool, items, random.below(3)));
    const argv = items.flatMap(({ flag, value }) => [flag, value]).filter((one) => typeof one === 'string');
    refuses(argv.join('\n'), () => parseToolArguments(tool, argv));
  }

  return {
    name: 'options',
    step(random) {
      random.pick([options, target, settings])(random);
    },
    close: () => Promise.resolve(),
  };
}

function target(random: Random): void {
  const shown = `postgresql://${text(random)}:${secret}@${text(random)}`;
  const read = parseTarget(shown);
  if ('fault' in read && read.fault.includes(secret))
    throw new Finding('a complaint repeats the password', shown);
  if (
    'kind' in read &&
    read.kind === 'postgresql' &&
    `${read.address}${read.host}${read.sqlSchema}`.includes(secret)
  )
    throw new Finding('the password stands in the address', shown);
  const logged = `${text(random)} postgresql://u:${secret}@h/${text(random)}`;
  if (maskSecrets(logged).includes(secret)) throw new Finding('the password is not masked', logged);
}

function settings(random: Random): void {
  const lines = Array.from({ length: 1 + random.below(5) }, () => {
    const name = random.chance(0.9) ? random.pick(properties).name : text(random);
    return `${name}${random.pick(['=', ':', ' ', ' = '])}${text(random)}`;
  }).join(random.pick(['\n', '\r\n', '\\\n']));
  try {
    readConfig(parseProperties(`${lines}\n\nsvc.secret.key=${secret}\n`));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw new Finding(`settings throw ${String(error)}`, lines, error);
    if (error.message.includes(secret)) throw new Finding('a complaint repeats the key', lines);
  }
}

function text(random: Random): string {
  return Array.from({ length: 1 + random.below(4) }, () => random.pick(pieces)).join('');
}

function refuses(input: string, read: () => unknown): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof AppError)) throw new Finding(`options throw ${String(error)}`, input, error);
  }
}
