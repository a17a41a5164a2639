/** /doc/problems: what each error code means and what to do, as HTML, Markdown or JSON. The texts are those of `errorCatalogue`. */
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { AppError, errorCatalogue, type ErrorCode, type ErrorMeaning } from '../../errors.ts';
import type { AssetStore } from '../../ports/files.ts';
import { rootReference } from '../auth.ts';
import type { AppEnv } from '../env.ts';
import { acceptedType, createGroup, problemsOnly, rawOperation } from '../operation.ts';
import { escapeHtml, problemType, statusOf, wantsHtml } from '../problem.ts';
import { helpReference } from './help.ts';
import { conditionalGet } from '../validators.ts';

const ProblemKind = z
  .object({
    code: z.string(),
    type: z.string(),
    status: z.int(),
    title: z.string(),
    retryable: z.boolean(),
    cause: z.string(),
    remedy: z.string(),
  })
  .openapi('ProblemKind', {
    description: 'The meaning of an error code. Texts are Markdown of one paragraph.',
    example: {
      code: 'commands_disabled',
      type: 'urn:svc:problem:commands_disabled',
      status: 403,
      title: 'Running commands is switched off',
      retryable: false,
      cause: 'The installation does not run conversion commands.',
      remedy: 'Ask the operator to set `cmd.enabled=true` and to restart the service.',
    },
  });

function kindOf(code: ErrorCode): z.infer<typeof ProblemKind> {
  const { title, retryable, cause, remedy } = errorCatalogue[code];
  return { code, type: problemType(code), status: statusOf[code], title, retryable, cause, remedy };
}

const codes = (Object.keys(errorCatalogue) as ErrorCode[]).toSorted((a, b) => statusOf[a] - statusOf[b]);
const kinds = codes.map((code) => kindOf(code));
type Kind = (typeof kinds)[number];

const retryText = ({ retryable }: Pick<ErrorMeaning, 'retryable'>): string =>
  retryable ? 'The same request may succeed later.' : 'The same request fails again until something changes.';

/** HTML of one paragraph of Markdown, whose only marks are those of code. */
function inlineHtml(markdown: string): string {
  return escapeHtml(markdown).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

/** `help`: the address of the documentation, or null. */
function htmlPage(title: string, root: string, help: string | null, body: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${root}doc/page.css">
</head>
<body class="problems">
${body}${help === null ? '' : `<p><a href="${help}">Documentation</a></p>\n`}</body>
</html>
`;
}

function kindHtml(kind: Kind, root: string, help: string | null): string {
  return htmlPage(
    `${kind.code}: ${kind.title}`,
    root,
    help,
    `<h1><code>${kind.code}</code></h1>
<p>${escapeHtml(kind.title)} (status ${kind.status}).</p>
<h2>What happened</h2>
<p>${inlineHtml(kind.cause)}</p>
<h2>What to do</h2>
<p>${inlineHtml(kind.remedy)}</p>
<p>${retryText(kind)}</p>
<p><a href="${root}doc/problems">All error codes</a></p>
`,
  );
}

function listHtml(root: string, help: string | null): string {
  const rows = kinds.map(
    ({ code, status, title }) =>
      `<tr><td><a href="${root}doc/problems/${code}"><code>${code}</code></a></td><td>${status}</td><td>${escapeHtml(title)}</td></tr>\n`,
  );
  return htmlPage(
    'Error codes',
    root,
    help,
    `<h1>Error codes</h1>\n<table>\n<tr><th>code</th><th>status</th><th>meaning</th></tr>\n${rows.join('')}</table>\n`,
  );
}

function kindMarkdown(kind: Kind): string {
  const { code, title, status, cause, remedy } = kind;
  return `# \`${code}\`\n\n${title} (status ${status}).\n\n## What happened\n\n${cause}\n\n## What to do\n\n${remedy}\n\n${retryText(kind)}\n`;
}

function listMarkdown(root: string): string {
  const lines = kinds.map(
    ({ code, status, title }) => `- [\`${code}\`](${root}doc/problems/${code}) (${status}): ${title}\n`,
  );
  return `# Error codes\n\n${lines.join('')}`;
}

const pagePolicy =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Sends the form that `Accept` prefers. HTML only if it is named, as for /doc. AppError `not_acceptable`. */
function inAcceptedForm(
  c: Context<AppEnv>,
  forms: { readonly json: object; html(): string; markdown(): string },
): Response {
  c.header('Vary', 'Accept');
  c.header('Cache-Control', 'no-cache');
  if (wantsHtml(c.req.header('Accept')))
    return c.html(forms.html(), 200, { 'Content-Security-Policy': pagePolicy });
  const type = acceptedType(c, ['application/json', 'text/markdown', 'text/html']);
  if (type !== 'text/markdown') return c.json(forms.json, 200);
  return c.body(forms.markdown(), 200, { 'Content-Type': 'text/markdown; charset=utf-8' });
}

const inEveryForm = (schema: z.ZodType, description: string) => ({
  description,
  content: {
    'application/json': { schema },
    'text/html': { schema: z.string() },
    'text/markdown': { schema: z.string() },
  },
});

export function createProblemRoutes(help: AssetStore | undefined) {
  const list = rawOperation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/doc/problems',
      operationId: 'listProblemKinds',
      summary: 'List the error codes',
      description: 'Every `code` of a problem document, with what it means and what to do.',
      tags: ['doc'],
      security: [],
      responses: {
        200: inEveryForm(z.array(ProblemKind), 'The error codes, by their status.'),
        ...problemsOnly(401, 403, 404, 406, 500),
      },
    }),
    async (c) => {
      const root = rootReference(c);
      const reference = await helpReference(help, root);
      return inAcceptedForm(c, {
        json: kinds,
        html: () => listHtml(root, reference),
        markdown: () => listMarkdown(root),
      });
    },
  );

  const one = rawOperation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/doc/problems/{code}',
      operationId: 'getProblemKind',
      summary: 'Read what an error code means',
      description: 'What the error code means, and what to do. `help` of a problem document leads here.',
      tags: ['doc'],
      security: [],
      request: { params: z.object({ code: z.string().openapi({ example: 'commands_disabled' }) }) },
      responses: {
        200: inEveryForm(ProblemKind, 'The error code.'),
        ...problemsOnly(401, 403, 404, 406, 500),
      },
    }),
    async (c) => {
      const kind = kinds.find(({ code }) => code === c.req.param('code'));
      if (kind === undefined)
        throw new AppError('not_found', 'there is no such error code; /doc/problems lists them');
      const root = rootReference(c);
      const reference = await helpReference(help, root);
      return inAcceptedForm(c, {
        json: kind,
        html: () => kindHtml(kind, root, reference),
        markdown: () => kindMarkdown(kind),
      });
    },
  );

  return createGroup([list, one]);
}
