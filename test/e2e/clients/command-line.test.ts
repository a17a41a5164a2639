/** What `conversion-job-service` shows a person of jobs and schemas, and programs as JSON; completion in a real shell. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { toolOptions } from '../../../src/service/jobs/option-table.ts';
import { projectRoot, serviceEnvironment, type ServiceHome } from '../../support/service/start.ts';
import { convert, type Summary } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

describe('conversion-job-service', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let loaded: Summary;
  beforeAll(async () => {
    home = await trial.home();
    const document = join(home.directory, 'fleet.xml');
    await writeFile(
      document,
      '<fleet><ship><name>Aurora</name></ship><ship><name>Fram</name></ship></fleet>',
    );
    loaded = await convert(home, 'xml2er', document, '-o', 'metadb:fleet');
  });

  async function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const bin = join(projectRoot, 'bin/conversion-job-service.mjs');
    const options = { env: serviceEnvironment(home), cwd: home.directory };
    return promisify(execFile)(process.execPath, [bin, ...args], options).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
  }
  const json = async (...args: string[]): Promise<unknown> =>
    JSON.parse((await run(...args, '--json')).stdout);

  it('tells how it goes, and what was loaded', async () => {
    const job = String(loaded.job);
    expect((await run('status')).stdout).toMatch(/^jobs +1 completed$/m);
    expect(await json('status')).toMatchObject({ jobs: { completed: 1 }, schemas: 1, targets: ['fleet'] });
    expect((await run('jobs')).stdout).toMatch(
      new RegExp(`^${job} +completed +Parse +${loaded.origin} `, 'm'),
    );
    expect(await json('jobs')).toMatchObject([{ id_job: loaded.job, status: 'C', job_type: 'Parse' }]);
    expect((await run('job', job)).stdout).toMatch(/^status +completed$/m);
    expect(await json('job', job)).toMatchObject({ id_job: loaded.job, status: 'C' });
    for (const follow of [[], ['--follow']])
      expect((await run('log', job, ...follow)).stdout).toMatch(/^xml2er started, job \d+\n[^]*loaded 1, /);
    expect((await run('targets')).stdout).toMatch(/^fleet /m);
    expect((await run('targets', 'kinds')).stdout).toMatch(/^MySQL, MariaDB +mysql2 .*MariaDB 10\.11/m);
  });

  it('tells schemas by name and id: tables, statements, drawing', async () => {
    expect((await run('schemas')).stdout).toMatch(/^1 +fleet +1 +xml .* fleet$/m);
    for (const which of ['fleet', String(loaded.origin)]) {
      expect((await run('schema', which)).stdout).toMatch(/^ship +\d+ +fleet +\/fleet\/ship$/m);
      expect((await run('ddl', which, '--dialect', 'mysql')).stdout).toContain('CREATE TABLE `ship`');
    }
    expect(await json('schema', 'fleet')).toMatchObject({
      id_sch: loaded.origin,
      tables: [{ name: 'fleet' }, {}],
    });
    const drawn = await run('diagram', 'fleet', '-o', 'fleet.svg');
    expect(drawn.stdout).toContain('is the diagram of schema 1');
    expect(await readFile(join(home.directory, 'fleet.svg'), 'utf8')).toMatch(/^<svg [^]*ship/);
  });

  it('has the programs that packages of other names might take for theirs', async () => {
    const gone = await run('unload', '-l', String(loaded.logical), '-i', 'metadb:fleet', '-D', 'none.xml');
    expect(gone.code + gone.stdout).toMatch(/none\.xml/);
    const folder = join(home.directory, 'package');
    const moved = await run('migrate', 'export', '-x', String(loaded.origin), '-o', folder);
    expect([moved.code, moved.stdout]).toEqual([0, expect.stringContaining('"error":false')]);
  });

  it.each([
    [['jbos'], 2, 'did you mean jobs?'],
    [['keys'], 2, 'there are keys issue, keys list, keys revoke'],
    [['schemas', '--jsn'], 2, 'did you mean json?'],
    [['schema'], 2, 'schema takes NAME|ID'],
    [['schema', 'flete'], 1, 'did you mean fleet? there is 1 (fleet)'],
    [['schema', '77'], 1, 'there is no schema 77; there is 1 (fleet)'],
    [['job', '77'], 1, 'there is no job 77; the newest is'],
    [['ddl', 'fleet', '--dialect', 'mysq'], 2, 'did you mean mysql?'],
    [['diagram', 'fleet', '-o', 'no/such/folder.svg'], 1, 'no/such'],
    [['completion', 'csh'], 2, 'bash, zsh, fish'],
  ] as const)('%j: says what to do instead', async (args, code, text) => {
    const ran = await run(...args);
    expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(text)]);
  });

  it('completes commands, options and values in bash', async () => {
    const { stdout: script } = await run('completion', 'bash');
    const file = join(home.directory, 'completion.bash');
    await writeFile(file, script);
    const complete = async (...words: string[]): Promise<string[]> => {
      const [program, word, before] = [words[0]!, words.at(-1)!, words.at(-2)!];
      const list = words.map((one) => `'${one}'`).join(' ');
      const text = `source ${file}; COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}
        fn=$(complete -p ${program} | sed 's/.*-F \\([^ ]*\\).*/\\1/'); $fn ${program} '${word}' '${before}'; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return (await promisify(execFile)('bash', ['-c', text], { cwd: home.directory })).stdout
        .trim()
        .split('\n');
    };
    expect(await complete('xml2er', 'fleet.xml', '--xs')).toEqual(['--xsd']);
    expect(await complete('xml2er', '-S', '')).toEqual(['e', 'a', 'o', 'i', 'm', 'w', 'p']);
    expect(await complete('xml2er', 'fl')).toContain('fleet.xml');
    expect(await complete('conversion-job-service', 'sch')).toEqual(['schemas', 'schema']);
    expect(await complete('conversion-job-service', 'keys', '')).toEqual(['issue', 'list', 'revoke']);
    for (const { long, tools } of toolOptions)
      for (const tool of tools) expect(await complete(tool, long)).toContain(long);
    for (const shell of ['zsh', 'fish']) {
      const other = (await run('completion', shell)).stdout;
      expect(toolOptions.filter(({ long }) => !other.includes(long.slice(2)))).toEqual([]);
    }
  });
});
