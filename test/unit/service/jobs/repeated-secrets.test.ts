/** A secret that a request names in one place and repeats in another: in clear nowhere that is stored or read. */
import { expect, it } from 'vitest';
import { newJob } from '../../../../src/service/jobs/new-job.ts';
import { parseToolArguments } from '../../../../src/service/jobs/request/read-request.ts';
import { openRequest, sealRequest } from '../../../../src/service/jobs/request/stored-request.ts';
import { createMemoryAdapters } from '../../../support/memory/adapters.ts';
import { shownSecrets } from '../../../../src/service/watches/define.ts';

const cases: readonly (readonly [address: string, plain: string])[] = [
  ['mysql://rdr:kestrel77@db/crm', 'kestrel77'],
  ['mysql://rdr:tern%2631@db/crm', 'tern&31'],
  ['postgresql://rdr:tern%2631@db/crm', 'tern%2631'],
];

it.each(cases)('%s and %s in its query', async (from, secret) => {
  const query = `select id, x from orders where token = '${secret}'`;
  const request = parseToolArguments('xml2er', [
    '--from',
    from,
    '--query',
    query,
    '--xml-column',
    'x',
    '--after',
    'id',
    '-o',
    `metadb:orders`,
    '--name',
    `by ${secret}`,
  ]);
  const { secrets } = createMemoryAdapters();
  const sealed = await sealRequest(request, secrets);
  const job = newJob(request, sealed, {});
  for (const text of [job.params, job.paramsJson, job.request, job.inputPath]) {
    expect(text).not.toContain('kestrel77');
    expect(text).not.toMatch(/tern(?:&|%26)31/);
  }
  expect(job.params).toContain('***');
  expect(JSON.parse(job.paramsJson)).toMatchObject({
    action: { query: "select id, x from orders where token = '***'" },
  });
  expect(await openRequest(sealed, secrets)).toMatchObject({ from, query, name: `by ${secret}` });
  const shown = shownSecrets({ location: from, target: 'metadb:orders', options: { '--query': query } });
  expect(shown.options).toEqual({ '--query': "select id, x from orders where token = '***'" });
});

it('a password of the target is masked in the options of a watch', () => {
  const shown = shownSecrets({
    location: 'in',
    target: 'postgresql://u@h/d',
    options: { '--out-password': 'kestrel77', '--column': ['a=kestrel77', 'b=1'] },
  });
  expect(shown.options).toEqual({ '--out-password': '***', '--column': ['a=***', 'b=1'] });
});
