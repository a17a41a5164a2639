/** One whole conversion over REST, for tests that need real data behind every endpoint. */
import { zipped } from './archives.ts';
import { execution, type JobAnswer, type ServiceClient } from './client.ts';
import { filesBelow, freightDocuments, freightXsdFolder, type FixtureDocument } from './fixtures.ts';

export interface Conversion {
  /** the feed: the name of the schema */
  readonly name: string;
  /** the SQL schema with the rows */
  readonly sqlSchema: string;
  readonly idWorkflow: number;
  readonly compiled: JobAnswer;
  readonly loaded: JobAnswer;
  readonly idSch: number;
  readonly idLschma: number;
  readonly xsdPath: string;
  readonly xmlPath: string;
}

/** The freight XSD set and some of its documents, in one workflow of two jobs, both completed. */
export async function convertFreight(
  client: ServiceClient,
  name: string,
  documents: readonly FixtureDocument[] = freightDocuments,
): Promise<Conversion> {
  const sqlSchema = `${name}_rows`;
  const xsdPath = await client.upload('xsd', 'freight.zip', zipped(filesBelow(freightXsdFolder)));
  const archive = zipped(
    documents.map((one) => ({ name: one.name, bytes: new TextEncoder().encode(one.text) })),
  );
  const xmlPath = await client.upload('xml', 'documents.zip', archive);
  const answer = await client.run(
    [
      execution('xsd2er', xsdPath, [['--name', name]]),
      execution('xml2er', xmlPath, [['-o', `metadb:${sqlSchema}`]], '$0'),
    ],
    `${name} workflow`,
  );
  const loaded = await client.ended(answer.jobs[1]!);
  const compiled = await client.job(answer.jobs[0]!);
  if (loaded.status !== 'C')
    throw new Error(
      `the jobs ended ${compiled.status}: ${compiled.failure}; ${loaded.status}: ${loaded.failure}`,
    );
  return {
    name,
    sqlSchema,
    idWorkflow: answer.id_workflow,
    compiled,
    loaded,
    idSch: loaded.id_sch!,
    idLschma: loaded.id_lschma!,
    xsdPath,
    xmlPath,
  };
}
