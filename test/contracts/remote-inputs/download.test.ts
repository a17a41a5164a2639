/** Files fetched from servers that break off, stall, lie, change what they serve, and lead elsewhere. */
import { describe, expect, it } from 'vitest';
import { file, rangeOf, useServed, whole } from './served.ts';

const { serve, fetched, refusal } = useServed();

describe('a file on a server', () => {
  it('is fetched as it lies there, and asked for without any packing', async () => {
    const { url, requests } = await serve((request, response) => file(request, response));
    expect((await fetched(url)).equals(whole)).toBe(true);
    expect(requests[0]!.headers['accept-encoding']).toBe('identity');
  });

  it('is taken up where a connection broke', async () => {
    const { url, requests } = await serve((request, response, number) =>
      file(request, response, {}, Math.min(whole.length, number * 70_000)),
    );
    expect((await fetched(url)).equals(whole)).toBe(true);
    // how much of a broken answer has reached the file is the machine's to say
    const begins = requests.map(rangeOf);
    expect(begins).toEqual(begins.toSorted((a, b) => a - b));
    expect(begins).toHaveLength(5);
  });

  it('is fetched anew where the server knows no ranges, or tells no version', async () => {
    const noRanges = await serve((_, response, number) => {
      response.writeHead(200, { ETag: '"v1"', 'Content-Length': whole.length });
      response.write(number < 3 ? whole.subarray(0, 1000) : whole);
      if (number < 3) setTimeout(() => response.destroy(), 20);
      else response.end();
    });
    expect((await fetched(noRanges.url)).equals(whole)).toBe(true);
    const noVersion = await serve((_, response, number) => {
      response.writeHead(200, { 'Content-Length': whole.length });
      response.write(number < 2 ? Buffer.alloc(1000, 1) : whole);
      if (number < 2) setTimeout(() => response.destroy(), 20);
      else response.end();
    });
    expect((await fetched(noVersion.url)).equals(whole)).toBe(true);
    expect(noVersion.requests.map((request) => request.headers.range)).toEqual([undefined, undefined]);
  });

  it.each([
    ['its version', { tag: '"v2"' }],
    ['its length', { bytes: Buffer.concat([whole, whole]) }],
  ])('that changes meanwhile, told by %s, is not loaded', async (_, other) => {
    const { url, requests } = await serve((request, response, number) =>
      number === 1 ? file(request, response, {}, 1000) : file(request, response, other),
    );
    expect(await refusal(url)).toEqual([
      'unprocessable_input',
      'http://HOST/a/file.xml: changed while it was read, so nothing was loaded; run the job again when no program writes the file',
    ]);
    // a connection whose answer nobody reads would keep the process running
    await expect.poll(() => requests.every(({ socket }) => socket.destroyed)).toBe(true);
  });

  it('that goes on past its listed length is stopped there, whatever its server says', async () => {
    const endless = await serve((_, response) => {
      const piece = Buffer.alloc(1024 * 1024, 60);
      const more = (): void => {
        if (!response.destroyed && response.write(piece)) setImmediate(more);
      };
      response.on('drain', more);
      response.writeHead(200, { ETag: '"v1"' });
      more();
    });
    const long = await serve((_, response) => {
      response.writeHead(200, { ETag: '"v1"', 'Content-Length': 3 * 1024 ** 3 });
      response.write(Buffer.alloc(1000));
    });
    for (const { url } of [endless, long])
      for (const bytes of [15, 100_000])
        expect(await refusal(url, { bytes })).toEqual([
          'unprocessable_input',
          `http://HOST/a/file.xml: the server sends more than the ${bytes} bytes that it listed, so nothing was loaded; if the file was replaced during the read, run the job again`,
        ]);
  });

  it('that a store unpacks may be longer than it was listed', async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { ETag: '"v1"', 'x-goog-stored-content-encoding': 'gzip' });
      response.end(whole);
    });
    expect((await fetched(url, { bytes: 2000 })).equals(whole)).toBe(true);
  });

  it('that is shorter than its server says is not loaded', async () => {
    const { url } = await serve((request, response) => {
      if (rangeOf(request) > 0) response.writeHead(416).end();
      else file(request, response, {}, 1000);
    });
    expect((await refusal(url))[0]).toBe('unprocessable_input');
    const { url: never } = await serve((_, response) => {
      response.writeHead(200, { 'Content-Length': 5000 });
      response.write(Buffer.alloc(100));
      setTimeout(() => response.destroy(), 5);
    });
    const [code, message] = await refusal(never);
    expect([code, message]).toEqual([
      'service_unavailable',
      expect.stringMatching(/^http:\/\/HOST\/a\/file\.xml: cannot be read now \(.+\); nothing was loaded$/),
    ]);
  });

  it('is waited for while its server has no time', async () => {
    const { url, requests } = await serve((request, response, number) => {
      if (number < 3) response.writeHead(503).end('later');
      else file(request, response);
    });
    expect((await fetched(url)).equals(whole)).toBe(true);
    expect(requests).toHaveLength(3);
  });

  it.each([
    [404, 'input_not_found'],
    [403, 'unprocessable_input'],
    [401, 'unprocessable_input'],
    [400, 'unprocessable_input'],
  ])('answered with %i is asked for once', async (status, code) => {
    const { url, requests } = await serve((_, response) => response.writeHead(status).end());
    expect(await refusal(url)).toEqual([code, expect.stringContaining(String(status))]);
    expect(requests).toHaveLength(1);
  });
});

describe('where a server leads', () => {
  it('is followed to hosts that may be reached, and to no other', async () => {
    const there = await serve((request, response) => file(request, response));
    const from = await serve((_, response) => response.writeHead(302, { Location: there.url.href }).end());
    const hosts = [from.url.host];
    expect((await refusal(from.url, { allowed: hosts }))[0]).toBe('host_not_allowed');
    expect(there.requests).toHaveLength(0);
    hosts.push(there.url.host);
    expect((await fetched(from.url, { allowed: hosts })).equals(whole)).toBe(true);
  });

  it('does not get the credentials of where it came from', async () => {
    const there = await serve((request, response) => file(request, response));
    const from = await serve((_, response) => response.writeHead(307, { Location: there.url.href }).end());
    const secret = { token: 'not-for-others', user: null, password: null };
    const access = { kind: 'https', host: from.url.host, ...secret } as const;
    await fetched(from.url, { access: { access, by: 'operator' } });
    expect(from.requests[0]!.headers.authorization).toBe('Bearer not-for-others');
    expect(there.requests[0]!.headers.authorization).toBeUndefined();
  });

  it('named by a request is checked, though its credential names it', async () => {
    const there = await serve((request, response) => file(request, response));
    const access = {
      kind: 'https',
      host: there.url.host,
      token: null,
      user: 'ann',
      password: 'é:/',
    } as const;
    const options = { allowed: [], access: { access, by: 'request' as const } };
    expect((await refusal(there.url, options))[0]).toBe('host_not_allowed');
    expect(there.requests).toHaveLength(0);
    await fetched(there.url, { ...options, allowed: [there.url.host] });
    expect(there.requests[0]!.headers.authorization).toBe(
      `Basic ${Buffer.from('ann:é:/').toString('base64')}`,
    );
  });

  it.each(['http://169.254.169.254/latest/meta-data', 'http://elsewhere.invalid/a.xml', 'ftp://127.0.0.1/a'])(
    'is not followed without TLS to another machine, whatever may be reached: %s',
    async (location) => {
      const { url } = await serve((_, response) => response.writeHead(302, { Location: location }).end());
      const [code, message] = await refusal(url, { allowed: ['*'] });
      expect([code, message]).toEqual(['host_not_allowed', expect.stringContaining('without TLS')]);
    },
  );

  it('has an end', async () => {
    const { url, requests } = await serve((_, response) =>
      response.writeHead(302, { Location: '/again' }).end(),
    );
    expect((await refusal(url))[0]).toBe('unprocessable_input');
    expect(requests).toHaveLength(6);
  });

  it.each([
    'http://169.254.169.254/latest/meta-data',
    'http://[::ffff:7f00:1]:1/',
    'file:///etc/passwd',
    'http://',
  ])('is refused: %s', async (location) => {
    const { url } = await serve((_, response) => response.writeHead(302, { Location: location }).end());
    expect(['host_not_allowed', 'unprocessable_input']).toContain(
      (await refusal(url, { allowed: [url.host] }))[0],
    );
  });
});
