/** What there is to choose from, as the command line has it. */
import type { PageChoices } from '../../http/page/choices.ts';
import { getJson } from './client.ts';

export async function readChoices(signal: AbortSignal): Promise<PageChoices> {
  return await getJson<PageChoices>('ui/choices.json', signal);
}
