/** Reads `text/event-stream`: https://html.spec.whatwg.org/multipage/server-sent-events.html */

export interface ServerSentEvent {
  /** `message` where the stream names none */
  readonly event: string;
  /** the `data` lines, joined by line feeds */
  readonly data: string;
}

export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  let event = 'message';
  let data: string[] = [];
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines.map((raw) => raw.replace(/\r$/, ''))) {
      if (line === '') {
        if (data.length > 0) yield { event, data: data.join('\n') };
        event = 'message';
        data = [];
        continue;
      }
      const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line)!;
      if (field === 'event') event = value!;
      else if (field === 'data') data.push(value!);
    }
  }
}
