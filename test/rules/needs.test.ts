/** What a test says it needs: skipped where that is missing, failed where it was to be there. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isHere, lackOf, needs, programOf, type Part } from '../support/needs.ts';

/** Parts that are one program, and that program. */
const programs: readonly (readonly [Part, string])[] = [
  ['curl', 'curl'],
  ['mariadb', 'mysql'],
  ['mariadbd', 'mariadbd'],
  ['postgresql', 'initdb'],
  ['promtool', 'promtool'],
  ['psql', 'psql'],
  ['s3 server', 'moto_server'],
  ['setpriv', 'setpriv'],
  ['sshd', 'sshd'],
  ['sqlite3', 'sqlite3'],
  ['xmllint', 'xmllint'],
];

describe('what a test needs', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'needs-'));
    for (const [, name] of programs) {
      writeFileSync(join(folder, name), '#!/bin/sh\n');
      chmodSync(join(folder, name), 0o755);
    }
    vi.stubEnv('PATH', folder);
    vi.stubEnv('REQUIRE', '');
    for (const variable of ['MARIADB', 'MARIADBD', 'PROMTOOL', 'PSQL', 'SQLITE3', 'VERSITYGW'])
      vi.stubEnv(variable, undefined);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  it.each(programs)('%s, when it alone is missing, is what is told to be missing', (part, name) => {
    expect(programOf(part)).toBe(join(folder, name));
    rmSync(join(folder, name));
    expect(programs.filter(([one]) => !isHere(one)).map(([one]) => one)).toEqual([part]);
    expect(needs(part)).toMatchObject({ skip: true, meta: { lacks: { part } } });
    expect(lackOf(programs.map(([one]) => one))).toMatchObject({ part });
  });

  it('fails instead of being skipped where REQUIRE names it, and nothing else does', () => {
    rmSync(join(folder, 'psql'));
    vi.stubEnv('REQUIRE', 'xmllint, psql');
    expect(() => needs('psql')).toThrow(/^REQUIRE names psql: not here \(Debian: postgresql-client\)$/);
    expect(needs('xmllint')).toEqual({});
    rmSync(join(folder, 'curl'));
    expect(needs('curl')).toMatchObject({ skip: true });
    vi.stubEnv('REQUIRE', 'psqll');
    expect(() => needs('curl')).toThrow('REQUIRE: there is no part "psqll"');
  });

  it('is a program of another place where a variable names one', () => {
    rmSync(join(folder, 'sqlite3'));
    vi.stubEnv('SQLITE3', join(folder, 'xmllint'));
    expect(programOf('sqlite3')).toBe(join(folder, 'xmllint'));
    vi.stubEnv('SQLITE3', '');
    expect(isHere('sqlite3')).toBe(false);
  });
});
