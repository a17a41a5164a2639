import { corpusGroups, groupModel, groupSource } from '../test/support/round-trip-corpus.ts';
import { readCorpus } from '../test/support/corpus.ts';
for (const g of corpusGroups().filter((g) => ['netex','scap-oval','siri'].includes(g.corpus))) { const s = groupSource(g); const docs = g.documents.map((d) => readCorpus(d));
for (const l of [0,1,2,3] as const) { const m = groupModel(s.source, l, docs);
 const wide = m.tables.filter((t) => t.columns.length > 1000).map((t) => `${t.name} ${t.columns.length} (${t.columns.filter((c) => c.role==='parent_key').length} parents)`);
 console.log(g.corpus, l, m.tables.length, Math.max(...m.tables.map((t)=>t.columns.length)), wide.length, wide.slice(0,4)); } }
