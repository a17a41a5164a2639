/** Doors that take a secret: credentials, inputs and targets, as they are to be written and as people write them. */
import type { Options } from '../../support/service/client.ts';
import { canary, nobody, raw } from './canary.ts';

type Members = Readonly<Record<string, unknown>> & { readonly name: string };

export const credentialsOf = (host: string): readonly Members[] => [
  {
    name: 's3',
    kind: 's3',
    endpoint: `http://${host}`,
    access_key: 'AK',
    secret_key: canary('S3'),
    session_token: raw('Session'),
  },
  {
    name: 'az',
    kind: 'az',
    endpoint: `http://${host}/account`,
    access_key: 'account',
    token: `sv=1&sig=${raw('Sas')}`,
  },
  {
    name: 'key',
    kind: 'az',
    endpoint: `http://${host}/account`,
    access_key: 'account',
    secret_key: Buffer.from(canary('AzKey')).toString('base64'),
  },
  { name: 'bearer', kind: 'https', host, token: raw('Bearer') },
  { name: 'basic', kind: 'https', host, user: 'ann', password: canary('Basic') },
  { name: 'sftp', kind: 'sftp', host: nobody, user: 'ann', password: canary('Sftp') },
];

export const wrongCredentials = (host: string): readonly Members[] => [
  { name: 's3', kind: 's3', access_key: 'AK', secret_key: canary('Again') },
  { name: 'x', kind: 's3', acces_key: raw('Misspelt'), secret_key: canary('Misspelt') },
  { name: 'x', kind: 'https', host: `ann:${raw('Host')}@${host}`, token: raw('Host') },
  {
    name: 'x',
    kind: 's3',
    endpoint: `https://ann:${raw('Endpoint')}@${host}`,
    access_key: 'A',
    secret_key: 'B',
  },
  { name: 'x', kind: 'sftp', host, user: 'ann', secret_key: canary('NoKey'), password: canary('Both') },
  { name: 'x', kind: 'az', access_key: `AccountKey=${raw('Account')}`, secret_key: 'x' },
  { name: 'x', kind: 'az', access_key: 'account', token: `?sv=1\n${raw('Lines')}` },
  { name: raw('Name/'), kind: 'https', host, token: [raw('List')] },
  { name: 'x', kind: raw('Kind'), token: { nested: raw('Nested') } },
  { name: 'x', kind: 'https', host, token: `${raw('Break')}\r\nX: y` },
];

/** Inputs and options of jobs: the first loads, the others are refused by the servers that they name. */
export const loadsOf = (
  host: string,
  silentHost: string,
  input: string,
): readonly (readonly [string, Options])[] => [
  [`http://${host}/feed/a.xml`, [['-o', 'metadb:feed']]],
  [
    `http://${host}/feed/bad.xml`,
    [
      ['--credential', 'feed'],
      ['-o', 'metadb:bad'],
    ],
  ],
  [
    `http://${host}/refused`,
    [
      ['--credential', 'bearer'],
      ['-o', 'metadb:x'],
    ],
  ],
  [
    `http://${host}/refused`,
    [
      ['--credential', 'basic'],
      ['-o', 'metadb:x'],
    ],
  ],
  [`http://${host}/signed`, [['-o', 'metadb:x']]],
  [
    `http://${host}/elsewhere`,
    [
      ['--credential', 'bearer'],
      ['-o', 'metadb:x'],
    ],
  ],
  ['s3://store/in/a.xml', [['-o', 'metadb:x']]],
  [
    's3://other/a.xml',
    [
      ['--credential', 's3'],
      ['-o', 'metadb:x'],
    ],
  ],
  ['az://blobs/in/', [['-o', 'metadb:x']]],
  [
    'az://other/a.xml',
    [
      ['--credential', 'az'],
      ['-o', 'metadb:x'],
    ],
  ],
  [
    'az://other/a.xml',
    [
      ['--credential', 'key'],
      ['-o', 'metadb:x'],
    ],
  ],
  [`sftp://ann@${silentHost}/in/a.xml`, [['-o', 'metadb:x']]],
  [
    `sftp://ann@${nobody}/a.xml`,
    [
      ['--credential', 'sftp'],
      ['-o', 'metadb:x'],
    ],
  ],
  [input, [['-o', 's3://store/in/out']]],
  [input, [['-o', `mysql://u:${raw('Mysql')}@${nobody}/x`]]],
  [
    input,
    [
      ['-o', `postgresql://u@${nobody}/x?sslmode=disable`],
      ['-p', canary('Option')],
    ],
  ],
  [
    input,
    [
      ['-o', `iceberg:http://${host}/catalogue?warehouse=w&namespace=n`],
      ['--credential', 'bearer'],
    ],
  ],
];

/** As people write them: in the address, with what ends a host in the password, in parameters. */
export const wrongly = (name: string, host: string): string[] => [
  `https://ann:${raw(name)}@${host}/a.xml`,
  `https://ann:x/${raw(name)}@${host}/a.xml`,
  `https://ann:x@${raw(name)}@${host}/a.xml`,
  `https://ann:x#${raw(name)}@${host}/a.xml`,
  `https://ann:x?${raw(name)}@${host}/a.xml`,
  `https://${host}/a.xml?sig=${raw(name)}`,
  `https://${host}/a.xml?password=${raw(name)}`,
  `https://${host}/a.xml?X-Amz-Security-Token=${raw(name)}`,
  `s3://AK:${raw(name)}@bucket/a.xml`,
  `s3://AK:x/${raw(name)}@bucket/a.xml`,
  `az://account:x/${raw(name)}@container/a.xml`,
  `sftp://ann:${raw(name)}@${nobody}/a.xml`,
  `sftp://ann:x/${raw(name)}@${nobody}/a.xml`,
  `ftp://ann:x/${raw(name)}@${nobody}/a.xml`,
];

export const wrongTargets: readonly string[] = [
  `postgresql://u:x/${raw('Target')}@${nobody}/x`,
  `postgresql://${nobody}/x?password=${raw('Target')}`,
  `mysql://u:x#${raw('Target')}@${nobody}/x`,
  `iceberg:https://u:${raw('Target')}@${nobody}/x?warehouse=w&namespace=n`,
  `iceberg:https://${nobody}/x?warehouse=w&namespace=n&token=${raw('Target')}`,
  `s3://AK:x/${raw('Target')}@bucket/x`,
  `az://account:${raw('Target')}@container/x`,
  `host=${nobody} password='${raw('Target')} x'`,
];
