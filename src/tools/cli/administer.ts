/** `conversion-job-service COMMAND …`: shows and changes the installation, for users who can read the home folder. */
import { parseArgs } from 'node:util';
import { closestWord, didYouMean } from '../../engine/closest-word.ts';
import { readBuildInfo } from '../../runtime/build-info.ts';
import { ConfigError } from '../../config/wrong-settings.ts';
import { AppError, isOutage } from '../../errors.ts';
import { maskSecrets } from '../../service/jobs/mask-secrets.ts';
import { allScopes } from '../../ports/stores/access.ts';
import type { Adapters } from '../../ports/adapters.ts';
import { openInstallation, type OwnAdapters } from '../../runtime/open-installation.ts';
import { commands, optionValues, shells, toolCommands } from '../operator/every-command.ts';
import { UsageError, type Command, type OptionName, type Options } from '../operator/specification.ts';
import { describe } from './help.ts';
import { createTerminal, type Terminal } from './terminal.ts';

const exitCodes = { completed: 0, failed: 1, usage: 2 } as const;

const firstLines = [
  ['', 'the service, until SIGTERM: HOST, PORT and SVC_HOME in the environment'],
  ['worker', 'jobs alone, beside services that share the database and the files'],
] as const;

const lastLines = [
  ['migrate export|import …', 'schemas to and from other installations; migrate --help shows how'],
  ['unload -l LOGICAL -i TARGET -D NAME', 'removes the rows of a document; unload --help shows more'],
  ['doctor', 'examines this machine and the settings, and says what to do about each fault'],
  [`completion ${shells.join('|')}`, 'a script that completes commands and options in that shell'],
] as const;

function usage(): string {
  const lines = [
    ...firstLines,
    ...Object.entries(commands).map(
      ([name, { words, options, meaning }]) =>
        [[name, ...words, ...options.map(shownOption)].join(' '), meaning] as const,
    ),
    ...lastLines,
  ];
  return [
    ...lines.flatMap(([call, meaning]) => describe(`conversion-job-service ${call}`.trimEnd(), meaning, 46)),
    '',
    '--json prints JSON. Scopes:',
    `${allScopes.join(', ')}.`,
    'Exit code: 0 done, 1 failed, 2 wrong usage.',
  ].join('\n');
}

function shownOption(option: OptionName): string {
  const value = optionValues[option];
  const flag = option === 'out' ? '-o' : `--${option}`;
  const isNeeded = option === 'name' || option === 'scopes' || option === 'every';
  const shown = value === '' ? flag : `${flag} ${value}`;
  return isNeeded ? shown : `[${shown}]`;
}

async function administer(argv: readonly string[]): Promise<number> {
  const terminal = createTerminal();
  // the reader of the output may close it
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', () => process.exit(exitCodes.completed));
  if (argv.includes('--help') || argv.includes('-h') || argv[0] === 'help') {
    terminal.log(usage());
    return exitCodes.completed;
  }
  if (argv.length === 1 && argv[0] === '--version') {
    const { name, version } = await readBuildInfo();
    terminal.log(`${name} ${version}`);
    return exitCodes.completed;
  }
  try {
    if (argv[0] === 'completion') {
      const { completionScript } = await import('../operator/every-command.ts');
      terminal.log(completionScript(argv.slice(1)));
      return exitCodes.completed;
    }
    if (argv[0] === 'doctor') return await examineMachine(argv.slice(1), terminal);
    const { command, words, options } = parseCommand(argv);
    const installation = await openInstallation(process.env, { role: 'tool', write: () => undefined });
    try {
      const { adapters, config, home, databaseUrl } = installation;
      // run by a person, whose files the service does not relay
      const own: Pick<Adapters, keyof OwnAdapters> = adapters as OwnAdapters;
      const opened = { adapters: own as Adapters, config, home, database: maskSecrets(databaseUrl) };
      const { text, json } = await command.run(opened, words, options);
      if (options.json === true) terminal.log(JSON.stringify(json));
      else if (typeof text === 'string') terminal.log(text);
      else for await (const piece of text) process.stdout.write(piece);
      return exitCodes.completed;
    } finally {
      await installation.close();
    }
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.complain(usage());
      // below the rest, because a person looks there first
      terminal.complain(`\nconversion-job-service: ${error.message}`);
      return exitCodes.usage;
    }
    if (!(error instanceof AppError) && !(error instanceof ConfigError) && !isOutage(error)) throw error;
    terminal.complain((error as Error).message);
    return exitCodes.failed;
  }
}

/** `doctor`: needs neither a home folder nor a database, because it examines both. */
async function examineMachine(argv: readonly string[], terminal: Terminal): Promise<number> {
  const stranger = argv.find((word) => word !== '--json');
  if (stranger !== undefined) throw new UsageError(`doctor takes no argument but --json, not ${stranger}`);
  const { examine, findingsAsText } = await import('../operator/doctor.ts');
  const findings = await examine(process.env);
  terminal.log(argv.includes('--json') ? JSON.stringify({ findings }) : findingsAsText(findings));
  return findings.some(({ state }) => state === 'failed') ? exitCodes.failed : exitCodes.completed;
}

function parseCommand(argv: readonly string[]): {
  readonly command: Command;
  readonly words: readonly string[];
  readonly options: Options;
} {
  const { positionals, values } = parsed(argv);
  const two = positionals.slice(0, 2).join(' ');
  // `targets` alone lists them, and so does `watches`
  const plural = ['targets', 'watches'].includes(positionals[0] ?? '') ? `${positionals[0]} list` : '';
  const name = [two, positionals[0] ?? '', plural].find((one) => Object.hasOwn(commands, one));
  if (name === undefined) throw new UsageError(unknownCommand(positionals));
  const command = commands[name]!;
  const words = positionals.slice(name === plural && two !== plural ? 1 : name.split(' ').length);
  if (words.length !== command.words.length) {
    const needed = command.words.length === 0 ? 'no argument' : command.words.join(' ');
    throw new UsageError(`${name} takes ${needed}${words.length === 0 ? '' : `, not ${words.join(' ')}`}`);
  }
  const known = [...command.options, 'json'];
  const stranger = Object.keys(values).find((option) => !known.includes(option));
  if (stranger !== undefined)
    throw new UsageError(
      `${name} has no option --${stranger}${didYouMean(
        stranger,
        known.filter((one) => one.length > 2),
      )}`,
    );
  return { command, words, options: values };
}

function parsed(argv: readonly string[]): { positionals: string[]; values: Options } {
  const options = Object.fromEntries(
    Object.entries(optionValues).map(([name, value]) => [
      name,
      {
        type: value === '' ? ('boolean' as const) : ('string' as const),
        ...(name === 'out' ? { short: 'o' } : {}),
        ...(name === 'follow' ? { short: 'f' } : {}),
      },
    ]),
  );
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options }) as ReturnType<typeof parsed>;
  } catch (error) {
    const { message } = error as Error;
    const flag = /^Unknown option '--([^']*)'/.exec(message)?.[1];
    throw new UsageError(
      flag === undefined
        ? message
        : `there is no option --${flag}${didYouMean(flag, Object.keys(optionValues))}`,
    );
  }
}

function unknownCommand(positionals: readonly string[]): string {
  const given = positionals.slice(0, 2).join(' ');
  const names = [...Object.keys(commands), ...toolCommands, 'completion', 'doctor', 'worker'];
  const own = names.filter((name) => name.startsWith(`${positionals[0]} `));
  if (own.length > 0) return `there is no command ${given}; there are ${own.join(', ')}`;
  const meant = closestWord(given, names) ?? closestWord(positionals[0] ?? '', names);
  return `there is no command ${given}${meant === null ? '' : `; did you mean ${meant}?`}`;
}

void administer(process.argv.slice(2)).then((code) => (process.exitCode = code));
