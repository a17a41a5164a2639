/** Tables of Iceberg, version 2 of the format, as a format of tables: their metadata lies beside the rows, and no catalogue is needed. */
import { checkCase } from '../type-names.ts';
import type { TableFormat } from '../table-format.ts';
import { commitIceberg, ownerOf, sweepManifests } from './commit.ts';
import { metadataFolder } from './metadata.ts';
import { numbered, promotes, storedType } from './types.ts';
import { IcebergVersion, readIcebergTable } from './version.ts';

export const icebergFormat: TableFormat = {
  name: 'iceberg',
  title: 'Iceberg',
  folder: metadataFolder,
  storedType,
  promotes,
  checkColumnNames: (table, names) => checkCase('iceberg', table, names),
  fieldIds: (before, fields) => {
    const last = before instanceof IcebergVersion ? before.found.metadata['last-column-id'] : 0;
    return numbered(before?.fields ?? [], last, fields).ids;
  },
  readTable: readIcebergTable,
  readSince: (files, directory, label, known) =>
    readIcebergTable(files, directory, label, Infinity, known instanceof IcebergVersion ? known : undefined),
  commit: (files, directory, label, before, change) =>
    commitIceberg(files, directory, label, before instanceof IcebergVersion ? before : null, change),
  sweep: async (files, directory, version, job) => {
    const named = version instanceof IcebergVersion ? await version.manifestNames(job.jobUuid) : null;
    if (named !== null) await sweepManifests(files, directory, ownerOf(job), named);
  },
};
