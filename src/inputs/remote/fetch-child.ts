/** The process that fetches the sources of a schema. */
import { serveRequests } from '../../process/child-requests.ts';
import { fetchSources, type FetchRequest } from './source-fetch.ts';

void serveRequests<FetchRequest>(async (request) =>
  'fetch' in request ? fetchSources(request.fetch) : null,
);
