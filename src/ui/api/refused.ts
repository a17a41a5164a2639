/** A request that the service refused, in its own words (RFC 9457), with advice. */

interface Complaint {
  readonly pointer: string;
  readonly detail: string;
}

interface ProblemDocument {
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly errors?: readonly Complaint[];
}

const advices: Readonly<Record<string, string>> = {
  unauthorized:
    'Open “Key” at the top and give a valid API key. The first one is in the file admin.key in the home folder of the service.',
  forbidden: 'Use a key that has this scope; a key with the scope admin makes others (POST /v2/admin/keys).',
  commands_disabled:
    'Start the service with SVC_CMD_ENABLED=true, or set cmd.enabled=true in conf/backend.properties of its home folder.',
  path_not_allowed: 'Paths lie below the folders that the operator names in svc.files.roots.',
  host_not_allowed: 'The operator names the hosts that may be reached in svc.allow.hosts.',
  too_many_requests: 'Wait a moment, then try again.',
  service_unavailable: 'Try again; the health at the top of the page tells how the service is.',
  runtime_unsupported: 'Ask a service that runs on Node.',
};

export class RefusedRequest extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly errors: readonly Complaint[];

  constructor(
    status: number,
    { title = `HTTP ${status}`, detail = '', code = '', errors = [] }: ProblemDocument,
  ) {
    super(detail === '' ? title : `${title}: ${detail}`);
    this.status = status;
    this.code = code;
    this.title = title;
    this.detail = detail;
    this.errors = errors;
  }

  /** advice on what to do next; null if the service's own message says it */
  get advice(): string | null {
    return advices[this.code] ?? null;
  }
}

export async function refusalOf(response: Response): Promise<RefusedRequest> {
  return refusal(response.status, await response.text().catch(() => ''));
}

export function refusal(status: number, text: string): RefusedRequest {
  try {
    return new RefusedRequest(status, JSON.parse(text) as ProblemDocument);
  } catch {
    return new RefusedRequest(status, { detail: text.slice(0, 200) });
  }
}
