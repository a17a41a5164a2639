/** The commands of `conversion-job-service`, beside the service itself, its worker, and the tools that are commands of it. */
import { accessCommands, credentialCommands } from './access.ts';
import { jobCommands } from './jobs.ts';
import { schemaCommands, tableCommands } from './catalog.ts';
import { type Command, type OptionName, UsageError } from './specification.ts';
import { watchCommands } from './watches.ts';
import { toolOptions } from '../../service/jobs/option-table.ts';
import { tools } from '../../service/jobs/request/tools.ts';

export const commands: Readonly<Record<string, Command>> = {
  ...jobCommands,
  ...schemaCommands,
  ...watchCommands,
  ...accessCommands,
  ...credentialCommands,
  ...tableCommands,
};

/** The value names of options in usage texts; '' for an option without a value. */
export const optionValues: Readonly<Record<OptionName, string>> = {
  name: 'NAME',
  scopes: 'SCOPE,…',
  org: 'ID',
  expires: '90d|2027-01-31',
  description: 'TEXT',
  page: 'N',
  size: 'N',
  dialect: 'NAME',
  codes: 'none|table|check',
  logical: 'ID',
  as: 'FORMAT',
  out: 'FILE',
  follow: '',
  every: '5m|CRON',
  pattern: 'PATTERN',
  schema: 'ID',
  options: 'JSON',
  order: 'name|modified',
  settle: '30s',
  'on-error': 'fail|skip',
  'on-drift': 'keep|evolve|fail',
  'max-files': 'N',
  'max-bytes': 'N',
  credential: 'NAME',
  status: 'STATE',
  retry: '',
  json: '',
};

/** Programs of their own, which are commands of this one, too. */
export const toolCommands = ['migrate', 'unload'] as const;

export const shells = ['bash', 'zsh', 'fish'] as const;

// `completion SHELL`: commands, options and their values, from the tables that the commands themselves read.

/** An option of a program; `values`: the possible values, if there is a fixed list. */
interface Flag {
  readonly short: string | null;
  readonly long: string;
  readonly takesValue: boolean;
  readonly values: readonly string[];
  readonly meaning: string;
}

const service = 'conversion-job-service';

/** UsageError for a shell that is not known. */
export function completionScript(words: readonly string[]): string {
  const [shell] = words;
  if (words.length === 1 && shell === 'bash') return bash();
  if (words.length === 1 && shell === 'zsh') return zsh();
  if (words.length === 1 && shell === 'fish') return fish();
  throw new UsageError(
    `completion takes one of ${shells.join(', ')}; for bash: source <(${service} completion bash)`,
  );
}

/** Parses the values in the usage text: `a|d|s`, but neither `N` nor `NAME`. */
function valuesOf(usage: string): readonly string[] {
  if (/^\d+\.\.\d+$/.test(usage)) {
    const [from, to] = usage.split('..').map(Number) as [number, number];
    return Array.from({ length: to - from + 1 }, (_, at) => String(from + at));
  }
  return usage.split('|').filter((word) => /^[a-z][a-z0-9-]*$/.test(word));
}

function flagsOf(tool: (typeof tools)[number]): Flag[] {
  const own = toolOptions
    .filter((option) => option.tools.includes(tool))
    .map(({ short, long, takesValue, usage: [value, meaning] }) => ({
      short,
      long,
      takesValue,
      values: takesValue ? valuesOf(value) : [],
      meaning,
    }));
  return [...own, { short: '-h', long: '--help', takesValue: false, values: [], meaning: 'usage' }];
}

const serviceFlags: readonly Flag[] = Object.entries(optionValues).map(([name, value]) => ({
  short: name === 'out' ? '-o' : null,
  long: `--${name}`,
  takesValue: value !== '',
  values: [],
  meaning: value === '' ? name : `${name} ${value}`,
}));

/** Returns the first words, and the words that may follow each. */
function wordsOfService(): ReadonlyMap<string, readonly string[]> {
  const words = new Map<string, string[]>();
  for (const name of [...Object.keys(commands), ...toolCommands, 'doctor', 'worker']) {
    const [first, second] = name.split(' ') as [string, string?];
    words.set(first, [...(words.get(first) ?? []), ...(second === undefined ? [] : [second])]);
  }
  words.set('migrate', ['export', 'import']);
  return words.set('completion', [...shells]);
}

function bash(): string {
  const programs = tools.map((tool) => {
    const flags = flagsOf(tool);
    return `    ${tool})\n${bashValues(flags)}\n      flags='${names(flags)}' ;;`;
  });
  const words = [...wordsOfService()];
  const seconds = words
    .filter(([, follow]) => follow.length > 0)
    .map(([first, follow]) => `          ${first}) words='${follow.join(' ')}' ;;`);
  return `# source <(${service} completion bash)
_conversion_job_service() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} flags= words= values=
  COMPREPLY=()
  case \${1##*/} in
${programs.join('\n')}
    ${service})
      flags='${names(serviceFlags)} --help'
      if (( COMP_CWORD == 1 )); then words='${words.map(([first]) => first).join(' ')}'
      elif (( COMP_CWORD == 2 )); then
        case $before in
${seconds.join('\n')}
        esac
      fi ;;
  esac
  if [[ -n $values ]]; then COMPREPLY=($(compgen -W "$values" -- "$word"))
  elif [[ $word == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$word"))
  elif [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$word"))
  else compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -F _conversion_job_service ${[...tools.filter((tool) => tool !== 'unload'), 'unload', service].join(' ')}`;
}

function bashValues(flags: readonly Flag[]): string {
  const cases = flags
    .filter(({ values }) => values.length > 0)
    .map(({ short, long, values }) => {
      const pattern = short === null ? long : `${short}|${long}`;
      return `        ${pattern}) values='${values.join(' ')}' ;;`;
    });
  return `      case $before in\n${cases.join('\n')}\n      esac`;
}

function names(flags: readonly Flag[]): string {
  return flags.flatMap(({ short, long }) => (short === null ? [long] : [short, long])).join(' ');
}

function zsh(): string {
  const functions = tools.map((tool) => {
    const specs = flagsOf(tool).map((flag) => `    ${zshFlag(flag)}`);
    return `_${tool}() {\n  _arguments -s \\\n${specs.join(' \\\n')} \\\n    '*:file:_files'\n}`;
  });
  const words = [...wordsOfService()];
  const seconds = words
    .filter(([, follow]) => follow.length > 0)
    .map(([first, follow]) => `      ${first}) compadd ${follow.join(' ')} ;;`);
  return `#compdef ${[...tools, service].join(' ')}
# source <(${service} completion zsh)
${functions.join('\n')}
_conversion_job_service() {
  if [[ $PREFIX == -* ]]; then compadd -- ${names(serviceFlags)} --help
  elif (( CURRENT == 2 )); then compadd ${words.map(([first]) => first).join(' ')}
  elif (( CURRENT == 3 )); then
    case $words[2] in
${seconds.join('\n')}
      *) _files ;;
    esac
  else _files; fi
}
${tools.map((tool) => `compdef _${tool} ${tool}`).join('\n')}
compdef _conversion_job_service ${service}`;
}

function zshFlag({ short, long, takesValue, values, meaning }: Flag): string {
  const text = meaning.replaceAll(/[[\]\\:]/g, String.raw`\$&`).replaceAll("'", String.raw`'\''`);
  const value = takesValue ? `:value:${values.length > 0 ? `(${values.join(' ')})` : '_files'}` : '';
  const spec = `'[${text}]${value}'`;
  return short === null ? `'*'${long}${spec}` : `'*'{${short},${long}}${spec}`;
}

function fish(): string {
  const lines = tools.flatMap((tool) => flagsOf(tool).map((flag) => fishFlag(tool, flag)));
  const words = [...wordsOfService()];
  const firsts = words.map(([first]) => first).join(' ');
  return [
    `# ${service} completion fish | source`,
    ...lines,
    `complete -c ${service} -f -n __fish_use_subcommand -a '${firsts}'`,
    ...words
      .filter(([, follow]) => follow.length > 0)
      .map(
        ([first, follow]) =>
          `complete -c ${service} -f -n '__fish_seen_subcommand_from ${first}' -a '${follow.join(' ')}'`,
      ),
    ...serviceFlags.map((flag) => fishFlag(service, flag)),
  ].join('\n');
}

function fishFlag(program: string, { short, long, takesValue, values, meaning }: Flag): string {
  const names = `${short === null ? '' : ` -s ${short.slice(1)}`} -l ${long.slice(2)}`;
  const value = !takesValue ? '' : values.length > 0 ? ` -x -a '${values.join(' ')}'` : ' -r';
  return `complete -c ${program}${names}${value} -d '${meaning.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
}
