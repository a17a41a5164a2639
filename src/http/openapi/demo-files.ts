/** Files that examples of the reference name. `npm run demo` puts them below the files of organisation 1, so that the examples run there. */
export const demoFiles = {
  documents: 'demo/documents',
  document: 'demo/documents/orders-2026-03-02-a.xml',
  xsd: 'demo/xsd',
  xsdFiles: ['demo/xsd/orders.xsd', 'demo/xsd/common.xsd', 'demo/xsd/shipping.xsd'],
} as const;
