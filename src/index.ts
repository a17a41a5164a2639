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
  WorkflowsApi,
} from './http/openapi/client-types.ts';
export { issueKey } from './service/access/keys.ts';
export type { AccessStore, Scope } from './ports/stores/access.ts';
export { allScopes } from './ports/stores/access.ts';
export type { Adapters, BuildInfo, RuntimeInfo } from './ports/adapters.ts';
export type { AssetStore } from './ports/files.ts';
export type { CatalogStore } from './ports/stores/catalog.ts';
export type { Clock } from './ports/environment.ts';
export type { FileStore } from './ports/files.ts';
export type { HealthComponent, HealthProbe, HealthStatus } from './ports/environment.ts';
export type { JobStore } from './ports/stores/jobs.ts';
export type { Logger } from './ports/environment.ts';
export type { TransferProgram } from './ports/processes.ts';
export type { HostResolver } from './ports/network.ts';
export type { CompiledSchema, FindCompiled, SchemaCompiler, SchemaSources } from './ports/processes.ts';
export type { SecretBox } from './ports/stores/access.ts';
