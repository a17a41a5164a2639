/** The command `xml2er`; see src/tools/cli/usage.ts for its options. */
import { convertXml } from '../convert/documents.ts';
import { runCommand } from '../cli/run-command.ts';

await runCommand('xml2er', convertXml);
