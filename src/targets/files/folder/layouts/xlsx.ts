/** Excel: a workbook of each job, with a sheet for each table. */
import { workbookLimits } from '../../../../engine/workbook/parts.ts';
import type { FileMaking, FolderLayout } from './folder-layout.ts';

export const xlsx: FolderLayout = {
  // the sheet has it
  header: () => new Uint8Array(0),
  scalesDecimals: false,
  makeFiles: (options): FileMaking => ({
    write: async (staged) => {
      const { writeWorkbook } = await import('../workbook/making.ts');
      return writeWorkbook(staged, options);
    },
    // nothing runs beside the load
    end: () => Promise.resolve(),
  }),
  limits: {
    rows: workbookLimits.rows,
    columns: workbookLimits.columns,
    advice:
      'Load fewer documents at once, as each load has a workbook of its own, or take -f csv or -f parquet.',
  },
  scripts: [],
  units: null,
  stored: null,
};
