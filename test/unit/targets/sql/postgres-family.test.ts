/** Servers that speak PostgreSQL's protocol: which are loaded, and which are refused. */
import { describe, expect, it } from 'vitest';
import { otherProduct } from '../../../../src/targets/sql/postgres/connection.ts';

describe('what version() answers', () => {
  it.each([
    [
      'PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2, Redshift 1.0.56754',
      'Amazon Redshift',
    ],
    ['CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27, go1.19.10)', 'CockroachDB'],
    ['PostgreSQL 11.2-YB-2.18.0.0-b0 on x86_64-pc-linux-gnu, 64-bit', 'YugabyteDB'],
    ['PostgreSQL 9.4.24 (Greenplum Database 6.9.1 build commit:bc72b2a) on x86_64', 'Greenplum'],
  ])('%s is refused', (version, product) => {
    expect(otherProduct(version)?.product).toBe(product);
  });

  it.each([
    'PostgreSQL 15.8 (Debian 15.8-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc, 64-bit',
    'PostgreSQL 17.2 on aarch64-apple-darwin23.6.0, compiled by clang',
  ])('%s is loaded', (version) => {
    expect(otherProduct(version)).toBeNull();
  });
});
