/** The tools as a person runs them: the launchers that `npx` finds, with the home folder in the environment. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { projectRoot, serviceEnvironment, type ServiceHome } from './start.ts';

/** docs/decisions/service/tools-are-processes.md: the last line of `--json`. */
export interface Summary {
  readonly job: number | null;
  readonly origin: number | null;
  readonly logical: number | null;
  readonly schema_chosen: { readonly logical: number; readonly why: string } | null;
  readonly status: 'C' | 'F' | 'K';
  readonly documents: number;
  readonly rejected: number;
  readonly unknown_root: number;
  readonly unmapped: { readonly values: number; readonly documents: number };
  readonly rows: number;
  readonly tables: Readonly<Record<string, number>>;
  readonly xpaths: { readonly mapped: number; readonly new: number };
  readonly bytes: number;
  readonly seconds: number;
  readonly mb_per_s: number;
  readonly merged?: { readonly inserted: number; readonly replaced: number; readonly unchanged: number };
  readonly broken_keys?: readonly { readonly table: string; readonly columns: readonly string[] }[];
  readonly steps: readonly {
    readonly name: string;
    readonly seconds: number;
    readonly cpu_seconds: number;
  }[];
}

export interface ToolRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** what `--json` printed last; null without it */
  readonly summary: Summary | null;
}

export interface StartedTool {
  readonly pid: number;
  readonly ended: Promise<ToolRun>;
}

/** `input` null: its stdin stays open. */
export function startTool(
  home: ServiceHome,
  tool: 'xsd2er' | 'xml2er' | 'er2xml' | 'unload' | 'migrate',
  argv: readonly string[],
  input: string | null = '',
  environment: Readonly<Record<string, string>> = {},
): StartedTool {
  const child = spawn(process.execPath, [join(projectRoot, `bin/${tool}.mjs`), ...argv], {
    cwd: projectRoot,
    env: { ...serviceEnvironment(home), ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined);
  if (input !== null) child.stdin.end(input);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  return {
    pid: child.pid!,
    ended: new Promise((resolve) => {
      child.once('close', (code) => {
        const last = stdout.trimEnd().split('\n').at(-1) ?? '';
        const summary = last.startsWith('{') ? (JSON.parse(last) as Summary) : null;
        resolve({ code, stdout, stderr, summary });
      });
    }),
  };
}

export function runTool(
  home: ServiceHome,
  tool: 'xsd2er' | 'xml2er' | 'er2xml' | 'unload' | 'migrate',
  argv: readonly string[],
  input = '',
  environment: Readonly<Record<string, string>> = {},
): Promise<ToolRun> {
  return startTool(home, tool, argv, input, environment).ended;
}

/** The summary of a run that must succeed. */
export async function convert(
  home: ServiceHome,
  tool: 'xsd2er' | 'xml2er' | 'er2xml' | 'unload' | 'migrate',
  ...argv: readonly string[]
): Promise<Summary> {
  const { code, stdout, stderr, summary } = await runTool(home, tool, [...argv, '--json']);
  if (code !== 0 || summary === null)
    throw new Error(`${tool} ${argv.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
  return summary;
}
