# Written by `npm run client:python` from the OpenAPI document; not to be edited.
"""What is sent and answered, as types: at run time they are the plain dictionaries of its JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired, TypeAlias

Schema: TypeAlias = "SchemaDetails"

class LevelRequest(TypedDict):
    """Without a level, or with null, that of the start."""

    configuredLevel: NotRequired[Literal["OFF", "ERROR", "WARN", "INFO"] | None]


class RunCmdResponse(TypedDict):
    error: bool
    logPath: str | None
    cmds: list[str]
    jobs: list[int]
    id_workflow: int
    statuses: NotRequired[list[JobStatus]]
    """With `Prefer: wait=N`: the states of `jobs`, in their order, when the answer was made."""

JobStatus: TypeAlias = "Literal['Q', 'R', 'W', 'T', 'C', 'F', 'K', 'E', 'L']"

class Problem(TypedDict):
    """RFC 9457 problem details. `code` is the stable name of the fault, `errors` the places it was found at."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    errors: list[ProblemPlace]
    timestamp: str
    error: str
    path: str
    request_id: str


class ProblemPlace(TypedDict):
    """One wrong place: a JSON pointer into the body, or `#/path/…`, `#/query/…`, `#/header/…`, and what is wrong there."""

    pointer: str
    detail: str


class ExecutionRequest(TypedDict):
    """The jobs of one workflow, run in this order. An `origin_id` of `$N` is the schema that execution N (from 0) makes."""

    name: NotRequired[str]
    """Name of the workflow."""
    executions: list[Execution]


class Execution(TypedDict):
    app_name: str
    """Name of the tool."""
    source: NotRequired[ExecutionSource]
    target: NotRequired[ExecutionTarget]


class ExecutionSource(TypedDict):
    """What is read. `origin_id`: the schema, by its id or as `$N`."""

    file: NotRequired[CommandItem]
    origin_id: NotRequired[CommandItem]


class CommandItem(TypedDict):
    command: str
    """The option flag; for `source.file` the path of the input."""
    enabled: NotRequired[bool | Literal["true", "false"]]
    """An item that is not enabled is left out. Both the boolean and its name work."""
    value: NotRequired[str]
    """Value of the option; absent or empty for none."""


class ExecutionTarget(TypedDict):
    """Options. The groups are for the reader: an option may stand in any of them."""

    generation: NotRequired[list[CommandItem]]
    path: NotRequired[CommandItem]
    format: NotRequired[list[CommandItem]]
    writing_mode: NotRequired[list[CommandItem]]


class RerunJobResponse(TypedDict):
    error: bool
    id_job: int
    id_parent_job: int
    cmds: list[str]
    jobs: list[int]


class ExecutionsResponse(TypedDict):
    content: list[Job]
    page: int
    size: int
    total_elements: int
    total_pages: int


class Job(TypedDict):
    """A job record; times are epoch milliseconds, secrets are masked."""

    id_job: int
    """The job."""
    id_parent_job: int | None
    """The job that this one runs again; null for a first run."""
    id_org: int
    """Whose job it is."""
    id_sch: int | None
    """The schema that it made, or reads documents of; null until it is known."""
    id_lschma: int | None
    """The logical schema: whose tables rows go to."""
    id_app: str | None
    """The run of the tool, as the engine names it (`local-…`, or the application of Spark)."""
    job_type: Literal["Schema", "Parse", "Write", "Unload", "Export", "Import"]
    """Schema: xsd2er. Parse: xml2er. Write: er2xml. Unload: unload. Export, Import: schemas that move."""
    status: JobStatus
    params: str
    """What was given, as one line that a shell takes behind the name of the tool; secrets are `***`."""
    params_json: str
    """The same as JSON: settings of the engine under `spark`, options by their long names under `action`, `in` and `out` among them; nothing that was not given. Of a job that has ended, `result` is the summary of its tool, as `--json` prints it: the schema chosen and why, documents, rows by table, what was rejected or kept as unmapped, and `steps` with the seconds and CPU seconds of each; of a failed one what was known. It is absent where the tool left none, as when it was killed."""
    host: str | None
    """Name and address of the machine that ran it last; null until it runs."""
    os_user: str | None
    """Who it ran as there."""
    base_path: str | None
    """Folder that relative paths of its tool began at."""
    parm_path_input: str | None
    """Inputs as they were given."""
    parm_path_output: str | None
    """The target as it was given."""
    msg_proc_qty: int
    """Documents so far."""
    log_file: str | None
    """Its log, below the home of the service; read it by `/v2/executions/log`."""
    start_date: int | None
    """When it first ran; null while it waits."""
    end_date: int | None
    """When it ended; null before."""
    id_workflow: int
    """The request that it was part of."""
    attempt: int
    """How many times it was begun: more than one after a machine died."""
    progress: float | None
    """Share that is done, 0 to 1; null where that cannot be told."""
    failure: str | None
    """Why it did not complete, in a sentence; null otherwise."""


class JobLog(TypedDict):
    """A part of a job's log. `offset` and `next_offset` are bytes; `completed`: the job has ended, its log will not grow any more."""

    id_job: int
    """The job."""
    status: JobStatus
    offset: int
    """Byte of the log that this part begins at."""
    next_offset: int
    """Byte to ask for next."""
    total_size: int
    """Bytes that the log has now."""
    completed: bool
    """The job has ended: the log will not grow any more."""
    log: str
    """The part, as text."""


class WorkflowsResponse(TypedDict):
    content: list[WorkflowShort]
    page: int
    size: int
    total_elements: int
    total_pages: int


class WorkflowShort(TypedDict):
    """A workflow in a list: its jobs are ids."""

    id_workflow: int
    """The workflow."""
    name: str
    """As the request named it."""
    status: JobStatus
    start_date: int | None
    """When its first job began; null while none has."""
    end_date: int | None
    """When its last job ended; null before."""
    job_count: int
    """How many jobs it has."""
    completed_count: int
    """How many of them have completed."""
    failed_count: int
    """How many of them have ended otherwise."""
    jobs: list[int]


class GetWorkflowNameResponse(TypedDict):
    id: int
    name: str


class Workflow(TypedDict):
    id_workflow: int
    """The workflow."""
    name: str
    """As the request named it."""
    status: JobStatus
    start_date: int | None
    """When its first job began; null while none has."""
    end_date: int | None
    """When its last job ended; null before."""
    job_count: int
    """How many jobs it has."""
    completed_count: int
    """How many of them have completed."""
    failed_count: int
    """How many of them have ended otherwise."""
    jobs: list[Job]


class UploadToken(TypedDict):
    """Good for one upload of its kind, for five minutes."""

    token: str
    expires_at: int
    max_bytes: int


class UploadTokenRequest(TypedDict):
    kind: Literal["xml", "xsd"]
    max_bytes: NotRequired[int]

StoredPath: TypeAlias = "str"

class ExportedSchema(TypedDict):
    error: bool
    az_output_path: str
    """The location without its query; empty for a folder."""


class ExportSchemaRequest(TypedDict):
    origin_id: str
    """The schema; all its versions go along."""
    output_path: NotRequired[str]
    """Folder to write to."""
    az_output_path: NotRequired[str]
    metadb_host: NotRequired[str]
    """Host of the metadata database; without it, the service’s own."""
    metadb_port: NotRequired[str]
    metadb_user: NotRequired[str]
    metadb_db: NotRequired[str]
    metadb_password: NotRequired[str]
    """Without it, PGPASSWORD of the service, or its own."""


class ImportedSchemas(TypedDict):
    error: bool
    origin_ids: str
    """Every version, oldest first, by comma and space; empty on error."""


class ImportSchemaRequest(TypedDict):
    input_path: str
    """Folder that holds the package; with `az_input_path`, the one it is copied to first."""
    az_input_path: NotRequired[str]
    metadb_host: NotRequired[str]
    """Host of the metadata database; without it, the service’s own."""
    metadb_port: NotRequired[str]
    metadb_user: NotRequired[str]
    metadb_db: NotRequired[str]
    metadb_password: NotRequired[str]
    """Without it, PGPASSWORD of the service, or its own."""


class SchemaDetails(TypedDict):
    """A schema with the tables and columns of its logical schema."""

    id_sch: int
    """The schema."""
    id_org: int
    """Whose it is."""
    id_parent_sch: int | None
    """The version before it; null for a first one."""
    id_lschma: int | None
    """The logical schema that the figures below are of; null while there is none."""
    id_job: int | None
    """The job that made it; null where a request did."""
    name: str
    """Name of the family: all versions have it."""
    version: int
    """1 for the first of its family."""
    source_type: Literal["xsd", "xml", "xsd+xml"]
    """Made of XSDs, inferred from documents, or of XSDs with statistics of documents."""
    root_elements: list[str]
    """What documents may start with, the likeliest first."""
    target_namespace: str | None
    """Of the root elements; null for none."""
    namespaces: dict[str, str]
    """Prefixes that paths are written with."""
    files: list[SchemaFile]
    """The XSDs that it was made of."""
    map_level: int
    """How far single children fold into their parents and types are shared (`-g`)."""
    max_length: int
    """Longest name of a table or column, in bytes."""
    table_count: int
    """Tables of the logical schema."""
    mapping_count: int
    """Lines of its map."""
    created: int
    """When it was made, epoch milliseconds."""
    tables: list[SchemaTable]


class SchemaFile(TypedDict):
    """A file that the schema was made of."""

    name: str
    """Path within the set."""
    bytes: int
    """Its size."""
    sha256: str
    """SHA-256 of its bytes, hexadecimal."""


class SchemaTable(TypedDict):
    """A table with its columns."""

    id_tab: int
    name: str
    xpath: str
    parent_table: str | None
    columns: list[SchemaColumn]


class SchemaColumn(TypedDict):
    """A column. `references`: the table that a parent key leads to; `xpath` is null for keys and positions."""

    id_col: int
    name: str
    data_type: str
    length: int | None
    precision: int | None
    scale: int | None
    nullable: bool
    key: Literal["PK", "FK"] | None
    references: str | None
    xpath: str | None


class CreateSchemaRequest(TypedDict):
    """Paths are those that uploads returned; at least one of `xsd` and `xml`. With `id_parent_sch` it becomes the next version of that schema."""

    name: str
    xsd: NotRequired[list[str]]
    xml: NotRequired[list[str]]
    root: NotRequired[str]
    map_level: NotRequired[int]
    name_max_len: NotRequired[int]
    default_varchar_len: NotRequired[int]
    id_parent_sch: NotRequired[int]


class XMLSchema(TypedDict):
    """An origin (source schema) with its newest, or the selected, logical schema."""

    id_sch: int
    """The schema."""
    id_org: int
    """Whose it is."""
    id_parent_sch: int | None
    """The version before it; null for a first one."""
    id_lschma: int | None
    """The logical schema that the figures below are of; null while there is none."""
    id_job: int | None
    """The job that made it; null where a request did."""
    name: str
    """Name of the family: all versions have it."""
    version: int
    """1 for the first of its family."""
    source_type: Literal["xsd", "xml", "xsd+xml"]
    """Made of XSDs, inferred from documents, or of XSDs with statistics of documents."""
    root_elements: list[str]
    """What documents may start with, the likeliest first."""
    target_namespace: str | None
    """Of the root elements; null for none."""
    namespaces: dict[str, str]
    """Prefixes that paths are written with."""
    files: list[SchemaFile]
    """The XSDs that it was made of."""
    map_level: int
    """How far single children fold into their parents and types are shared (`-g`)."""
    max_length: int
    """Longest name of a table or column, in bytes."""
    table_count: int
    """Tables of the logical schema."""
    mapping_count: int
    """Lines of its map."""
    created: int
    """When it was made, epoch milliseconds."""


class SchemaShortInfoResponse(TypedDict):
    """`max_length`: how many bytes a name of the logical schema may have; `longest_name`: the longest table or column name in it, null while there is none."""

    id_sch: int
    """The schema."""
    name: str
    """Its name."""
    max_length: int
    """How many bytes a name may have."""
    longest_name: str | None
    """The longest name of a table or column; null while there is none."""


class ActivateMappingResponse(TypedDict):
    id_sch: int
    changed: int
    active_count: int
    inactive_count: int


class ActivateMappingRequest(TypedDict):
    """Which lines of the newest map to switch on: at least one of `ids` and `xpaths` has items. An element takes with it all that lies below it."""

    id_sch: int
    ids: NotRequired[list[int]]
    xpaths: NotRequired[list[str]]


class DeactivateMappingResponse(TypedDict):
    id_sch: int
    changed: int
    active_count: int
    inactive_count: int


class DeactivateMappingRequest(TypedDict):
    """Which lines of the newest map to switch off: at least one of `ids` and `xpaths` has items. An element takes with it all that lies below it."""

    id_sch: int
    ids: NotRequired[list[int]]
    xpaths: NotRequired[list[str]]


class Mapping(TypedDict):
    """One line of the source-to-target map. `xpath` is null for row keys, parent keys and positions."""

    id_map: int
    """The line."""
    id_sch: int
    """The schema."""
    id_lschma: int
    """The logical schema."""
    xpath: str | None
    """The element or attribute; null for row keys, parent keys and positions."""
    node_type: Literal["element", "attribute", "text", "mixed", "any"] | None
    """What the path leads to; null for keys and positions."""
    source_type: str
    """Type of the source: a built-in type of XML Schema, or the name of a declared one."""
    min_occurs: int
    """How often it occurs in its parent, at least."""
    max_occurs: int | None
    """At most; null: without bound."""
    id_tab: int
    """The table."""
    table_name: str
    """Its name."""
    column_name: str | None
    """The column; null for an element that makes rows."""
    data_type: str | None
    """Type of the column in PostgreSQL, without its length."""
    length: int | None
    """Longest text, in characters; null: any."""
    nullable: bool
    """The column may be without a value."""
    key: Literal["PK", "FK"] | None
    """PK: row key. FK: key of another row."""
    active: bool
    """false: switched off, so that no column is loaded for it."""
    documentation: str | None
    """What the XSD says of it."""


class StatsMapping(TypedDict):
    """What documents held at one line of the map. Occurrences are per parent; lengths are characters; a path that no document had stands with zeros and the type `none`. Where elements nest in themselves, the figures are those of all depths."""

    id_map: int
    xpath: str
    table_name: str
    column_name: str | None
    documents: int
    occurrences: int
    min_occurs: int
    max_occurs: int
    min_length: int
    max_length: int
    inferred_type: str
    min_value: str | None
    max_value: str | None
    distinct_estimate: int

ByteArrayResource: TypeAlias = "bytes"

MappingComparison = TypedDict(
    "MappingComparison",
    {
        "xpath": "str",
        "change": "Literal['added', 'removed', 'changed', 'same']",
        "differences": "list[MappingDifference]",
        "from": "Mapping | None",
        "to": "Mapping | None",
    },
)


MappingDifference = TypedDict(
    "MappingDifference",
    {
        "field": "str",
        "from": "str | int | bool | None",
        "to": "str | int | bool | None",
    },
)


class SvgRequest(TypedDict):
    """A well-formed SVG without scripts, event handlers, style sheets, images or references that leave it."""

    id_sch: int
    svg: str


class Diagram(TypedDict):
    """Tables and where they lie, in pixels, `_documents` among them (its `id_tab` is null); the relations from each foreign key to the key it refers to. `svg`: the drawing that was saved, if any."""

    id_sch: int
    id_lschma: int
    width: float
    height: float
    tables: list[DiagramTable]
    relations: list[DiagramRelation]
    svg: str | None


class DiagramTable(TypedDict):
    """A table and where it lies, in pixels."""

    id_tab: int | None
    name: str
    x: float
    y: float
    width: float
    height: float
    columns: list[DiagramColumn]


class DiagramColumn(TypedDict):
    name: str
    data_type: str
    key: Literal["PK", "FK"] | None


class DiagramRelation(TypedDict):
    """A foreign key and the key it refers to. `cardinality` counts the rows of `to_table` and `from_table`."""

    from_table: str
    from_columns: list[str]
    to_table: str
    to_columns: list[str]
    cardinality: Literal["1:1", "1:n", "0..1:n"]


class CILJobsDto(TypedDict):
    content: list[CILJob]
    page: int
    size: int
    total_elements: int
    total_pages: int


class CILJob(TypedDict):
    """One run of a feed. `pid` is the number of its job."""

    cfxml: str
    pid: int
    status: JobStatus
    job_type: Literal["Schema", "Parse", "Write", "Unload", "Export", "Import"]
    start_date: int | None
    end_date: int | None
    documents: int
    rows: int
    rejected: int
    unmapped: int


class CILMapping(TypedDict):
    """A table that a feed loads. `rows`: what completed runs loaded into it, less what was overwritten or unloaded since."""

    cfxml: str
    mapping: str
    group: str
    source_xpath: str
    target_table: str
    column_count: int
    rows: int


class CILSequence(TypedDict):
    """The numbers that row keys take. `last_value`: the highest that was given out in the target that the feed was loaded into last; where the service cannot look into that, how many rows completed runs loaded."""

    cfxml: str
    sequence: str
    target_table: str
    target_column: str
    load_order: int
    last_value: int
    increment: int


class UpdateKeysRequest(TypedDict):
    """Columns that become part of the natural key of their table (`NK`), or are no part of it any more (null)."""

    cfxml: str
    keys: list[CILKeyUpdate]


class CILKeyUpdate(TypedDict):
    """`key_type` NK makes the column a part of the natural key of its table, null ends that."""

    table_name: str
    column_name: str
    key_type: Literal["NK"] | None
    position: NotRequired[int]

CILMappingGroups: TypeAlias = "dict[str, int]"

class CILJobDetailsDto(TypedDict):
    """A run with its rows per table, what had no place in the map, what was left out because its mappings are inactive, and the documents that were refused: `code` says why, such as `unknown_root`."""

    cfxml: str
    pid: int
    status: JobStatus
    job_type: Literal["Schema", "Parse", "Write", "Unload", "Export", "Import"]
    start_date: int | None
    end_date: int | None
    documents: int
    rows: int
    rejected: int
    unmapped: int
    tables: list[CILTableRows]
    unmapped_xpaths: list[CILUnmappedXpath]
    ignored: int
    rejects: list[CILReject]
    broken_keys: list[CILBrokenKey]
    versions: list[CILVersion]


class CILTableRows(TypedDict):
    table_name: str
    rows: int


class CILUnmappedXpath(TypedDict):
    """What had no place in the map, and how often it was met."""

    xpath: str
    count: int


class CILReject(TypedDict):
    """A document that was refused; `code` says why, such as `unknown_root`."""

    document: str | None
    line: int | None
    column: int | None
    code: str | None
    message: str


class CILBrokenKey(TypedDict):
    """A natural key that the target does not have, as values of the run broke it."""

    table_name: str
    columns: list[str]


class CILVersion(TypedDict):
    """A version of the schema family."""

    id_sch: int
    version: int


class KeysResponse(TypedDict):
    content: list[CILKey]
    page: int
    size: int
    total_elements: int
    total_pages: int


class CILKey(TypedDict):
    """PK row keys, FK parent keys, NK natural keys."""

    id_col: int
    cfxml: str
    table_name: str
    column_name: str
    key_type: Literal["PK", "FK", "NK"]
    references: str | None
    position: int


class CILLineage(TypedDict):
    """Where the values of a column come from. Keys and positions have no source."""

    cfxml: str
    mapping: str
    source_xpath: str | None
    source_type: str | None
    target_table: str
    target_column: str
    target_type: str
    transformation: str
    pid: int | None


class IssuedApiKey(TypedDict):
    """A new key. Its text is given this once."""

    id_key: str
    id_org: int
    key: str


class NewApiKey(TypedDict):
    """Without `id_org` a key of the organisation that asks; `expires_at` in epoch milliseconds."""

    name: str
    scopes: list[Literal["jobs:read", "jobs:run", "schemas:read", "schemas:write", "files:upload", "migrate", "admin"]]
    id_org: NotRequired[int]
    expires_at: NotRequired[int | None]


class ApiKey(TypedDict):
    """A key without its secret, which is stored nowhere."""

    id_key: str
    id_org: int
    name: str
    scopes: list[Literal["jobs:read", "jobs:run", "schemas:read", "schemas:write", "files:upload", "migrate", "admin"]]
    created: int
    expires_at: int | None
    revoked_at: int | None


class Org(TypedDict):
    id_org: int
    name: str
    description: str | None
    created: int
    schema_count: int
    job_count: int


class NewOrg(TypedDict):
    name: str
    description: NotRequired[str | None]


class AuditPage(TypedDict):
    """A page of the audit log."""

    content: list[AuditLine]
    page: int
    size: int
    total_elements: int
    total_pages: int


class AuditLine(TypedDict):
    """Who did what: `actor` is a key, a subject of the identity provider, or the command line; `status` is null for a command."""

    id_audit: int
    time: int
    id_org: int
    actor: str
    action: str
    subject: str | None
    status: int | None
    request_id: str | None


class Extensions(TypedDict):
    extensions: list[Extension]
    action_params: ActionParams


class Extension(TypedDict):
    """A group of endpoints beside the others, below `path`."""

    name: str
    title: str
    path: str
    enabled: bool


class ActionParams(TypedDict):
    """`commands`: whether commands can be run; `levels`: the default map level; `levels_type`: 0 levels by table, 1 by type; `loadConfig`: the loader's settings."""

    commands: bool
    levels: int
    levels_type: int
    loadConfig: dict[str, str | int | bool]


class ActuatorLinks(TypedDict):
    _links: dict[str, ActuatorLink]


class ActuatorLink(TypedDict):
    """`templated`: the address has a part in braces to fill in."""

    href: str
    templated: bool

Info: TypeAlias = "dict[str, Any]"

class Health(TypedDict):
    """To a key holder also `components` (`details` in version 2), and the groups."""

    status: Literal["UP", "DOWN", "OUT_OF_SERVICE", "UNKNOWN"]


class MetricNames(TypedDict):
    names: list[str]


class EnvironmentSources(TypedDict):
    """Settings by who gave them: the environment, `backend.properties`, or nobody (the default)."""

    activeProfiles: list[str]
    propertySources: list[PropertySource]


class PropertySource(TypedDict):
    name: str
    properties: dict[str, SettingValue]


class SettingValue(TypedDict):
    """Of a setting that was given, the value is masked."""

    value: str
    origin: NotRequired[str]


class Loggers(TypedDict):
    """There is one logger, ROOT."""

    levels: list[Literal["OFF", "ERROR", "WARN", "INFO"]]
    loggers: dict[str, LoggerLevel]
    groups: dict[str, Any]


class LoggerLevel(TypedDict):
    """`configuredLevel`: what was set since the start, if anything."""

    configuredLevel: NotRequired[Literal["OFF", "ERROR", "WARN", "INFO"]]
    effectiveLevel: Literal["OFF", "ERROR", "WARN", "INFO"]


class Metric(TypedDict):
    name: str
    description: str
    baseUnit: NotRequired[str]
    measurements: list[Measurement]
    availableTags: list[AvailableTag]


class Measurement(TypedDict):
    statistic: str
    value: float


class AvailableTag(TypedDict):
    """A tag that tells the samples of a metric apart, for `?tag=TAG:VALUE`."""

    tag: str
    values: list[str]


class EnvironmentSetting(TypedDict):
    property: UsedSetting
    activeProfiles: list[str]
    propertySources: list[SourceOfSetting]


class UsedSetting(TypedDict):
    source: str
    value: str


class SourceOfSetting(TypedDict):
    name: str
    property: NotRequired[SettingValue]

ModelAndView: TypeAlias = "str"

class ErrorAttributes(TypedDict):
    timestamp: str
    status: int
    error: str
    path: str


class ServiceIndex(TypedDict):
    """What answers here, and paths to go on with; `openapi` is the OpenAPI document where `Accept` is application/json."""

    name: str
    version: str
    links: ServiceLinks


class ServiceLinks(TypedDict):
    doc: str
    health: str
    openapi: str

OpenApiDocument: TypeAlias = "dict[str, Any]"
