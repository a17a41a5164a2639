/** The public surface: the application, what it must be given, and the parts that can be given to it. */
export { createApp } from './app.ts';
export { readConfig } from './config/properties.ts';
export type { Config } from './config/shape.ts';
export { AppError, errorCatalogue } from './errors.ts';
export type { ErrorCode, ErrorDetail } from './errors.ts';
export type {
  AboutApi,
  AdminApi,
  CilApi,
  DiagramsApi,
  ExecutionsApi,
  FilesApi,
  MappingsApi,
  TransferApi,
  RunApi,
  SchemasApi,
  TargetsApi,
  WatchesApi,
  WorkflowsApi,
} from './http/openapi/client-types.ts';
export { issueKey } from './service/access/keys.ts';
export { allScopes } from './ports/stores/access.ts';
export type * from './ports/adapters.ts';
export type * from './ports/environment.ts';
export type * from './ports/files.ts';
export type * from './ports/network.ts';
export type * from './ports/processes.ts';
export type * from './ports/stores/access.ts';
export type * from './ports/stores/catalog.ts';
export type * from './ports/stores/idempotency.ts';
export type * from './ports/stores/jobs.ts';
export type * from './ports/stores/watches.ts';
