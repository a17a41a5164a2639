/** Reads the choices of the command line for the page. */
import type { PageChoices } from '../../http/page/choices.ts';
import { getJson } from './client.ts';

export async function readChoices(signal: AbortSignal): Promise<PageChoices> {
  return await getJson<PageChoices>('ui/choices.json', signal);
}
