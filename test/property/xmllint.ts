/** An independent validator; properties that need it are skipped where it is not installed. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** What it cannot do; a complaint of that kind says nothing. */
const shortcomings = [
  // an unparsed entity is known in attributes alone
  / '(?:picture ?)+' is not a valid value of /,
  // an extension that adds no particle is none of the content model
  /A type cannot be derived by extension from a type which has an 'all' model group/,
  // a type without namespace, imported
  /The QName value '\{\}[^']*' of the xsi:type attribute does not resolve/,
  // enumerations of lists with an empty one
  /Internal error: xmlSchemaCheckFacet/,
  /Unimplemented block|Internal error: xmlSchemaParse/,
  // (a*, b{0,3}){2,5}: whether the group's round or the particle's goes on, it is the same particle; our own rules look at that
  /The content model is not determinist/,
];

/** What it says against the XSD set (whose first file is the one to start from) or the documents; null: nothing. */
export async function xmllintComplaint(
  files: Readonly<Record<string, string>>,
  documents: readonly (string | Uint8Array)[],
): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'property-xsd-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    const names = documents.map((_, index) => `document-${index + 1}.xml`);
    for (const [index, name] of names.entries()) await writeFile(join(folder, name), documents[index]!);
    const start = Object.keys(files)[0]!;
    const argv = ['--noout', '--nonet', '--noent', '--schema', start, ...names];
    return await new Promise((settle) => {
      execFile('xmllint', argv, { cwd: folder, timeout: 20_000 }, (error, _, complaint) =>
        settle(error === null ? null : complaintOf(complaint)),
      );
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function complaintOf(output: string): string | null {
  const lines = output
    .split('\n')
    .filter((line) => / error : |Unimplemented/.test(line) && !shortcomings.some((one) => one.test(line)));
  return lines.length === 0 ? null : lines.join('\n');
}
