/** The context of a request for handlers: its id, its caller, the connection, and the content of its answer. */
import type { Context } from 'hono';
import type { Principal } from '../service/access/keys.ts';
import type { TraceContext } from '../service/jobs/trace-context.ts';
import type { Coding, Compressor, RequestConnection } from '../ports/network.ts';

/** Content of the program itself. It is hashed once, and compressed once for each coding. */
export interface StaticContent {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** 16 hexadecimal digits of its SHA-256 */
  readonly digest: string;
  compressed(compressor: Compressor, coding: Coding): Promise<Uint8Array<ArrayBuffer>>;
}

/** The values that middleware sets for the handlers of one request. */
export interface AppEnv {
  Bindings: {
    /** absent if the host does not limit its connections */
    svcConnection?: RequestConnection;
  };
  Variables: {
    requestId: string;
    /** the span of this request, within the trace of its caller or one of its own */
    trace: TraceContext;
    /** path that the host takes off requests; '' for none */
    basePath: string;
    /** number of path segments in front of the application that its host has left in the path */
    segmentsBefore: number;
    /** set on every operation that needs a key */
    principal: Principal;
    /** query parameters that the sign-in of a host reads, and which are no parameters of operations */
    hostParameters?: readonly string[];
    /** checks whether that key or token may still do this; used by long-running answers */
    mayGoOn: () => Promise<boolean>;
    /** content of the answer, if it belongs to the program */
    staticContent?: StaticContent;
    /** object that the audit log names beside the action, unless the path contains it */
    auditSubject?: string;
  };
}

/** `c.env` is whatever the host hands over: nothing at all, too. */
export function connectionOf(c: Context<AppEnv>): RequestConnection | undefined {
  return (c.env as AppEnv['Bindings'] | undefined)?.svcConnection;
}
