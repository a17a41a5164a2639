/** The report that each program of test/fixtures/clients prints of the conversion that it makes with a generated client. */
export const convertedByClient = {
  status: 'C',
  followed: true,
  mappings: 102,
  active: 102,
  download: 'PK',
  tables: 10,
  error: 'not_found',
};
