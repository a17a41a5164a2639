/** The command `er2xml`; see src/tools/cli/usage.ts for its options. */
import { convertBack } from '../write-back/convert-back.ts';
import { runCommand } from '../cli/run-command.ts';

await runCommand('er2xml', convertBack);
