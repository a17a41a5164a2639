/** The choices made on the page, and the jobs that follow from them. */
import type { OriginRecord } from '../../ports/stores/catalog.ts';
import type { InputFile, InputKind } from './inputs.ts';
import type { PlannedJob, PlannedOption } from './plan.ts';

export type TargetKind = 'metadb' | 'other' | 'none';

export interface Chosen {
  readonly files: Readonly<Record<InputKind, readonly InputFile[]>>;
  /** id of a stored schema; '' if the files make it */
  readonly schema: string;
  /** name of the new schema; '' for the name of the input */
  readonly name: string;
  /** map level; '' for that of the service */
  readonly level: string;
  readonly targetKind: TargetKind;
  /** target as it was typed */
  readonly target: string;
  readonly format: string;
  readonly saveMode: string;
  /** further options of each tool */
  readonly forSchema: readonly PlannedOption[];
  readonly forLoad: readonly PlannedOption[];
}

/** An XSD set that is made first, then the load. */
export function plannedJobs(chosen: Chosen, schemas: readonly OriginRecord[]): PlannedJob[] {
  const { xml, xsd } = chosen.files;
  const makesFromXsd = xsd.length > 0 && chosen.schema === '';
  const makes = [...given('--name', chosen.name), ...given('-g', chosen.level)];
  const jobs: PlannedJob[] = [];
  if (makesFromXsd)
    jobs.push({ tool: 'xsd2er', input: 'xsd', origin: null, options: [...makes, ...chosen.forSchema] });
  if (xml.length > 0) {
    const origin = chosen.schema !== '' ? chosen.schema : makesFromXsd ? '$0' : null;
    jobs.push({
      tool: 'xml2er',
      input: 'xml',
      origin,
      options: [...(origin === null ? makes : []), ...targetOptions(chosen, schemas), ...chosen.forLoad],
    });
  }
  return jobs;
}

function targetOptions(chosen: Chosen, schemas: readonly OriginRecord[]): PlannedOption[] {
  const { targetKind, target } = chosen;
  if (targetKind === 'none') return [];
  const where = targetKind === 'other' ? target : `metadb:${target || suggestedTarget(chosen, schemas)}`;
  return [
    { flag: '-o', value: where },
    ...(targetKind === 'other' ? given('-f', chosen.format) : []),
    ...given('-S', chosen.saveMode),
  ];
}

function given(flag: string, value: string): PlannedOption[] {
  return value === '' ? [] : [{ flag, value }];
}

/** A SQL schema needs a name; one that nobody gave is made of the schema's or of the first file's. */
export function suggestedTarget({ files, schema, name }: Chosen, schemas: readonly OriginRecord[]): string {
  const known = schemas.find(({ id_sch: id }) => String(id) === schema)?.name;
  const [first] = [...files.xsd, ...files.xml];
  const words = name || known || first?.file.name.replace(/\..*$/, '') || 'rows';
  const plain = words
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, 40);
  return /^[a-z]/.test(plain) ? plain : `rows_${plain}`.replace(/_$/, '');
}

/** Returns the missing choice as a sentence, or '' if there is none. */
export function whatLacks({ files: { xml, xsd }, schema, targetKind, target }: Chosen): string {
  if (xml.length === 0 && xsd.length === 0) return 'Drop a file first.';
  if (xml.length === 0 && schema !== '') return 'A schema that is there needs documents to read by it.';
  if (xml.length > 0 && targetKind === 'other' && target === '') return 'Say where the rows go.';
  return '';
}
