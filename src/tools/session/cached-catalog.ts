/** A catalogue that remembers the schemas of one run, as its steps ask for the same one after the other. */
import type { CatalogStore } from '../../ports/stores/catalog.ts';

/** Milliseconds after which a value is read again, because another job may have changed it. */
const freshMs = 5_000;

/** Reads of origins and logical schemas are remembered for a few seconds, and forgotten with the first change. */
export function rememberReads(catalog: CatalogStore): CatalogStore {
  const known = new Map<string, { readonly since: number; readonly answer: Promise<unknown> }>();

  function remember<T>(question: unknown, ask: () => Promise<T>): Promise<T> {
    const key = JSON.stringify(question);
    const earlier = known.get(key);
    if (earlier !== undefined && performance.now() - earlier.since < freshMs)
      return earlier.answer as Promise<T>;
    const answer = ask();
    known.set(key, { since: performance.now(), answer });
    answer.catch(() => known.delete(key));
    return answer;
  }

  function forgetting<Given extends readonly unknown[], T>(
    change: (...given: Given) => Promise<T>,
  ): (...given: Given) => Promise<T> {
    return (...given) => {
      known.clear();
      return change(...given).finally(() => known.clear());
    };
  }

  return {
    ...catalog,
    loadOrigin: (idOrg, idSch) => remember(['origin', idOrg, idSch], () => catalog.loadOrigin(idOrg, idSch)),
    loadLogicalSchema: (idOrg, which) =>
      remember(['logical schema', idOrg, which], () => catalog.loadLogicalSchema(idOrg, which)),
    createOrigin: forgetting(catalog.createOrigin),
    createLogicalSchema: forgetting(catalog.createLogicalSchema),
    refineOrigin: forgetting(catalog.refineOrigin),
    saveStatistics: forgetting(catalog.saveStatistics),
    setMappingsActive: forgetting(catalog.setMappingsActive),
    removeOrigin: forgetting(catalog.removeOrigin),
  };
}
