/** What is masked of texts that people read. */
import { describe, expect, it } from 'vitest';
import { maskKnownSecrets, maskSecrets } from '../../../../src/service/jobs/mask-secrets.ts';

describe('masking', () => {
  it.each([
    ['postgres://u:p@ss:w@h/db', 'postgres://u:***@h/db'],
    // no address, but what a person may write
    ['postgresql://u:p/a+s@s=@h:5432/db?schema=s', 'postgresql://u:***@h:5432/db?schema=s'],
    ['s3://AK:se/cr?et#x@bucket/a.xml -o b', 's3://AK:***@bucket/a.xml -o b'],
    ['{"in":"sftp://ann:a/b@h/x","out":"c@d"}', '{"in":"sftp://ann:***@h/x","out":"c@d"}'],
    ['https://u:a@h/x https://v:8/0b@i/y', 'https://u:***@h/x https://v:8/0b@i/y'],
    // addresses with a port, and what is none
    ['https://h:8443/a@b.xml http://[::1]:80/a@b', 'https://h:8443/a@b.xml http://[::1]:80/a@b'],
    ['sftp://ann@h:22/a:b@c.xml s3://b/a:b@c', 'sftp://ann@h:22/a:b@c.xml s3://b/a:b@c'],
    ['https://u:a@h/x,postgresql://v:b@i/y?z=c@d', 'https://u:***@h/x,postgresql://v:***@i/y?z=c@d'],
    ['https://x/y?sv=1&sig=abc%2F', 'https://x/y?sv=1&sig=***'],
    ['spark.ssl.keyPassword=abc', 'spark.ssl.keyPassword=***'],
    ['Bearer svk_0a1b_Zz-9_q', 'Bearer svk_0a1b_***'],
    ['uploads/a.xml -g 3', 'uploads/a.xml -g 3'],
    ['x=https%3A%2F%2Fh%2F%3Fsv%3D1%26sig%3Dabc%252F&y=1', 'x=https%3A%2F%2Fh%2F%3Fsv%3D1%26sig%3D***&y=1'],
    ['{"password":"a\\"b","user":"u"}', '{"password":"***","user":"u"}'],
    ['AccountName=a;AccountKey=abc==;EndpointSuffix=x', 'AccountName=a;AccountKey=***;EndpointSuffix=x'],
    ['Authorization: Bearer abcdefghijklmnopqrstuvwxyz', 'Authorization: Bearer ***'],
    ['"authorization": "Basic QWxhZGRpbjpvcGVu"', '"authorization": "Basic ***"'],
    ['got eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln back', 'got *** back'],
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_***'],
    ['Basic information about a bearer of news', 'Basic information about a bearer of news'],
  ])('of %s', (text, masked) => {
    expect(maskSecrets(text)).toBe(masked);
  });

  // with steps that grow as the square of these, each would take longer than a test may
  it.each([
    'a',
    ',secretsecret',
    'secret',
    '"secret',
    'eyJ',
    'eyJaaaaaaaa.',
    'eyJaaaaaaaa-',
    'a://b',
    '://a:',
    '://a:b/',
    '://a:b/@',
    'sig=',
    'secret=&',
    '"secret":"\\',
    '"secret" ',
    'Bearer ',
    'whsec_/',
    'svk_a',
  ])('of a long text that holds nothing but %s', (part) => {
    const text = part.repeat(Math.ceil(5e5 / part.length));
    for (const end of ['', '=', '.', '"', '" : "', '.a.', '.a..'])
      expect(maskSecrets(`${text}${end} svk_0a_Zz9`).slice(-11)).toBe(' svk_0a_***');
  });

  it('of a signed token behind other words', () => {
    const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln';
    expect(maskSecrets(`x-${token}, a.b.${token}`)).toBe('x-***, a.b.***');
    expect(maskSecrets('a-eyJhbGci.b.c and eyJhbGciOiJSUzI1NiJ9.b')).toBe(
      'a-eyJhbGci.b.c and eyJhbGciOiJSUzI1NiJ9.b',
    );
  });

  it('of secrets that are known, wherever they stand', () => {
    expect(maskKnownSecrets('FATAL: hunter22 is wrong, hunter2 too', ['hunter2', 'hunter22', 'a'])).toBe(
      'FATAL: *** is wrong, *** too',
    );
  });
});

describe('masking of a known secret', () => {
  const secret = `c4n/ry "s&p" 'q' \\ <é> +%`;
  const utf8 = Buffer.from(secret);

  it.each([
    ['plain', secret],
    ['in an address', encodeURIComponent(secret)],
    [
      'in an address, lower case',
      encodeURIComponent(secret).replaceAll(/%../g, (code) => code.toLowerCase()),
    ],
    ['in a form', new URLSearchParams({ a: encodeURIComponent(secret) }).toString()],
    ['in JSON', JSON.stringify({ a: secret })],
    ['in JSON in JSON', JSON.stringify(JSON.stringify({ a: secret }))],
    ['in XML', secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')],
    ['in SQL', `'${secret.replaceAll("'", "''")}'`],
    ['in a shell', `'${secret.replaceAll("'", `'\\''`)}'`],
    ['in base64', utf8.toString('base64')],
    ['in base64url', utf8.toString('base64url')],
    ['in base64 behind one byte', Buffer.concat([Buffer.from('u'), utf8]).toString('base64')],
    [
      'in base64 behind a user',
      Buffer.concat([Buffer.from('ab'), utf8, Buffer.from('z')]).toString('base64'),
    ],
    ['in hex', utf8.toString('hex')],
    ['in upper-case hex', utf8.toString('hex').toUpperCase()],
  ])('%s', (_, text) => {
    const masked = maskKnownSecrets(`before ${text} after`, [secret]);
    expect(masked).toMatch(/^before .*\*\*\*.* after$/);
    expect(masked.length).toBeLessThan(60);
    for (const piece of ['c4n', 'YzRu', '63346e', 's&p', 'cnkg', '%22s%26p'])
      expect(masked).not.toContain(piece);
  });

  it('leaves other text as it is', () => {
    const text = 'xml2er started, job 7: 12 rows into "orders" at 3 MB/s';
    expect(maskKnownSecrets(text, [secret, 'row', 'ab'])).toBe(text);
  });
});
