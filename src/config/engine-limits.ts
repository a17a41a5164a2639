/** The limits of untrusted XML and XSD: the engine's own defaults, as properties; and the description of any limit. */
import { sizeUnits } from './values.ts';
import { defaultEngineLimits, type EngineLimits } from '../engine/limits.ts';

export interface LimitSpec {
  readonly property: `svc.limits.${string}`;
  readonly kind: 'count' | 'size' | 'size or none' | 'time' | 'seconds or none';
  /** default value as written in the properties */
  readonly initial: string;
  /** quantity that is limited */
  readonly meaning: string;
  /** behaviour past the limit */
  readonly past: string;
  /** attack that it prevents, and the reason why it is so high */
  readonly why: string;
}

const fails = 'F with line and column';

export const engineLimitSpecs = {
  xmlMaxDepth: {
    property: 'svc.limits.xml_depth',
    kind: 'count',
    initial: String(defaultEngineLimits.xmlMaxDepth),
    meaning: 'nesting of elements',
    past: fails,
    why: 'each open element takes memory; documents in use are less than 100 levels deep',
  },
  xmlMaxAttributes: {
    property: 'svc.limits.xml_attributes',
    kind: 'count',
    initial: String(defaultEngineLimits.xmlMaxAttributes),
    meaning: 'attributes of one element',
    past: fails,
    why: 'all attributes of a tag are buffered until its end to check that no name occurs twice',
  },
  xmlMaxNameBytes: {
    property: 'svc.limits.xml_name',
    kind: 'size',
    initial: inUnits(defaultEngineLimits.xmlMaxNameBytes, 'KiB'),
    meaning: 'size of a name',
    past: fails,
    why: 'every distinct name is kept until the document ends',
  },
  xmlMaxEntityExpansionBytes: {
    property: 'svc.limits.xml_entity_expansion',
    kind: 'size',
    initial: inUnits(defaultEngineLimits.xmlMaxEntityExpansionBytes, 'MiB'),
    meaning: 'size of the expanded entities',
    past: fails,
    why: 'entities in entities double with every line',
  },
  xmlMaxEntityAmplification: {
    property: 'svc.limits.xml_entity_factor',
    kind: 'count',
    initial: String(defaultEngineLimits.xmlMaxEntityAmplification),
    meaning: 'size of the expanded entities, as a multiple of the document',
    past: fails,
    why: 'one large entity that is referenced often expands without nesting',
  },
  xmlMaxTextBytes: {
    property: 'svc.limits.xml_text',
    kind: 'size',
    initial: inUnits(defaultEngineLimits.xmlMaxTextBytes, 'GiB'),
    meaning: 'size of one text value',
    past: fails,
    why: 'a value is one field of a row, which PostgreSQL keeps to 1 GiB',
  },
  xsdMaxFiles: {
    property: 'svc.limits.xsd_files',
    kind: 'count',
    initial: String(defaultEngineLimits.xsdMaxFiles),
    meaning: 'files of an XSD set',
    past: 'F or 422',
    why: 'each file is parsed into a tree; the largest standards have hundreds of files',
  },
  xsdMaxComponents: {
    property: 'svc.limits.xsd_components',
    kind: 'count',
    initial: String(defaultEngineLimits.xsdMaxComponents),
    meaning: 'components of an XSD set',
    past: 'F or 422',
    why: 'groups in groups double with every level',
  },
} as const satisfies Readonly<Record<keyof EngineLimits, LimitSpec>>;

function inUnits(bytes: number, unit: 'KiB' | 'MiB' | 'GiB'): string {
  return `${bytes / sizeUnits[unit.toLowerCase()]!} ${unit}`;
}
