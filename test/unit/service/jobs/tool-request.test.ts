/** Command lines, read into requests. */
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../../src/errors.ts';
import {
  parseModeOf,
  requestDefaults,
  type RequestItem,
} from '../../../../src/service/jobs/request/tool-request.ts';
import type { Tool } from '../../../../src/service/jobs/request/tools.ts';
import { parseExecution, parseToolArguments } from '../../../../src/service/jobs/request/read-request.ts';

function failure(act: () => unknown): AppError {
  try {
    act();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const usage = (tool: Tool, ...argv: string[]): string =>
  failure(() => parseToolArguments(tool, argv)).message;

describe('command line', () => {
  it('reads short, attached, long and joined forms alike', () => {
    const given = [{ long: '--map', value: '1' }];
    const wanted = { tool: 'xml2er', ...requestDefaults, given, inputs: ['a.xml'], mapLevel: 1 };
    for (const form of [['-g', '1'], ['-g1'], ['--map', '1'], ['--map=1']]) {
      expect(parseToolArguments('xml2er', [...form, 'a.xml'])).toEqual(wanted);
      expect(parseToolArguments('xml2er', ['a.xml', ...form])).toEqual(wanted);
    }
  });

  it('reads every option of xml2er', () => {
    const request = parseToolArguments('xml2er', [
      'a.xml',
      'b/*.xml',
      '-x',
      '5',
      '-a',
      '3,4',
      '-e',
      'd',
      '-s',
      '-o',
      'metadb:donuts',
      '-f',
      'parquet',
      '-S',
      'o',
      '-u',
      'loader',
      '-p',
      'secret',
      '-r',
      'pre_',
      '-y',
      '_suf',
      '--namemode',
      'u',
      '--rename',
      'a=b,c=d',
      '--name-max-len',
      '30',
      '--default-varchar-len',
      '100',
      '-R',
      'loaded:timestamp NOW',
      '-R',
      'job',
      'ID',
      '-R',
      'source=web = shop',
      '--root',
      'stays',
      '--row-tag',
      'stay',
      '--parquet-version',
      '1',
      '--keys',
      'hash',
      '--validate',
      '--unmapped',
      'report',
      '--on-error',
      'skip',
      '--prune',
      '--tables',
      'all',
      '--codes',
      'check',
      '--views',
      '--skip-loaded',
      '--concatenated',
      '--no-samples',
      '--workers',
      '4',
      '--engine',
      'spark',
      '--spark-conf',
      'spark.executor.memory=4g',
      '--json',
    ]);
    expect(request).toEqual({
      tool: 'xml2er',
      given: expect.any(Array),
      inputs: ['a.xml', 'b/*.xml'],
      json: true,
      originId: { id: 5 },
      useStats: [3, 4],
      parseMode: 'data',
      dryRun: true,
      out: 'metadb:donuts',
      format: 'parquet',
      parquetVersion: 1,
      saveMode: 'overwrite',
      outUser: 'loader',
      outPassword: 'secret',
      prefix: 'pre_',
      suffix: '_suf',
      nameMode: 'u',
      rename: [
        ['a', 'b'],
        ['c', 'd'],
      ],
      nameMaxLen: 30,
      defaultVarcharLen: 100,
      extraColumns: [
        { name: 'loaded', type: 'timestamp', kind: 'now' },
        { name: 'job', type: 'bigint', kind: 'id' },
        { name: 'source', type: 'text', kind: 'value', value: 'web = shop' },
      ],
      root: 'stays',
      rowTag: 'stay',
      keys: 'hash',
      keepsOtherRoots: false,
      validate: true,
      unmapped: 'report',
      onError: 'skip',
      prune: true,
      tables: 'all',
      codes: 'check',
      views: true,
      skipLoaded: true,
      concatenated: true,
      missing: 'fail',
      noSamples: true,
      workers: 4,
      engine: 'spark',
      sparkConf: { 'spark.executor.memory': '4g' },
    });
  });

  it('takes everything after -- and a lone - as inputs', () => {
    expect(parseToolArguments('xml2er', ['--', '-g', '--odd.xml']).inputs).toEqual(['-g', '--odd.xml']);
    expect(parseToolArguments('xml2er', ['-']).inputs).toEqual(['-']);
  });

  it('takes a job, with nothing but --json beside it', () => {
    expect(parseToolArguments('xml2er', ['-j', '7', '--json'])).toMatchObject({
      tool: 'xml2er',
      ...requestDefaults,
      given: [{ long: '--job' }, { long: '--json' }],
      jobId: 7,
      json: true,
    });
    expect(usage('xml2er', '-j', '7', '-g', '1')).toContain('only --json');
    expect(usage('xml2er', '-j', '7', 'a.xml')).toContain('only --json');
  });

  it('refuses what makes no sense', () => {
    expect(usage('xml2er')).toContain('needs an input');
    expect(usage('xml2er', 'a.xml', '-l', '3', '-g', '1')).toContain('only one of them');
    expect(usage('xml2er', 'a.xml', '-x', '3', '--name', 'n')).toContain('--name is for a new origin');
    expect(usage('xml2er', 'a.xml', '-e', 'a')).toContain('needs -o');
    expect(usage('xml2er', 'a.xml', '-l', '3', '--on-drift', 'evolve')).toContain('name the origin with -x');
    expect(usage('xml2er', 'a.xml', '--unmapped', 'fail', '--on-drift', 'keep')).toContain(
      'only one of them',
    );
    expect(usage('xml2er', 'a.xml', '-e', 'd', '-o', 'out')).toContain('needs -x, -l or --xsd');
    const loaded = ['a.xml', '-o', 'out', '--parquet-version'];
    expect(usage('xml2er', ...loaded, '3', '-f', 'parquet')).toContain('must be one of 1, 2');
    expect(usage('xml2er', ...loaded, '1', '-f', 'csv')).toContain('add -f parquet or -f delta');
    expect(usage('xml2er', ...loaded, '2', '-f', 'delta,iceberg')).toContain('omit it, or use 1');
    expect(usage('xml2er', 'a.xml', '-g', '4')).toContain('from 0 to 3');
    expect(usage('xml2er', 'a.xml', '-g', '1e0')).toContain('from 0 to 3');
    expect(usage('xml2er', 'a.xml', '-g', '1', '--map', '2')).toContain('given twice');
    expect(usage('xml2er', 'a.xml', '-o')).toContain('-o needs a value');
    expect(usage('xml2er', 'a.xml', '-o', '--json')).toContain('-o needs a value');
    expect(usage('xml2er', 'a.xml', '--validate=yes')).toContain('takes no value');
    expect(usage('xml2er', 'a.xml', '-x', '$0')).toContain('id of an origin');
    expect(usage('xml2er', 'a.xml', '-R', 'c:money NOW')).toContain('type must be one of');
    expect(usage('xml2er', 'a.xml', '-R', 'c:boolean NOW')).toContain('cannot fill');
    expect(usage('xml2er', 'a.xml', '-R', 'c')).toContain('must be NAME[:TYPE]');
    for (const wrong of [
      ['-r', '_svc_staging_7_0123abcd_'],
      ['-r', '_SVC_'],
      ['--rename', 'order=_Svc_order'],
      ['-R', '_svc_x NOW'],
    ])
      expect(usage('xsd2er', 'a.xsd', ...wrong)).toContain('names that begin with _svc_ are reserved');
    for (const wrong of [
      ['--rename', 'a=b,id=Document_Key'],
      ['-R', 'document_key:bigint ID'],
    ])
      expect(usage('xml2er', 'a.xml', ...wrong)).toContain('it is the key of the document');
    expect(usage('xsd2er', 'a.xsd', '-o', 'out')).toContain('no option "-o"');
    expect(usage('er2xml', '-l', '3', '-i', 'metadb:x')).toContain('needs -o');
    expect(usage('er2xml', 'a.xml', '-l', '3', '-i', 'metadb:x', '-o', 'out')).toContain('not files');
    expect(usage('unload', '-l', '3', '-i', 'metadb:x')).toContain('needs -D');
  });

  it('tells unknown options from wrong ones', () => {
    expect(failure(() => parseToolArguments('xml2er', ['a.xml', '--nonsense'])).code).toBe('unknown_option');
    expect(failure(() => parseToolArguments('xml2er', ['a.xml', '-S', 'x'])).code).toBe('invalid_option');
  });

  it('says what is parsed when no mode is given', () => {
    expect(parseModeOf(parseToolArguments('xml2er', ['a.xml']))).toBe('statistics');
    expect(parseModeOf(parseToolArguments('xml2er', ['a.xml', '-o', 'out']))).toBe('all');
    expect(parseModeOf(parseToolArguments('xml2er', ['a.xml', '-o', 'out', '-e', 's']))).toBe('statistics');
  });
});

const item = (at: number, flag: string, value?: string): RequestItem => ({
  pointer: `/executions/1/target/generation/${at}`,
  flag,
  value,
});

describe('items of a request', () => {
  const input: RequestItem = { pointer: '/executions/1/source/file', flag: null, value: 'a.xml' };

  it('collects every complaint with its place', () => {
    const error = failure(() =>
      parseExecution(
        'xml2er',
        [
          input,
          item(0, '-g', '9'),
          item(1, '--nope=se cret'),
          item(2, '-s', 'yes'),
          item(3, '-o', ''),
          item(4, '-r', 'a\0b'),
          item(5, '-j', '7'),
        ],
        1,
      ),
    );
    expect(error.code).toBe('unknown_option');
    // what stands behind = may be a secret
    expect(error.errors[1]!.detail).toBe('xml2er has no option "--nope=…"');
    expect(error.errors.map(({ pointer }) => pointer)).toEqual([
      '/executions/1/target/generation/0/value',
      '/executions/1/target/generation/1/command',
      '/executions/1/target/generation/2/value',
      '/executions/1/target/generation/3/value',
      '/executions/1/target/generation/4/value',
      '/executions/1/target/generation/5/command',
    ]);
  });

  it('points at the option that is out of place', () => {
    const error = failure(() =>
      parseExecution('xml2er', [input, item(0, '--logical', '2'), item(1, '--map', '1')], 1),
    );
    expect(error.errors.map(({ pointer }) => pointer)).toEqual(['/executions/1/target/generation/1/command']);
    expect(failure(() => parseExecution('xml2er', [], 1)).errors.map(({ pointer }) => pointer)).toEqual([
      '/executions/1',
    ]);
  });

  it('keeps values literally', () => {
    for (const value of ['; rm -rf x', '$(id)', 'a\nb', "it's"]) {
      expect(parseExecution('xml2er', [input, item(0, '-o', value)], 1).out).toBe(value);
    }
  });

  it('takes nothing that is invisible, or turns text around, into a name', () => {
    for (const hidden of ['\u0007', '\n', '\u202e', '\u2066', '\u2028', '\u0085'])
      for (const flag of ['--prefix', '--suffix', '--rename', '--root', '--row-tag', '-u']) {
        const value = flag === '--rename' ? `a=b${hidden}` : `a${hidden}b`;
        const given = [input, item(0, flag, value), item(1, '-o', 'x')];
        expect([flag, failure(() => parseExecution('xml2er', given, 1)).message]).toEqual([
          flag,
          expect.stringContaining('must not contain control characters'),
        ]);
      }
    expect(() => parseToolArguments('xml2er', ['a.xml', '--prefix', 'a\tb'])).toThrow('control characters');
  });

  it('refers to earlier executions only', () => {
    expect(parseExecution('xml2er', [input, item(0, '-x', '$0')], 1).originId).toEqual({ ref: 0 });
    expect(failure(() => parseExecution('xml2er', [input, item(0, '-x', '$1')], 1)).message).toContain(
      'before this one',
    );
    expect(failure(() => parseExecution('xml2er', [input, item(0, '-x', '$x')], 1)).code).toBe(
      'invalid_option',
    );
  });

  it('numbers rows by hashes on Spark, and refuses what other machines cannot do', () => {
    expect(parseToolArguments('xml2er', ['a.xml', '-o', 'metadb:x', '--engine', 'spark']).keys).toBe('hash');
    expect(parseToolArguments('xml2er', ['a.xml', '-o', 'metadb:x']).keys).toBe('sequence');
    for (const more of [
      ['--keys', 'sequence'],
      ['-S', 'm'],
    ]) {
      const argv = ['a.xml', '-o', 'metadb:x', '--engine', 'spark', ...more];
      expect(parseToolArguments('xml2er', argv).keys).toBe('sequence');
    }
    expect(failure(() => parseToolArguments('xml2er', ['-', '--engine', 'spark'])).message).toMatch(
      /^--engine spark/,
    );
  });

  it('opens only memory, cores, instances and tags of Spark', () => {
    const settings = [
      item(0, '--spark-conf', 'spark.executor.memory=4g'),
      item(1, '--spark-conf', 'spark.yarn.tags=a'),
    ];
    expect(parseExecution('xml2er', [input, ...settings], 1).sparkConf).toEqual({
      'spark.executor.memory': '4g',
      'spark.yarn.tags': 'a',
    });
    for (const value of [
      'spark.driver.extraJavaOptions=-Dx',
      'spark.jars=http://x',
      'spark.executor.memory=4g --jars x',
      'memory',
    ]) {
      expect(failure(() => parseExecution('xml2er', [input, item(0, '--spark-conf', value)], 1)).code).toBe(
        'invalid_option',
      );
    }
  });
});
