/** XSDs among the inputs of xml2er: schemas and no documents, unless the schema in use describes XSDs. */
import { startsWith } from '../../engine/map/chosen-roots.ts';
import { isXsdRoot, xsdRoot } from '../../engine/shred/open-document.ts';
import type { CatalogStore } from '../../ports/stores/catalog.ts';
import type { ToolRequest } from './request/tool-request.ts';

/** Whether the name says so; a `.gz` of one, too. */
export function isXsdName(name: string): boolean {
  return /\.xsd(?:\.gz)?$/i.test(name);
}

export function xsdIsNoDocument(name: string): string {
  return `${name}: an XSD is not a document: ${howToUseXsd(name)}`;
}

export function howToUseXsd(name: string): string {
  return `xsd2er ${name} makes an origin from it, and xml2er -x loads documents with the origin; xml2er DOCUMENTS --xsd ${name} does both`;
}

/** Whether the schema that the options name describes XSDs; null: it is not made yet. One that is not there does not. */
export async function takesXsdDocuments(
  catalog: Pick<CatalogStore, 'loadOrigin' | 'loadLogicalSchema'>,
  idOrg: number,
  { originId, logicalId }: Pick<ToolRequest, 'originId' | 'logicalId'>,
): Promise<boolean | null> {
  if (logicalId !== undefined) {
    const logical = await catalog.loadLogicalSchema(idOrg, { idLschma: logicalId });
    return logical?.model.roots.some(({ name }) => isXsdRoot(name)) ?? false;
  }
  if (originId === undefined || 'auto' in originId) return false;
  if (!('id' in originId)) return null;
  const origin = await catalog.loadOrigin(idOrg, originId.id);
  return origin !== null && startsWith(origin.model, xsdRoot);
}
