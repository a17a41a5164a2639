/** What the OpenAPI document says beside the operations. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import { apiKeySchemeName, uploadTokenSchemeName } from './auth.ts';
import type { AppEnv } from './env.ts';

const tags = [
  { name: 'run', description: 'Running conversion commands.' },
  { name: 'executions', description: 'Jobs and their logs.' },
  { name: 'workflows', description: 'Jobs that were asked for together.' },
  { name: 'files', description: 'Uploads.' },
  { name: 'schemas', description: 'Source schemas and the relational schemas made from them.' },
  { name: 'mappings', description: 'Which source path goes to which column.' },
  { name: 'diagrams', description: 'Tables and their relations as a picture.' },
  { name: 'about', description: 'The organisation.' },
  { name: 'extensions', description: 'What else is offered.' },
  { name: 'cil', description: 'The integration-catalogue view: the same conversions, seen per feed.' },
  { name: 'admin', description: 'API keys and organisations.' },
  { name: 'actuator', description: 'Health and info for operators.' },
  { name: 'error', description: 'The error view.' },
  { name: 'doc', description: 'This description.' },
];

export function registerSecuritySchemes(app: OpenAPIHono<AppEnv>): void {
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
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Conversion Job Service',
      version: '1.0',
      description: 'XML in, relational schemas and rows out: conversions as jobs, and what they made.',
      contact: { name: 'Conversion Job Service' },
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/' }],
    tags: tags.filter(({ name }) => used.has(name)),
  });
  for (const path of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(path as Record<string, DocumentOperation>)) {
      if (operation.summary !== undefined) operation.description ??= `${operation.summary}.`;
      for (const parameter of operation.parameters ?? []) {
        // Hono reads headers by lower-case names; the document shows them as they are usually written.
        if (parameter.in === 'header')
          parameter.name = parameter.name
            .replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
            .replace(/-Id$/, '-ID');
      }
    }
  }
  return document;
}

interface DocumentOperation {
  readonly summary?: string;
  description?: string;
  readonly parameters?: readonly { readonly in: string; name: string }[];
}
