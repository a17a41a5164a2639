import { mkdirSync, writeFileSync } from 'node:fs';
import { corpusGroups, groupModel, groupSource } from '../test/support/round-trip-corpus.ts';
import { readCorpus } from '../test/support/corpus.ts';
import { roundTrip } from '../test/support/round-trip.ts';
mkdirSync('/tmp/rtdump', { recursive: true });
let n = 0;
for (const g0 of corpusGroups()) {
  const inf = process.argv[2] === 'inf';
  const group = {
    ...g0,
    documents: g0.documents.slice(0, Number(process.argv[3] ?? 3)),
    ...(inf ? { xsd: null } : {}),
  };
  const source = groupSource(group);
  const docs = group.documents.map((d) => readCorpus(d));
  const model = groupModel(source.source, 3, docs);
  const out = await roundTrip(model, docs);
  for (const [i, d] of docs.entries()) {
    writeFileSync(`/tmp/rtdump/${n}.a.xml`, d);
    writeFileSync(`/tmp/rtdump/${n}.b.xml`, out[i]!);
    n++;
  }
}
console.log(n);
