/** From one version of a table's metadata to the next in the words of a catalogue (Iceberg REST catalog API, `CommitTableRequest`). */
import { currentSnapshot } from '../iceberg/metadata.ts';
import { exactText } from '../../json.ts';
import type { NextTableVersion } from '../table-format.ts';
import type { Snapshot, TableMetadata } from '../iceberg/shape.ts';

/** What must hold for the change to be made: that nobody made another version meanwhile. */
export function requirementsOf(before: TableMetadata): readonly object[] {
  return [
    { type: 'assert-table-uuid', uuid: before['table-uuid'] },
    {
      type: 'assert-ref-snapshot-id',
      ref: 'main',
      'snapshot-id': currentSnapshot(before)?.['snapshot-id'] ?? null,
    },
    { type: 'assert-current-schema-id', 'current-schema-id': before['current-schema-id'] },
    { type: 'assert-last-assigned-field-id', 'last-assigned-field-id': before['last-column-id'] },
  ];
}

/** Whether the catalogue tells another version than the one that the change was made of. */
export function isMoved({ before }: Pick<NextTableVersion, 'before'>, now: TableMetadata): boolean {
  return exactText(requirementsOf(before)) !== exactText(requirementsOf(now));
}

export function updatesOf({ before, next }: Pick<NextTableVersion, 'before' | 'next'>): readonly object[] {
  const updates: object[] = [];
  const known = new Set(before.schemas.map((schema) => schema['schema-id']));
  const schema = next.schemas.find((one) => !known.has(one['schema-id']));
  if (schema !== undefined)
    updates.push({ action: 'add-schema', schema, 'last-column-id': next['last-column-id'] });
  if (next['current-schema-id'] !== before['current-schema-id'])
    updates.push({
      action: 'set-current-schema',
      // the one that was added last
      'schema-id': schema === undefined ? next['current-schema-id'] : -1,
    });
  const specs = new Set(before['partition-specs'].map((spec) => spec['spec-id']));
  const spec = next['partition-specs'].find((one) => !specs.has(one['spec-id']));
  if (spec !== undefined)
    // the one that was added last
    updates.push({ action: 'add-spec', spec }, { action: 'set-default-spec', 'spec-id': -1 });
  const properties = changedProperties(before, next);
  if (Object.keys(properties).length > 0) updates.push({ action: 'set-properties', updates: properties });
  const snapshot = newSnapshot(before, next);
  if (snapshot !== null)
    updates.push(
      { action: 'add-snapshot', snapshot },
      {
        action: 'set-snapshot-ref',
        'ref-name': 'main',
        type: 'branch',
        'snapshot-id': snapshot['snapshot-id'],
      },
    );
  return updates;
}

/** Whether what a catalogue tells of the table has that version, whatever came after it. */
export function isTaken(
  { before, next }: Pick<NextTableVersion, 'before' | 'next'>,
  now: TableMetadata,
): boolean {
  if (now['table-uuid'] !== next['table-uuid']) return false;
  const snapshot = newSnapshot(before, next);
  if (snapshot !== null)
    return (now.snapshots ?? []).some(
      (one) => String(one['snapshot-id']) === String(snapshot['snapshot-id']),
    );
  return Object.entries(changedProperties(before, next)).every(
    ([name, value]) => now.properties?.[name] === value,
  );
}

/** Whether a catalogue that said it was done has another version instead, which does not come from this one. */
export function isLost(version: Pick<NextTableVersion, 'before' | 'next'>, now: TableMetadata): boolean {
  if (isTaken(version, now) || !isMoved(version, now)) return false;
  // snapshots may be cleaned up at any time; the job that gave the version stays until another one does
  const told = Object.entries(changedProperties(version.before, version.next));
  return !told.some(([name, value]) => exactText(now.properties?.[name] ?? null) === exactText(value));
}

function newSnapshot(before: TableMetadata, next: TableMetadata): Snapshot | null {
  const snapshot = currentSnapshot(next);
  const there = currentSnapshot(before);
  return snapshot === null || String(snapshot['snapshot-id']) === String(there?.['snapshot-id'])
    ? null
    : snapshot;
}

function changedProperties(before: TableMetadata, next: TableMetadata): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(next.properties ?? {}).filter(
      ([name, value]) => exactText(value) !== exactText(before.properties?.[name] ?? null),
    ),
  );
}
