/** The endpoint groups as types for Hono's client, `hc<SchemasApi>(url)`: one by one, as one type of all takes long to check. */
import type { createAboutRoutes } from '../routes/about.ts';
import type { createAdminRoutes } from '../routes/admin.ts';
import type { createCilRoutes } from '../routes/cil.ts';
import type { createDiagramRoutes } from '../routes/diagrams.ts';
import type { createExecutionRoutes } from '../routes/executions.ts';
import type { createFileRoutes } from '../routes/files.ts';
import type { createMappingRoutes } from '../routes/mappings.ts';
import type { createTransferRoutes } from '../routes/transfer.ts';
import type { createRunRoutes } from '../routes/run.ts';
import type { createSchemaRoutes } from '../routes/schemas.ts';
import type { createTargetRoutes } from '../routes/targets.ts';
import type { createWatchRoutes } from '../routes/watches.ts';
import type { createWorkflowRoutes } from '../routes/workflows.ts';

/** /v2/about, /v2/extensions/list */
export type AboutApi = ReturnType<typeof createAboutRoutes>;
/** /v2/admin */
export type AdminApi = ReturnType<typeof createAdminRoutes>;
/** /v2/extensions/cil */
export type CilApi = ReturnType<typeof createCilRoutes>;
/** /v2/diagram */
export type DiagramsApi = ReturnType<typeof createDiagramRoutes>;
/** /v2/executions */
export type ExecutionsApi = ReturnType<typeof createExecutionRoutes>;
/** /v2/file */
export type FilesApi = ReturnType<typeof createFileRoutes>;
/** /v2/mapping */
export type MappingsApi = ReturnType<typeof createMappingRoutes>;
/** /v2/schema/export, /v2/schema/import */
export type TransferApi = ReturnType<typeof createTransferRoutes>;
/** /v2/run */
export type RunApi = ReturnType<typeof createRunRoutes>;
/** /v2/schema, all but export and import */
export type SchemasApi = ReturnType<typeof createSchemaRoutes>;
/** /v2/target */
export type TargetsApi = ReturnType<typeof createTargetRoutes>;
/** /v2/watches */
export type WatchesApi = ReturnType<typeof createWatchRoutes>;
/** /v2/workflow */
export type WorkflowsApi = ReturnType<typeof createWorkflowRoutes>;
