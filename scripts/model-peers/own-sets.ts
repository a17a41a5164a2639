/** Sets of one's own, with questions to them: `FOLDER/NAME.json` has what a standard of ours has, `FOLDER/TOOL/NAME.sql` the queries to a tool's tables. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { corpusDirectory } from '../../test/support/needs.ts';
import type { Standard } from '../../test/support/questions/kinds.ts';

const value = z.union([
  z.string(),
  z.strictObject({ key: z.string(), among: z.string(), by: z.string(), take: z.string() }),
]);

const ownSet = z.strictObject({
  title: z.string(),
  xsd: z.string(),
  documents: z.array(z.string()).min(1),
  namespaces: z.record(z.string(), z.string()).default({}),
  questions: z
    .array(z.strictObject({ text: z.string(), rows: z.string(), columns: z.record(z.string(), value) }))
    .min(1),
});

/** In the order of their names. Error: a file that is no set, or names what is not in the corpus. */
export function ownSets(folder: string): Standard[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.toSorted().map((file) => {
    const path = join(folder, file);
    const name = file.slice(0, -'.json'.length);
    if (!/^[a-z][a-z0-9_]*$/.test(name))
      throw new Error(`${path}: a set is called by small letters, digits and _, as its SQL schema is`);
    const set = ownSet.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    if (!set.success) throw new Error(`${path}: ${z.prettifyError(set.error)}`);
    const absent = [set.data.xsd, ...set.data.documents].find(
      (one) => !existsSync(join(corpusDirectory, one)),
    );
    if (absent !== undefined)
      throw new Error(`${path}: there is no ${absent} in ${corpusDirectory}, which CORPUS_DIR names`);
    return { name, ...set.data };
  });
}
