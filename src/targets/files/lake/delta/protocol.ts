/** Which features of Delta tables are understood, and which a table of ours needs. What others switched on is refused, never passed over. */
import { AppError } from '../../../../errors.ts';
import type { Metadata, Protocol, DeltaState } from './actions.ts';
import { partitioningOf } from './partitions.ts';
import { fieldsOf } from './schema.ts';

/** what versions before table features stand for, as far as they change nothing while they are not used */
const understood: ReadonlySet<string> = new Set([
  'appendOnly',
  'invariants',
  'checkConstraints',
  'generatedColumns',
  'changeDataFeed',
  'identityColumns',
  'columnMapping',
  'timestampNtz',
  'deletionVectors',
]);

const plain: Protocol = { minReaderVersion: 1, minWriterVersion: 2 };

/**
 * Such that a table with these types can be read: one without a zone needs a feature of its own. Where features are listed, that of columns without NULL is
 * among them, without which Spark refuses the table. Null: as it is.
 */
export function protocolFor(schemaString: string, before: Protocol | null): Protocol | null {
  const needsNtz = schemaString.includes('"timestamp_ntz"');
  if (before === null && !needsNtz) return plain;
  if (before === null) return protocolFor(schemaString, plain);
  const listed = before.writerFeatures;
  if (listed?.includes('timestampNtz') === true)
    return listed.includes('invariants') ? null : { ...before, writerFeatures: [...listed, 'invariants'] };
  if (!needsNtz) return null;
  return {
    minReaderVersion: 3,
    minWriterVersion: 7,
    readerFeatures: [
      ...(before.readerFeatures ?? []),
      ...(before.minReaderVersion === 2 ? ['columnMapping'] : []),
      'timestampNtz',
    ],
    writerFeatures: [...(before.writerFeatures ?? impliedFeatures(before.minWriterVersion)), 'timestampNtz'],
  };
}

/** What a writer version below 7 stands for. */
function impliedFeatures(version: number): string[] {
  return [
    ...(version >= 2 ? ['appendOnly', 'invariants'] : []),
    ...(version >= 3 ? ['checkConstraints'] : []),
    ...(version >= 4 ? ['changeDataFeed', 'generatedColumns'] : []),
    ...(version >= 5 ? ['columnMapping'] : []),
    ...(version >= 6 ? ['identityColumns'] : []),
  ];
}

/** AppError `conflict` where rows could be read wrongly. `label`: the table, for people. */
export function checkReadable(state: DeltaState, label: string): void {
  const { protocol, metadata, files } = state;
  const unknown = (protocol.readerFeatures ?? []).find((feature) => !understood.has(feature));
  if (protocol.minReaderVersion > 3 || unknown !== undefined) refuse(label, unknown ?? 'a newer protocol');
  const mapping = metadata.configuration?.['delta.columnMapping.mode'] ?? 'none';
  if (mapping !== 'none') refuse(label, 'column mapping');
  if (partitioningOf(metadata) === null) refuse(label, 'partitions of another kind');
  for (const { deletionVector } of files.values())
    if (deletionVector !== null && deletionVector !== undefined)
      refuse(label, 'deletion vectors; REORG TABLE … APPLY (PURGE) writes its files without them');
}

/** As `checkReadable`, and where a commit of ours would break what the table demands of writers. */
export function checkWritable(state: DeltaState, label: string): void {
  checkReadable(state, label);
  const { protocol, metadata } = state;
  const unknown = (protocol.writerFeatures ?? []).find((feature) => !understood.has(feature));
  if (protocol.minWriterVersion > 7 || unknown !== undefined) refuse(label, unknown ?? 'a newer protocol');
  const configuration = metadata.configuration ?? {};
  if (configuration['delta.enableChangeDataFeed'] === 'true') refuse(label, 'a change data feed');
  if (Object.keys(configuration).some((key) => key.startsWith('delta.constraints.')))
    refuse(label, 'constraints');
  for (const { metadata: notes = {} } of fieldsOf(metadata.schemaString))
    if (Object.keys(notes).some((key) => /^delta\.(?:invariants|generationExpression|identity)/.test(key)))
      refuse(label, 'generated columns or invariants');
}

/** Whether rows may only be added. */
export function isAppendOnly({ configuration }: Metadata): boolean {
  return configuration?.['delta.appendOnly'] === 'true';
}

function refuse(label: string, feature: string): never {
  throw new AppError(
    'conflict',
    `${label}: somebody gave the table what this version cannot keep to (${feature}); take that away again, or take another folder.`,
  );
}
