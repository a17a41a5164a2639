import {
  corpusGroups,
  documentDifference,
  groupModel,
  groupSource,
} from '/work/main/test/support/round-trip-corpus.ts';
import { readCorpus } from '/work/main/test/support/corpus.ts';
const [levels = '1', only = '', inferredFlag = ''] = process.argv.slice(2);
for (const group0 of corpusGroups()) {
  if (only && group0.corpus !== only) continue;
  const group = inferredFlag ? { ...group0, xsd: null } : group0;
  let source;
  try {
    source = groupSource(group);
  } catch (e) {
    console.log(group.corpus, group.xsd, 'COMPILE', String(e).slice(0, 300));
    continue;
  }
  const docs = group.documents.map((d) => readCorpus(d));
  for (const level of levels.split(',').map(Number)) {
    const t = performance.now();
    const model = groupModel(source.source, level as 1, docs);
    let equal = 0;
    const reasons = new Map<string, string[]>();
    for (const [i, doc] of docs.entries()) {
      let reason: string | null = null;
      try {
        const d = await documentDifference(source, model, doc);
        if (d)
          reason = `${d.kind} ${d.path}: ${JSON.stringify(d.expected).slice(0, 80)} -> ${JSON.stringify(d.actual).slice(0, 80)}`;
      } catch (e) {
        reason = 'ERR ' + String((e as Error).stack).slice(0, 400);
      }
      if (reason === null) equal++;
      else {
        const k = reason.replace(/\d+/g, '9').slice(0, 60);
        (reasons.get(k) ?? (reasons.set(k, []), reasons.get(k)!)).push(group.documents[i] + ': ' + reason);
      }
    }
    console.log(
      `${group.corpus} ${group.xsd} L${level} tables=${model.tables.length} docs=${docs.length} equal=${equal} ${((performance.now() - t) / 1000).toFixed(1)}s`,
    );
    for (const [k, list] of reasons) console.log('   ', list.length, list[0]);
  }
}
