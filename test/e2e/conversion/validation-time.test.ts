/** A value that a validator would match with its pattern for ever: its document is a reject, others are loaded, and a kill is not kept waiting. */
import { beforeAll, describe, expect, it } from 'vitest';
import { execution, type ServiceClient } from '../../support/service/client.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="d"><xs:complexType><xs:sequence>
  <xs:element name="v"><xs:simpleType><xs:restriction base="xs:string"><xs:pattern value="(a|aa)+b"/></xs:restriction></xs:simpleType></xs:element>
  </xs:sequence></xs:complexType></xs:element></xs:schema>`;
const limitSeconds = 5;

describe('the time limit of validation', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let client: ServiceClient;
  let documents: string[];
  let set: string;

  beforeAll(async () => {
    const home = await trial.home({
      'cmd.enabled': 'true',
      'svc.limits.validation_time': `${limitSeconds} s`,
    });
    ({ client } = await trial.service(home));
    set = await client.upload('xsd', 'd.xsd', Buffer.from(xsd));
    documents = [
      await client.upload('xml', 'hard.xml', Buffer.from(`<d><v>${'a'.repeat(60_000)}</v></d>`)),
      await client.upload('xml', 'easy.xml', Buffer.from('<d><v>aaab</v></d>')),
    ];
  });

  const run = async (target: string): Promise<number> => {
    const { jobs } = await client.run([
      execution('xml2er', 'uploads/**/*.xml', [
        ['--xsd', set],
        ['--validate'],
        ['--on-error', 'skip'],
        ['-o', target],
      ]),
    ]);
    return jobs[0]!;
  };

  it('rejects the document, and lets others go on', async () => {
    const ended = await client.ended(await run('first'));
    expect(ended.status).toBe('C');
    const log = await client.log(ended.id_job);
    expect(log).toMatch(
      /hard\.xml: line 1, column \d+: --validate: it could not be checked within 5 s \(svc\.limits\.validation_time\)/,
    );
    expect(log).toContain('loaded 1, unknown root 0, rejected 1');
    expect(documents).toHaveLength(2);
  });

  it('does not keep a kill waiting', async () => {
    const idJob = await run('second');
    await eventually('the check', async () =>
      (await client.log(idJob)).includes('checking the documents') ? true : null,
    );
    const askedMs = Date.now();
    await client.fetch(`/v2/executions/kill/${idJob}`, { method: 'POST' });
    const ended = await client.ended(idJob);
    expect(ended.status).toBe('K');
    expect(ended.end_date! - askedMs).toBeLessThan(3000);
  });
});
