/** Advice for a document with an unknown root: names the stored origin that knows it, if there is one. */
import { InputError } from '../../engine/diagnostics.ts';
import { startsWith } from '../../engine/map/chosen-roots.ts';
import { clarkName, type QName } from '../../engine/model/source-model.ts';
import { howToUseXsd } from '../../jobs/options/xsd-inputs.ts';
import type { CatalogStore, OriginRecord } from '../../ports/stores/catalog.ts';

/** origins whose models are looked into, those that look most like it first */
const maxOrigins = 20;

/** Origins of the organisation alone are named. */
export function createRootAdvice(
  catalog: Pick<CatalogStore, 'listOrigins' | 'loadOrigin'>,
  idOrg: number,
): (error: InputError) => Promise<InputError> {
  const advice = new Map<string, Promise<string>>();
  const adviceFor = (name: QName): Promise<string> => {
    const key = clarkName(name);
    const known = advice.get(key);
    if (known !== undefined) return known;
    // a failed look-up must not hide why the document is refused
    const found = originWith(catalog, idOrg, name).then(adviceOf, () => adviceOf(null));
    advice.set(key, found);
    return found;
  };
  return async (error) => {
    const { diagnostic } = error;
    const { code, name, message } = diagnostic;
    if (code === 'xsd_as_document')
      return new InputError({
        ...diagnostic,
        message: `${message}: ${howToUseXsd(diagnostic.file ?? 'FILE')}`,
      });
    if (code !== 'unknown_root' || name === undefined) return error;
    return new InputError({ ...diagnostic, message: `${message}; ${await adviceFor(name)}` });
  };
}

function adviceOf(origin: OriginRecord | null): string {
  const next =
    origin === null
      ? 'no stored origin knows it: make one of its XSD with xsd2er and name it with -x'
      : `origin ${origin.id_sch} (${origin.name}) knows it: load it with -x ${origin.id_sch}`;
  return `${next}; or keep such documents whole, beside the data, with --unmapped capture`;
}

/** The newest that has such a root. */
async function originWith(
  catalog: Pick<CatalogStore, 'listOrigins' | 'loadOrigin'>,
  idOrg: number,
  name: QName,
): Promise<OriginRecord | null> {
  const { namespaceUri, localName } = name;
  const looksAlike = ({ root_elements: roots }: OriginRecord): boolean =>
    roots.some((root) => root === localName || root.endsWith(`:${localName}`));
  const candidates = (await catalog.listOrigins(idOrg)).filter(
    ({ namespaces, target_namespace: target }) =>
      namespaceUri === '' || target === namespaceUri || Object.values(namespaces).includes(namespaceUri),
  );
  const ordered = [...candidates.filter(looksAlike), ...candidates.filter((origin) => !looksAlike(origin))];
  for (const { id_sch: idSch } of ordered.slice(0, maxOrigins)) {
    const origin = await catalog.loadOrigin(idOrg, idSch);
    if (origin !== null && startsWith(origin.model, name)) return origin.record;
  }
  return null;
}
