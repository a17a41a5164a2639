/** Handles `Expect: 100-continue` (RFC 9110 section 10.1.1): the server answers 100 once a handler reads the body. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/**
 * `Expect: 100-continue` is answered with 100 when the body is read for the first time: a client that is refused for its key, a scope
 * or a length sends none. Node closes the connection after an answer without a preceding 100, because the next bytes may be the body or
 * a request.
 */
export function continueOnRead(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, answer: ServerResponse) => {
    const unwatched = request._read;
    request._read = function read(size) {
      request._read = unwatched;
      // bytes that are read after the answer are discarded
      if (!answer.headersSent && !answer.destroyed) answer.writeContinue();
      unwatched.call(this, size);
    };
    server.emit('request', request, answer);
  });
}
