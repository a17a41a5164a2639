/** The plan of the jobs to run, also as calls of the API and as commands. */
import type { InputFile, InputKind } from './inputs.ts';

export type ToolName = 'xsd2er' | 'xml2er';

/** An option that was given: `value` is '' if it takes none. */
export interface PlannedOption {
  readonly flag: string;
  readonly value: string;
  /** never shown */
  readonly isSecret?: boolean;
}

/** One job. */
export interface PlannedJob {
  readonly tool: ToolName;
  readonly input: InputKind;
  /** `-x`: an id, or `$0` for the schema that the run before it makes; null: the tool makes it */
  readonly origin: string | null;
  readonly options: readonly PlannedOption[];
}

/** The body of `POST /v2/run/cmd`; `paths` are those that uploads returned. */
export function executionsOf(
  runs: readonly PlannedJob[],
  paths: Readonly<Partial<Record<InputKind, string>>>,
): object {
  return {
    executions: runs.map(({ tool, input, origin, options }) => ({
      app_name: tool,
      source: {
        file: { command: paths[input] },
        ...(origin === null ? {} : { origin_id: { command: '-x', value: origin } }),
      },
      target: {
        generation: options.map(({ flag, value }) => ({ command: flag, ...(value === '' ? {} : { value }) })),
      },
    })),
  };
}

/** Quotes text for a POSIX shell. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Names of the files as one would write them beside them: of a folder, the folder. */
function inputWords(files: readonly InputFile[]): string[] {
  const folders = new Set(
    files.map(({ path }) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '')),
  );
  const [folder] = folders;
  if (folders.size === 1 && folder !== undefined && folder !== '') return [`${folder}/`];
  return files.map(({ path }) => path);
}

export function packedName(kind: InputKind): string {
  return kind === 'xml' ? 'documents.tar' : 'schema.tar';
}

export function commandText(
  runs: readonly PlannedJob[],
  files: Readonly<Record<InputKind, readonly InputFile[]>>,
): string {
  return runs
    .map(({ tool, input, origin, options }) => {
      const words = options.flatMap(({ flag, value, isSecret }) => [
        flag,
        ...(value === '' ? [] : [isSecret === true ? '"$PASSWORD"' : quoted(value)]),
      ]);
      const schema = origin === null ? [] : ['-x', origin === '$0' ? '"$ORIGIN"' : origin];
      const line = ['npx', tool, ...inputWords(files[input]).map(quoted), ...schema, ...words].join(' ');
      const isUsed = tool === 'xsd2er' && runs.length > 1;
      return isUsed ? `ORIGIN=$(${line} --json | tail -n 1 | sed 's/.*"origin":\\([0-9]*\\).*/\\1/')` : line;
    })
    .join('\n');
}

export function curlText(
  runs: readonly PlannedJob[],
  files: Readonly<Record<InputKind, readonly InputFile[]>>,
  service: string,
  asksKey: boolean,
): string {
  const kinds = [...new Set(runs.map(({ input }) => input))];
  const auth = asksKey ? ' -H "Authorization: Bearer $KEY"' : '';
  const uploads = kinds.flatMap((kind) => {
    const ofKind = files[kind];
    const isOne = ofKind.length === 1;
    const name = isOne ? ofKind[0]!.file.name : packedName(kind);
    const variable = kind.toUpperCase();
    return [
      ...(isOne ? [] : [`tar cf ${name} ${inputWords(ofKind).map(quoted).join(' ')}`]),
      `TOKEN=$(curl -s${auth} -H "Content-Type: application/json" -d '{"kind":"${kind}"}' "$URL/v2/file/upload/token" |`,
      `  sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`,
      `${variable}=$(curl -s -X POST -T ${quoted(isOne ? ofKind[0]!.path : name)} "$URL/v2/file/upload/${kind}?token=$TOKEN&name=${encodeURIComponent(name).replaceAll("'", '%27')}" | tr -d '"')`,
    ];
  });
  const shown = runs.map((run) => ({
    ...run,
    options: run.options.map((option) => (option.isSecret === true ? { ...option, value: '…' } : option)),
  }));
  const paths = Object.fromEntries(kinds.map((kind) => [kind, `@${kind}@`]));
  // the shell inserts the paths of the uploads between the quotes
  const body = kinds.reduce(
    (text, kind) => text.replaceAll(`@${kind}@`, `'"$${kind.toUpperCase()}"'`),
    JSON.stringify(executionsOf(shown, paths)).replaceAll("'", `'\\''`),
  );
  return [
    `URL=${quoted(service.replace(/\/$/, ''))}`,
    ...(asksKey ? ['KEY=$(cat "$SVC_HOME/admin.key") # or another key'] : []),
    ...uploads,
    `curl -s${auth} -H "Content-Type: application/json" "$URL/v2/run/cmd" -d '${body}'`,
  ].join('\n');
}
