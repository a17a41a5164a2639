/** Which files of folders and archives are documents. */

/** `takesXsd`: the schema in use describes XSDs. */
export function documentNames(takesXsd: boolean): (name: string) => boolean {
  return (name) => /\.xml$/i.test(name) || (takesXsd && /\.xsd$/i.test(name));
}
