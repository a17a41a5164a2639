/** Finds origins and logical schemas by their names; if a name or an id does not exist, the message lists the existing ones. */
import { didYouMean } from '../../engine/closest-word.ts';
import { AppError } from '../../errors.ts';
import type { CatalogStore, OriginRecord } from '../../ports/stores/catalog.ts';
import { familiesOf } from './logical-schema.ts';

type Names = Pick<CatalogStore, 'listOrigins' | 'listLogicalSchemas'>;

/** origins that a message names; the rest are counted */
const maxNamed = 10;

/** The schema that a name identifies. */
export interface NamedOrigin {
  readonly origin: OriginRecord;
  /** number of versions of the schema; its newest one is meant */
  readonly versions: number;
}

/**
 * Returns the newest version of the schema with that name, which must be unique to one family of versions. AppError `not_found` lists
 * the existing names; `conflict` lists the candidates.
 */
export async function originNamed(catalog: Names, idOrg: number, name: string): Promise<NamedOrigin> {
  const origins = await catalog.listOrigins(idOrg);
  const families = familiesOf(origins).filter((family) => family.some((origin) => origin.name === name));
  if (families.length > 1) {
    const meant = families.flat().filter((origin) => origin.name === name);
    const detail = `the name ${JSON.stringify(name)} is ambiguous: it names origins ${listed(meant)}; give the id of one`;
    throw new AppError('conflict', detail);
  }
  const origin = families[0]?.at(-1);
  if (origin === undefined)
    throw new AppError(
      'not_found',
      `there is no origin called ${JSON.stringify(name)}${among(origins, name)}`,
    );
  return { origin, versions: families[0]!.length };
}

/** The only logical schema of an origin's newest version that is no variant. AppError `not_found`, `conflict` as `originNamed`. */
export async function logicalNamed(catalog: Names, idOrg: number, name: string): Promise<number> {
  const { origin } = await originNamed(catalog, idOrg, name);
  const all = await catalog.listLogicalSchemas(idOrg, origin.id_sch);
  const standard = all.filter(({ variant }) => !variant);
  const meant = standard.length > 0 ? standard : all;
  const [only] = meant;
  if (only === undefined)
    throw new AppError('not_found', `origin ${origin.id_sch} (${name}) has no logical schema`);
  if (meant.length === 1) return only.idLschma;
  const ids = meant.map(({ idLschma }) => idLschma).join(', ');
  throw new AppError(
    'conflict',
    `the name ${JSON.stringify(name)} is ambiguous: origin ${origin.id_sch} has the logical schemas ${ids}; give the id of one, or -x ${origin.id_sch}, by which the target decides`,
  );
}

/** `; there are 4 (orders, version 2) and 1 (fpml)`, for a message about an id or a name that is none of them. */
export async function knownOrigins(catalog: Names, idOrg: number): Promise<string> {
  return among(await catalog.listOrigins(idOrg), null);
}

/** Like `knownOrigins`, with the logical schemas of each. */
export async function knownLogicals(catalog: Names, idOrg: number): Promise<string> {
  const origins = (await catalog.listOrigins(idOrg)).slice(0, maxNamed);
  const known = await Promise.all(
    origins.map(async ({ id_sch: idSch, name }) => {
      const all = await catalog.listLogicalSchemas(idOrg, idSch);
      return all.length === 0
        ? []
        : [`${all.map(({ idLschma }) => idLschma).join(', ')} (of origin ${idSch}, ${name})`];
    }),
  );
  const list = known.flat();
  return list.length === 0 ? '' : `; there are ${list.join(', ')}`;
}

function among(origins: readonly OriginRecord[], name: string | null): string {
  if (origins.length === 0)
    return '; there is none yet: xsd2er makes one of an XSD set, xml2er one of documents';
  const meant = name === null ? '' : didYouMean(name, new Set(origins.map((origin) => origin.name)));
  return `${meant}${meant === '' ? '; ' : ' '}there ${origins.length === 1 ? 'is' : 'are'} ${listed(origins)}`;
}

function listed(origins: readonly OriginRecord[]): string {
  const names = origins
    .slice(0, maxNamed)
    .map(({ id_sch, name, version }) => `${id_sch} (${name}${version > 1 ? `, version ${version}` : ''})`);
  const rest = origins.length - names.length;
  return `${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
