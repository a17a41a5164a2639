import {
  corpusGroups,
  groupModel,
  groupSource,
  documentDifference,
} from '../test/support/round-trip-corpus.ts';
import { readCorpus } from '../test/support/corpus.ts';
import { mutated } from '../test/support/mutated-documents.ts';
import { constructs } from '../test/unit/unshred/constructs.ts';
import { bytesOf, compiled, inferred } from '../test/support/shredding.ts';
const [seeds = '20', corpus = 'constructs', maxBytes = '20000', changes = '4', inf = ''] =
  process.argv.slice(2);
let n = 0,
  bad = 0;
const seen = new Map<string, number>();
async function check(source: any, docs: Uint8Array[], label: string) {
  for (const level of [0, 1, 2, 3] as const) {
    const model = groupModel(source.source, level, docs);
    for (const [i, d] of docs.entries())
      for (let s = 1; s <= Number(seeds); s++) {
        const text = mutated(d, s * 7919 + i, 1 + (s % Number(changes)));
        n++;
        let why: string | null = null;
        try {
          const diff = await documentDifference(source, model, bytesOf(text));
          if (diff) why = JSON.stringify(diff);
        } catch (e) {
          why = String((e as Error).stack).slice(0, 600);
        }
        if (why) {
          bad++;
          const k = why
            .replace(/"path":"[^"]*"/, '')
            .replace(/\d+/g, '9')
            .slice(0, 60);
          const c = (seen.get(k) ?? 0) + 1;
          seen.set(k, c);
          if (c <= 2)
            console.log(
              label,
              'L' + level,
              'doc',
              i,
              'seed',
              s,
              why,
              text.length < 1200 ? '\n   ' + text : '',
            );
        }
      }
  }
}
if (corpus === 'constructs')
  for (const c of constructs) {
    await check(
      { source: inf ? inferred(c.documents.map(bytesOf)) : compiled(c.xsd), inferred: false },
      c.documents.map(bytesOf).filter((d) => d.length < 5000),
      c.name,
    );
  }
else
  for (const g of corpusGroups()) {
    if (corpus !== 'all' && g.corpus !== corpus) continue;
    const docs = g.documents
      .map((d) => readCorpus(d))
      .filter((d) => d.length < Number(maxBytes))
      .slice(0, 4);
    if (docs.length)
      await check(inf ? { source: inferred(docs), inferred: true } : groupSource(g), docs, g.corpus);
  }
console.log({ n, bad });
