/** Bodies of the run operations (docs/decisions/service/workflows.md). */
import { z } from '@hono/zod-openapi';
import { displayName } from '../requests/paging.ts';
import { JobStatus } from './jobs.ts';
import { toolOptions } from '../../jobs/options/table.ts';
import { tools, type Tool } from '../../jobs/request/tools.ts';

const enabled = z
  .union([z.boolean(), z.enum(['true', 'false'])], { error: 'must be true, false, "true" or "false"' })
  .openapi({
    description: 'An item that is not enabled is left out. Both the boolean and its name work.',
    example: true,
  })
  .optional()
  .transform((value) => value === undefined || value === true || value === 'true');

const CommandItem = z
  .strictObject({
    command: z
      .string()
      .min(1)
      .openapi({ description: 'The option flag; for `source.file` the path of the input.', example: '-g' }),
    enabled,
    value: z
      .string()
      .optional()
      .openapi({ description: 'Value of the option; absent or empty for none.', example: '3' }),
  })
  .openapi('CommandItem', { example: { command: '-g', enabled: 'true', value: '3' } });

const ExecutionSource = z
  .strictObject({ file: CommandItem.optional(), origin_id: CommandItem.optional() })
  .openapi('ExecutionSource', {
    description: 'What is read. `origin_id`: the schema, by its id or as `$N`.',
    example: { file: { command: 'uploads/7f3c/donut.xml.gz', enabled: true } },
  });

const ExecutionTarget = z
  .strictObject({
    generation: z.array(CommandItem).optional(),
    path: CommandItem.optional(),
    format: z.array(CommandItem).optional(),
    writing_mode: z.array(CommandItem).optional(),
  })
  .openapi('ExecutionTarget', {
    description: 'Options. The groups are for the reader: an option may stand in any of them.',
    example: { generation: [{ command: '-g', enabled: 'true', value: '3' }] },
  });

const Execution = z
  .strictObject({
    app_name: z.string().min(1).openapi({ description: 'Name of the tool.', example: 'xml2er' }),
    source: ExecutionSource.optional().transform((source) => source ?? {}),
    target: ExecutionTarget.optional().transform((target) => target ?? {}),
  })
  .openapi('Execution', {
    example: {
      app_name: 'xml2er',
      source: { file: { command: 'uploads/7f3c/donut.xml.gz', enabled: true } },
      target: { generation: [{ command: '-g', enabled: 'true', value: '3' }] },
    },
  });

/** `maxExecutions`: limit of the configuration. */
export function executionRequest(maxExecutions: number) {
  return z
    .strictObject({
      name: displayName(200).optional().openapi({ description: 'Name of the workflow.', example: 'donuts' }),
      executions: z.array(Execution).min(1).max(maxExecutions),
    })
    .openapi('ExecutionRequest', {
      description:
        'The jobs of one workflow, run in this order. An `origin_id` of `$N` is the schema that execution N (from 0) makes.',
      example: {
        executions: [
          {
            app_name: 'xml2er',
            source: { file: { command: 'uploads/7f3c/donut.xml.gz', enabled: true } },
            target: { generation: [{ command: '-g', enabled: 'true', value: '3' }] },
          },
          {
            app_name: 'xml2er',
            source: {
              file: { command: 'uploads/7f3c/donut.xml.gz' },
              origin_id: { command: '-x', enabled: true, value: '$0' },
            },
            target: {
              path: { command: '-o', enabled: true, value: 'metadb:donuts' },
              writing_mode: [{ command: '-S', enabled: 'true', value: 'o' }],
            },
          },
        ],
      },
    });
}

const jobIds = z.array(z.int().openapi({ format: 'int64' }));

export const RunCmdResponse = z
  .object({
    error: z.boolean(),
    logPath: z.string().nullable(),
    cmds: z.array(z.string()),
    jobs: jobIds,
    id_workflow: z.int().openapi({ format: 'int64' }),
    statuses: z.array(JobStatus).optional().openapi({
      description: 'With `Prefer: wait=N`: the states of `jobs`, in their order, when the answer was made.',
    }),
  })
  .openapi('RunCmdResponse', {
    example: {
      error: false,
      logPath: null,
      cmds: ['xml2er -j 7', 'xml2er -j 8'],
      jobs: [7, 8],
      id_workflow: 4,
    },
  });

export const RerunJobResponse = z
  .object({
    error: z.boolean(),
    id_job: z.int().openapi({ format: 'int64' }),
    id_parent_job: z.int().openapi({ format: 'int64' }),
    cmds: z.array(z.string()),
    jobs: jobIds,
  })
  .openapi('RerunJobResponse', {
    example: { error: false, id_job: 9, id_parent_job: 7, cmds: ['xml2er -j 9'], jobs: [9] },
  });

// Describes the options of `POST /v2/run/cmd` as Markdown, from the tools' own table of options.

const doings: Readonly<Record<Tool, string>> = {
  xsd2er: 'makes the tables of an XSD set, or of the documents of `--from`',
  xml2er: 'loads documents into tables, and makes the tables where there are none',
  er2xml: 'writes documents back from tables',
  unload: 'removes documents and their rows from a target',
};

/** A heading and a list for each tool. Options that exist at the command line alone are left out. */
export const toolOptionsText = tools
  .map((tool) => {
    const lines = toolOptions
      .filter(({ overRest, tools: of }) => overRest && of.includes(tool))
      .map(({ short, long, usage: [form, meaning], repeatable }) => {
        const names = [short, long].filter((name) => name !== null).join(', ');
        return `- \`${names}${form === '' ? '' : ` ${form}`}\`: ${meaning}${repeatable ? '; may be repeated' : ''}`;
      });
    return `**${tool}** ${doings[tool]}:\n\n${lines.join('\n')}`;
  })
  .join('\n\n');
