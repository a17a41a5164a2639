/** Server-sent events over fetch: the browser's own EventSource sends no key. */
import { call } from './client.ts';

export interface ServerEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** The events of a path until it ends. */
export async function* followEvents(path: string, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const response = await call(path, { accept: 'text/event-stream', signal });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (buffer + value).split('\n\n');
    buffer = parts.pop()!;
    for (const part of parts) {
      const event = parseEvent(part);
      if (event !== null) yield event;
    }
  }
}

/** Returns null for a comment alone. */
function parseEvent(text: string): ServerEvent | null {
  const data: string[] = [];
  let id = '';
  let event = 'message';
  for (const line of text.split('\n')) {
    const [, field, value = ''] = /^([a-z]+):? ?([^]*)$/.exec(line) ?? [];
    if (field === 'data') data.push(value);
    else if (field === 'id') id = value;
    else if (field === 'event') event = value;
  }
  return data.length === 0 ? null : { id, event, data: data.join('\n') };
}
