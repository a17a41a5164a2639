/** Targets, read from their text. */
import { describe, expect, it } from 'vitest';
import { isHostAllowed, parseTarget } from '../../../../src/service/jobs/request/target.ts';

describe('target', () => {
  it('reads the four kinds', () => {
    expect(parseTarget('metadb:donuts')).toEqual({ kind: 'metadb', sqlSchema: 'donuts' });
    expect(parseTarget('duckdb:out/x.db')).toEqual({ kind: 'duckdb', file: 'out/x.db' });
    expect(parseTarget('sqlite:out/x.db')).toEqual({ kind: 'sqlite', file: 'out/x.db' });
    expect(parseTarget('out/folder')).toEqual({ kind: 'folder', path: 'out/folder' });
    expect(parseTarget('postgresql://lo%40d:p%2Fw@DWH:5433/la%20ke?schema=Donuts&sslmode=require')).toEqual({
      kind: 'postgresql',
      address: 'postgresql://dwh:5433/la%20ke',
      host: 'dwh',
      port: 5433,
      database: 'la ke',
      user: 'lo@d',
      password: 'p/w',
      sqlSchema: 'Donuts',
      sslmode: 'require',
    });
    expect(parseTarget('postgres://[::1]')).toMatchObject({
      host: '[::1]',
      port: 5432,
      database: null,
      user: null,
      sqlSchema: 'public',
    });
  });

  it.each([
    'postgresql://u:c4n4ry@h@h',
    'postgresql://h/c4n4ry@h',
    'postgresql://u:5432?c4n4ry@h',
    'postgresql://u?c4n4ry@h/x',
  ])('tells of a password that is not escaped, without repeating it: %s', (text) => {
    const read = parseTarget(text);
    if ('fault' in read) expect(read.fault).not.toContain('c4n4ry');
    else expect(JSON.stringify({ ...read, password: null })).not.toContain('c4n4ry');
  });

  it.each([
    'metadb:',
    'metadb:svc',
    'metadb:SVC',
    'metadb:public',
    'metadb:pg_catalog',
    'metadb:pg_toast',
    'metadb:_svc_staging_7_0123abcd',
    'metadb:_SVC_x',
    'metadb:information_schema',
    `metadb:${'x'.repeat(64)}`,
    'metadb:a\nb',
    'metadb:svc ',
    'metadb:\u{A0}orders',
    'metadb:pub\u{200B}lic',
    'metadb:or\u{AD}ders',
    'metadb:\u{202E}sredro',
    'postgresql://h/d?schema=or%E2%80%8Bders',
    'duckdb:',
    'sqlite:',
    '',
    'sqlserver://h/d',
    'https://h/',
    'file:///etc',
    'postgresql:///d',
    'postgresql://a,b/d',
    'postgresql://a:1,b:2/d',
    'postgresql://%2Fvar%2Frun/d',
    'postgresql://h/d?host=evil',
    'postgresql://u:p@h/d%00options%00-c',
    'postgresql://u%00user:p@h/d',
    'postgresql://u:p%0a@h/d',
    'postgresql://h/d?schema=a&schema=b',
    'postgresql://h/d?options=-c',
    'postgresql://h/d?sslmode=never',
    'postgresql://h/d#x',
    'postgresql://h/d?schema=pg_catalog',
    'postgresql://h:0/d',
    'postgresql://h:99999/d',
    'postgresql://u:p@x/y@h/d',
    'postgresql://u:%zz@h/d',
    'postgresql:h',
    'postgresql://h/a/b',
  ])('refuses %j', (text) => {
    expect(parseTarget(text)).toHaveProperty('fault');
  });

  it('reads a namespace of a catalogue, however it is spelled', () => {
    const text =
      'iceberg:https://Catalogue.example:8443/api/catalog/?namespace=bank.orders&warehouse=s3%3A%2F%2Fw%2Fx';
    expect(parseTarget(text)).toEqual({
      kind: 'iceberg',
      location:
        'iceberg:https://catalogue.example:8443/api/catalog?warehouse=s3%3A%2F%2Fw%2Fx&namespace=bank.orders',
      address: 'https://catalogue.example:8443/api/catalog',
      host: 'catalogue.example',
      port: 8443,
      warehouse: 's3://w/x',
      namespace: ['bank', 'orders'],
    });
    expect(parseTarget('iceberg:http://127.0.0.1:8181?namespace=n')).toMatchObject({
      address: 'http://127.0.0.1:8181',
      warehouse: null,
      namespace: ['n'],
    });
  });

  it.each([
    'iceberg:',
    'iceberg:catalogue.example?namespace=n',
    'iceberg:ftp://h?namespace=n',
    'iceberg:http://catalogue.example?namespace=n',
    'iceberg:https://c4n4ry:c4n4ry@h?namespace=n',
    'iceberg:https://c4n4ry@h?namespace=n',
    'iceberg:https://h',
    'iceberg:https://h?warehouse=w',
    'iceberg:https://h?namespace=',
    'iceberg:https://h?namespace=a..b',
    'iceberg:https://h?namespace=n&warehouse=',
    'iceberg:https://h?namespace=n&namespace=m',
    'iceberg:https://h?namespace=n&token=c4n4ry',
    'iceberg:https://h?namespace=n&c4n4ry',
    'iceberg:https://h?namespace=n#c4n4ry',
    'iceberg:https://h?namespace=or%E2%80%8Bders',
    'iceberg:https://h h?namespace=n',
  ])('refuses a catalogue that is no such thing, and repeats nothing of it: %s', (text) => {
    expect(parseTarget(text)).toEqual({ fault: expect.not.stringContaining('c4n4ry') as string });
  });

  it.each([
    "host=db.example password='se cret'",
    'host=db.example user=u PASSWORD = x',
    'password=x',
    'Server=db;Database=d;Pwd=x;',
    'AccountName=a;AccountKey=eA==',
    'BlobEndpoint=a;SharedAccessSignature=sv=1&sig=x',
    'container/path?sv=1&sig=x',
    'duckdb:x.db?access_token=x',
    'duckdb:postgres:password=se cret',
    '{"host":"h","password": "se cret"}',
    "{'pwd':'se cret'}",
  ])('takes no connection string for the name of a folder, and does not repeat it: %s', (text) => {
    const found = parseTarget(text);
    expect(found).toEqual({ fault: expect.stringMatching(/connection string/) });
    expect(JSON.stringify(found)).not.toMatch(/se cret|eA==/);
  });

  it('takes folders with = in their names', () => {
    for (const path of ['country=at/day=1', 'passwords/out', 'a;b', 'signature=1'])
      expect(parseTarget(path)).toEqual({ kind: 'folder', path });
  });

  it('allows hosts by their very text', () => {
    expect(isHostAllowed([], '127.0.0.1', 5432)).toBe(false);
    expect(isHostAllowed(['*'], 'anything', 1)).toBe(true);
    expect(isHostAllowed(['dwh'], 'dwh', 5433)).toBe(true);
    expect(isHostAllowed(['dwh:5432'], 'dwh', 5433)).toBe(false);
    for (const host of ['2130706433', '0x7f000001', '[::ffff:127.0.0.1]', '127.1', 'localhost']) {
      expect(isHostAllowed(['127.0.0.1'], host, 5432)).toBe(false);
    }
  });
});
