/** The parts of the OpenAPI document beside the operations. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import { LevelRequest } from '../actuator/structures.ts';
import { apiKeySchemeName, uploadTokenSchemeName } from '../auth.ts';
import type { AppEnv } from '../env.ts';
import { problemExamples, showExamples } from './apply.ts';
import { declareHeaders, headerComponents } from './headers.ts';
import { describeMembers } from './members.ts';

const tags = [
  { name: 'run', description: 'Running conversion commands.' },
  { name: 'executions', description: 'Jobs and their logs.' },
  { name: 'workflows', description: 'Jobs of one request.' },
  { name: 'watches', description: 'Locations that are checked for new documents.' },
  { name: 'files', description: 'Uploads.' },
  { name: 'schemas', description: 'Source schemas and the relational schemas made from them.' },
  { name: 'mappings', description: 'Mappings from source paths to columns.' },
  { name: 'diagrams', description: 'Diagrams of tables and their relations.' },
  { name: 'about', description: 'The organisation.' },
  { name: 'extensions', description: 'Features and settings of this installation.' },
  { name: 'cil', description: 'The integration-catalogue view: the same conversions, seen per feed.' },
  { name: 'admin', description: 'API keys and organisations.' },
  { name: 'actuator', description: 'Health and info for operators.' },
  { name: 'error', description: 'The error view.' },
  { name: 'doc', description: 'This description.' },
];

const landing = `XML in, relational tables and rows out: conversions as jobs, and what they made.

**The first five calls.** Every call but the second needs an API key, as \`Authorization: Bearer svk_…\`; the first start of the service
writes one to the file \`admin.key\` of its home folder. On this page, give it under *Authorize*. Commands must be switched on
(\`cmd.enabled=true\`).

1. [\`POST /v2/file/upload/token\`](#/files/createUploadToken) with \`{"kind":"xml"}\`: a token, good for one upload.
2. [\`POST /v2/file/upload/xml?token=…&name=orders.xml\`](#/files/uploadXml) with the bytes of a document, or of a .gz, .zip or .tar: the path that it is stored at.
3. [\`POST /v2/run/cmd\`](#/run/runCommands): a job that draws the tables from the document and loads it into the SQL schema \`orders\`:
   \`{"executions":[{"app_name":"xml2er","source":{"file":{"command":"PATH"}},"target":{"path":{"command":"-o","enabled":true,"value":"metadb:orders"}}}]}\`
4. [\`GET /v2/executions/log/{id_job}\`](#/executions/getExecutionLog): its log; with \`Accept: text/event-stream\` as it is written. [\`GET /v2/executions/get/{id}\`](#/executions/getExecution): its record; \`status\` C is completed.
5. [\`GET /v2/schema/ddl/{idSch}\`](#/schemas/getSchemaDdl): the tables, where \`idSch\` is the record's \`id_sch\`; [\`GET /v2/diagram/get/{idSch}\`](#/diagrams/getDiagram) shows them.

With an XSD set the tables are known before the first document: upload it with \`kind\` \`xsd\`, run \`xsd2er\`, and give the schema to
\`xml2er\` as \`origin_id\`. Lists are read page by page, from 0. Every error is a problem document (RFC 9457) with a stable \`code\`.

Answers may gain members within a version of the interface; requests are refused where they have one that is not listed.
What the service sends itself, its webhooks, is described by \`/doc/webhooks\`.`;

/** The description of the interface in both documents. */
export const interfaceInfo = {
  version: '1.0',
  contact: { name: 'Conversion Job Service' },
  license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
} as const;

const schemaAlias = 'Schema';

export function registerComponents(app: OpenAPIHono<AppEnv>): void {
  app.openAPIRegistry.registerComponent('securitySchemes', apiKeySchemeName, {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'svk_<id>_<secret>',
    description: 'An API key with the scope of the operation.',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', uploadTokenSchemeName, {
    type: 'apiKey',
    in: 'query',
    name: 'token',
    description: 'An upload token: one use, five minutes, one kind of file.',
  });
  for (const [name, header] of Object.entries(headerComponents))
    app.openAPIRegistry.registerComponent('headers', name, header);
  // its operation reads the body itself
  app.openAPIRegistry.register('LevelRequest', LevelRequest);
  // the interface's own name of a structure that generators cannot give to a class
  app.openAPIRegistry.registerComponent('schemas', schemaAlias, {
    $ref: '#/components/schemas/SchemaDetails',
  });
}

/** Gives the document for a server address: absolute, or the path in front of the application. It is generated once. */
export function createOpenApiDocument(app: OpenAPIHono<AppEnv>): (serverUrl: string) => object {
  let document: ReturnType<typeof generateDocument> | null = null;
  return (url) => {
    document ??= generateDocument(app);
    return { ...document, servers: [{ url }] };
  };
}

function generateDocument(app: OpenAPIHono<AppEnv>) {
  const used = new Set(
    app.openAPIRegistry.definitions.flatMap((one) => (one.type === 'route' ? (one.route.tags ?? []) : [])),
  );
  const { webhooks: _, ...document } = app.getOpenAPI31Document({
    openapi: '3.1.0',
    // a schema that no operation refers to would be considered unused
    'x-aliases': [{ $ref: `#/components/schemas/${schemaAlias}` }],
    info: { ...interfaceInfo, title: 'Conversion Job Service', description: landing },
    servers: [{ url: '/' }],
    tags: tags.filter(({ name }) => used.has(name)),
  });
  describeMembers(document.components?.schemas ?? {});
  const codes = new Set<string>();
  for (const [path, methods] of Object.entries(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(methods as Record<string, DocumentOperation>)) {
      for (const code of showExamples(method, path, operation)) codes.add(code);
      declareHeaders(operation);
      for (const parameter of operation.parameters ?? []) {
        // Hono reads headers by lower-case names; the document shows them as they are usually written.
        if (parameter.in === 'header')
          parameter.name = parameter.name
            .replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
            .replace(/-Id$/, '-ID');
      }
    }
  }
  return { ...document, components: { ...document.components, examples: problemExamples(codes) } };
}

type DocumentOperation = {
  readonly parameters?: readonly { readonly in: string; name: string }[];
} & Parameters<typeof showExamples>[2] &
  Parameters<typeof declareHeaders>[0];
