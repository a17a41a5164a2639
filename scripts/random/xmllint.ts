/** Validation by libxml2's `xmllint`, a program that knows nothing of the engine. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface Validation {
  /** why the set or its check is beyond xmllint; null: it is not */
  readonly refusal: string | null;
  /** the complaints, by document; empty: it is valid */
  readonly complaints: readonly string[];
}

/** in milliseconds; some sets let xmllint try out more combinations than it ever ends with */
const longestRun = 30_000;

export function validate(files: Readonly<Record<string, string>>, documents: readonly string[]): Validation {
  const folder = mkdtempSync(join(tmpdir(), 'random-xsd-'));
  try {
    writeTexts(folder, files);
    const names = documents.map((_, at) => `document-${at + 1}.xml`);
    writeTexts(folder, Object.fromEntries(names.map((name, at) => [name, documents[at]!])));
    const argv = ['--noout', '--nonet', '--schema', Object.keys(files)[0]!, ...names];
    const { stderr, signal } = spawnSync('xmllint', argv, {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      timeout: longestRun,
    });
    if (signal !== null) return { refusal: 'it takes too long', complaints: [] };
    const lines = stderr.split('\n');
    const refusal = lines.find((line) =>
      /failed to compile|Schemas parser error|internal error|Internal error/.test(line),
    );
    const isComplaint = (line: string): boolean =>
      /error/.test(line) && !(miscounts(files) && /not expected/.test(line));
    const complaints = names.map((name) =>
      lines.filter((line) => line.startsWith(name) && isComplaint(line)).join('\n'),
    );
    return { refusal: refusal ?? null, complaints };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * libxml2 2.9.14 miscounts what repeats inside a group that must repeat. It refuses `bbnppbbll` for `(b{2,5}, (l | n?){2}, p*){2}`, which is
 * valid.
 */
function miscounts(files: Readonly<Record<string, string>>): boolean {
  return Object.values(files).some((text) => /<xs:(?:sequence|choice|group)[^>]* minOccurs="2"/.test(text));
}

export function writeTexts(folder: string, texts: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}
