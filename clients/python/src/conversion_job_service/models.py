# Written by `npm run client:python` from the OpenAPI document; not to be edited.
"""What is sent and answered, as types: at run time they are the plain dictionaries of its JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired, TypeAlias

Schema: TypeAlias = "SchemaDetails"

class LevelRequest(TypedDict):
    """Without a level, or with null, the level of the start is restored."""

    configuredLevel: NotRequired[Literal["OFF", "ERROR", "WARN", "INFO"] | None]
    """The new level; null: the level of the start."""


class RunCmdResponse(TypedDict):
    error: bool
    """Whether it failed. Failures are problem documents, so an answer with 200 or 201 says false."""
    logPath: str | None
    """Always null: logs are read by `GET /v2/executions/log/{id_job}`."""
    cmds: list[str]
    """The command line of each job, in the order of `jobs`."""
    jobs: list[int]
    """Ids of the jobs, in the order of the executions."""
    id_workflow: int
    """The workflow of the jobs."""
    statuses: NotRequired[list[JobStatus]]
    """With `Prefer: wait=N`: the states of `jobs`, in their order, when the answer was made."""

JobStatus: TypeAlias = "Literal['Q', 'R', 'W', 'T', 'C', 'F', 'K', 'E', 'L']"

class Problem(TypedDict):
    """RFC 9457 problem details. `code` is the stable name of the fault, `errors` the places it was found at."""

    type: str
    """`urn:svc:problem:` and the code."""
    title: str
    """Title of the code."""
    status: int
    """The status of the answer."""
    detail: str
    """What is wrong with this request, and what to do."""
    instance: str
    """The requested path."""
    code: str
    """The stable name of the fault, for programs."""
    help: str
    """Reference, relative to the address of the request, to a page that explains the code."""
    errors: list[ProblemPlace]
    """The wrong places of the request; at most 100."""
    timestamp: str
    """When it was answered, ISO 8601."""
    error: str
    """Reason phrase of the status."""
    path: str
    """The requested path."""
    request_id: str
    """Names the request in the log of the service; also in the header X-Request-ID."""


class ProblemPlace(TypedDict):
    """One wrong place: a JSON pointer into the body, or `/path/…`, `/query/…`, `/header/…`, and what is wrong there."""

    pointer: str
    """JSON pointer into the body, or `/path/…`, `/query/…`, `/header/…`."""
    detail: str
    """The fault at that place."""


class ExecutionRequest(TypedDict):
    """The jobs of one workflow, run in this order. An `origin_id` of `$N` is the schema that execution N (from 0) makes."""

    name: NotRequired[str]
    """Name of the workflow."""
    executions: list[Execution]
    """The jobs, in the order that they run in."""


class Execution(TypedDict):
    app_name: str
    """Name of the tool."""
    source: NotRequired[ExecutionSource]
    target: NotRequired[ExecutionTarget]


class ExecutionSource(TypedDict):
    """The inputs. `origin_id`: the schema, by its id or as `$N`."""

    file: NotRequired[CommandItem]
    origin_id: NotRequired[CommandItem]


class CommandItem(TypedDict):
    command: str
    """The option flag; for `source.file` the path of the input."""
    enabled: NotRequired[bool | Literal["true", "false"]]
    """An item that is not enabled is ignored. A boolean or its name is accepted."""
    value: NotRequired[str]
    """Value of the option; absent or empty for none."""


class ExecutionTarget(TypedDict):
    """Options. The groups have no meaning: an option may be in any of them."""

    generation: NotRequired[list[CommandItem]]
    """Options for the design of tables, such as `-g`."""
    path: NotRequired[CommandItem]
    format: NotRequired[list[CommandItem]]
    """Options of the format, such as `-f`."""
    writing_mode: NotRequired[list[CommandItem]]
    """Options for writing rows, such as `-S`."""


class RerunJobResponse(TypedDict):
    error: bool
    """Whether it failed. Failures are problem documents, so an answer with 200 or 201 says false."""
    id_job: int
    """The new job."""
    id_parent_job: int
    """The job that is run again."""
    cmds: list[str]
    """The command line of the new job."""
    jobs: list[int]
    """The new job, as a list of one."""


class ExecutionsResponse(TypedDict):
    content: list[Job]
    """What this page holds."""
    page: int
    """Number of this page, from 0."""
    size: int
    """Requested page size."""
    total_elements: int
    """Total number of items."""
    total_pages: int
    """Number of pages; 0 if there are no items."""


class Job(TypedDict):
    """A job record; times are epoch milliseconds, secrets are masked."""

    id_job: int
    """The job."""
    id_parent_job: int | None
    """The job that this one runs again; null for a first run."""
    id_org: int
    """The organisation that owns the job."""
    id_sch: int | None
    """The schema that the job makes or uses; null until it is known."""
    id_lschma: int | None
    """The logical schema, which defines the tables of the rows."""
    id_app: str | None
    """Id of the run in the engine: `local-…`, or the id of the Spark application."""
    job_type: Literal["Schema", "Parse", "Write", "Unload", "Export", "Import"]
    """Schema: xsd2er. Parse: xml2er. Write: er2xml. Unload: unload. Export, Import: schemas exported or imported."""
    status: JobStatus
    params: str
    """The given options as a command line, without the name of the tool; secrets are `***`."""
    params_json: str
    """The same as JSON: settings of the engine under `spark`, options by their long names under `action`, `in` and `out` among them; only given options. For a job that has ended, `result` is the summary of its tool, as `--json` prints it: the schema chosen and why, documents, rows by table, rejected and unmapped content, and `steps` with the seconds and CPU seconds of each; for a failed job, the known part. It is absent if the tool left none, for example when it was killed."""
    host: str | None
    """Name and address of the machine that ran it last; null until it runs."""
    os_user: str | None
    """Operating-system user that ran the job on that machine."""
    base_path: str | None
    """Folder to which relative paths of its tool refer."""
    parm_path_input: str | None
    """Inputs, as given in the request."""
    parm_path_output: str | None
    """The target, as given in the request."""
    msg_proc_qty: int
    """Number of documents processed so far."""
    log_file: str | None
    """Path of its log below the home of the service; read the log by `/v2/executions/log`."""
    start_date: int | None
    """When it first ran; null while it waits."""
    end_date: int | None
    """When it ended; null before."""
    id_workflow: int
    """The request that it was part of."""
    attempt: int
    """Number of attempts; more than one if a machine died."""
    progress: float | None
    """Completed fraction, 0 to 1; null if it is unknown."""
    failure: str | None
    """Why it did not complete, in a sentence; null otherwise."""
    id_watch: NotRequired[int]
    """The watch that found its files; absent for a job of a request."""
    trace_id: NotRequired[str]
    """The trace that the job belongs to (W3C Trace Context): from the `traceparent` header of the request that made the job, or a new one."""


class JobLog(TypedDict):
    """A part of a job's log. `offset` and `next_offset` are bytes; `completed`: the job has ended and its log is final."""

    id_job: int
    """The job."""
    status: JobStatus
    offset: int
    """Offset in bytes of this part in the log."""
    next_offset: int
    """Offset to request next."""
    total_size: int
    """Present size of the log in bytes."""
    completed: bool
    """The job has ended: the log is final."""
    log: str
    """The text of this part of the log."""


class WorkflowsResponse(TypedDict):
    content: list[WorkflowShort]
    """What this page holds."""
    page: int
    """Number of this page, from 0."""
    size: int
    """Requested page size."""
    total_elements: int
    """Total number of items."""
    total_pages: int
    """Number of pages; 0 if there are no items."""


class WorkflowShort(TypedDict):
    """A workflow in a list, with the ids of its jobs."""

    id_workflow: int
    """The workflow."""
    name: str
    """As the request named it."""
    status: JobStatus
    start_date: int | None
    """When its first job began; null before."""
    end_date: int | None
    """When its last job ended; null before."""
    job_count: int
    """Number of its jobs."""
    completed_count: int
    """Number of completed jobs."""
    failed_count: int
    """Number of jobs that ended without completing."""
    jobs: list[int]
    """Ids of its jobs, in the order that they run in."""


class GetWorkflowNameResponse(TypedDict):
    id: int
    """The workflow."""
    name: str
    """As the request named it."""


class Workflow(TypedDict):
    id_workflow: int
    """The workflow."""
    name: str
    """As the request named it."""
    status: JobStatus
    start_date: int | None
    """When its first job began; null before."""
    end_date: int | None
    """When its last job ended; null before."""
    job_count: int
    """Number of its jobs."""
    completed_count: int
    """Number of completed jobs."""
    failed_count: int
    """Number of jobs that ended without completing."""
    jobs: list[Job]
    """The records of its jobs, in the order that they run in."""


class Watch(TypedDict):
    """A location that is checked for new documents; times are epoch milliseconds, secrets are masked."""

    id_watch: int
    """The watch."""
    id_org: int
    """The organisation that it belongs to."""
    name: str
    """Its name, unique in the organisation."""
    location: str
    """The location of new documents: a folder, `s3://BUCKET/PREFIX/`, or the address of one file."""
    pattern: str | None
    """Pattern for names below the location, as for inputs; null: documents (`*.xml`) and archives."""
    id_sch: int | None
    """The schema of the documents; null: it is inferred from the first documents, or `options` names an XSD set."""
    target: str
    """Where rows go, as for `-o`."""
    options: dict[str, Any]
    """Further flags of `xml2er` with their values: text, number, `true` for a flag without one, or a list."""
    every: str
    """How often it checks the location: a duration, or five fields of cron in UTC."""
    order: Literal["name", "modified"]
    """Which files are loaded first."""
    settle: str
    """How long a file must be unchanged before it is loaded, as a duration."""
    on_error: Literal["fail", "skip"]
    """fail: a file with a bad document is rejected; skip: the other documents of the file are loaded."""
    on_drift: Literal["keep", "evolve", "fail"]
    """How to handle content that is not in the schema: evolve makes its next version, and the target gets it; keep leaves it in `_unmapped`; fail loads nothing and pauses the watch. Schemas of XSDs do not evolve: unknown content is kept in `_unmapped`."""
    max_files: int
    """Files that one job loads at most."""
    max_bytes: int
    """Bytes that one job loads at most; a larger file gets its own job."""
    credential: str | None
    """Name of the credential for the location; null: the source of the operator is used."""
    paused: bool
    """Whether the watch is paused."""
    created: int
    """When it was made, epoch milliseconds."""
    next_run: int | None
    """Time of the next check, epoch milliseconds; null while it is paused."""
    last_run: int | None
    """Time of the last scheduled check, epoch milliseconds; null: none yet."""
    id_job: int | None
    """The job that is loading files of the watch; null: none."""
    stalled: str | None
    """The reason why nothing is loaded, in a sentence; null: no problem."""
    stalled_at: int | None
    """Since when, epoch milliseconds."""
    files: WatchFileCounts
    waiting_bytes: int
    """Total size of the waiting files."""
    waiting_since: int | None
    """When the oldest waiting file was first found, epoch milliseconds; null: none waits."""


class WatchFileCounts(TypedDict):
    """Files of a watch, by state."""

    waiting: int
    """Found, but not loaded yet."""
    loading: int
    """In a job that has not ended."""
    loaded: int
    """Their rows are in the target."""
    rejected: int
    """Kept aside, with a reason."""
    ignored: int
    """Removed or changed before they were loaded, or found again with the same content."""
    replaced: int
    """Their documents are no longer in the target: documents of later files replaced them."""


class NewWatch(TypedDict):
    """`location`: a folder of the organisation or below a root, `s3://BUCKET/PREFIX/`, the `https://` address of one file, or a server of databases (`postgresql://HOST/DATABASE`, `mysql://…`, with user and password) whose rows `--query` and `--after` in `options` name. `target` is written as for `-o`, `options` has further flags of `xml2er`: `{"-f": "parquet", "--views": true}`."""

    name: str
    """Its name, unique in the organisation."""
    location: str
    """The location of new documents: a folder, `s3://BUCKET/PREFIX/`, or the address of one file."""
    target: str
    """Where rows go, as for `-o`."""
    every: str
    """How often it checks the location: a duration, or five fields of cron in UTC."""
    pattern: NotRequired[str | None]
    """Pattern for names below the location, as for inputs; null: documents (`*.xml`) and archives."""
    id_sch: NotRequired[int]
    """The schema of the documents; null: it is inferred from the first documents, or `options` names an XSD set."""
    options: NotRequired[dict[str, Any]]
    """Further flags of `xml2er` with their values: text, number, `true` for a flag without one, or a list."""
    order: NotRequired[Literal["name", "modified"]]
    """Which files are loaded first."""
    settle: NotRequired[str]
    """How long a file must be unchanged before it is loaded, as a duration."""
    on_error: NotRequired[Literal["fail", "skip"]]
    """fail: a file with a bad document is rejected; skip: the other documents of the file are loaded."""
    on_drift: NotRequired[Literal["keep", "evolve", "fail"]]
    """How to handle content that is not in the schema: evolve makes its next version, and the target gets it; keep leaves it in `_unmapped`; fail loads nothing and pauses the watch. Schemas of XSDs do not evolve: unknown content is kept in `_unmapped`."""
    max_files: NotRequired[int]
    """Files that one job loads at most."""
    max_bytes: NotRequired[int]
    """Bytes that one job loads at most; a larger file gets its own job."""
    credential: NotRequired[str | None]
    """Name of the credential for the location; null: the source of the operator is used."""
    paused: NotRequired[bool]
    """Whether the watch is paused."""


class WatchPage(TypedDict):
    """A page of watches."""

    content: list[Watch]
    """What this page holds."""
    page: int
    """Number of this page, from 0."""
    size: int
    """Requested page size."""
    total_elements: int
    """Total number of items."""
    total_pages: int
    """Number of pages; 0 if there are no items."""


class WatchChange(TypedDict):
    """Members that are not given are not changed."""

    name: NotRequired[str]
    """Its name, unique in the organisation."""
    location: NotRequired[str]
    """The location of new documents: a folder, `s3://BUCKET/PREFIX/`, or the address of one file."""
    target: NotRequired[str]
    """Where rows go, as for `-o`."""
    every: NotRequired[str]
    """How often it checks the location: a duration, or five fields of cron in UTC."""
    pattern: NotRequired[str | None]
    """Pattern for names below the location, as for inputs; null: documents (`*.xml`) and archives."""
    id_sch: NotRequired[int]
    """The schema of the documents; null: it is inferred from the first documents, or `options` names an XSD set."""
    options: NotRequired[dict[str, Any]]
    """Further flags of `xml2er` with their values: text, number, `true` for a flag without one, or a list."""
    order: NotRequired[Literal["name", "modified"]]
    """Which files are loaded first."""
    settle: NotRequired[str]
    """How long a file must be unchanged before it is loaded, as a duration."""
    on_error: NotRequired[Literal["fail", "skip"]]
    """fail: a file with a bad document is rejected; skip: the other documents of the file are loaded."""
    on_drift: NotRequired[Literal["keep", "evolve", "fail"]]
    """How to handle content that is not in the schema: evolve makes its next version, and the target gets it; keep leaves it in `_unmapped`; fail loads nothing and pauses the watch. Schemas of XSDs do not evolve: unknown content is kept in `_unmapped`."""
    max_files: NotRequired[int]
    """Files that one job loads at most."""
    max_bytes: NotRequired[int]
    """Bytes that one job loads at most; a larger file gets its own job."""
    credential: NotRequired[str | None]
    """Name of the credential for the location; null: the source of the operator is used."""
    paused: NotRequired[bool]
    """Whether the watch is paused."""


class WatchRun(TypedDict):
    """With `retry`, rejected files are retried: all of them, or those in `names`."""

    retry: NotRequired[bool]
    """Whether to retry rejected files."""
    names: NotRequired[list[str]]
    """Retry only files with these names."""


class WatchFilePage(TypedDict):
    """A page of files."""

    content: list[WatchFile]
    """What this page holds."""
    page: int
    """Number of this page, from 0."""
    size: int
    """Requested page size."""
    total_elements: int
    """Total number of items."""
    total_pages: int
    """Number of pages; 0 if there are no items."""


class WatchFile(TypedDict):
    """One version of one object. A changed file of the same name is another version."""

    name: str
    """Its name below the location."""
    version: str
    """Its ETag; for a file on a disk, its modification time and size."""
    bytes: int
    """Its size."""
    modified: int | None
    """Modification time, epoch milliseconds; null if it is unknown."""
    sha256: str | None
    """SHA-256 of its content; null until it has been read."""
    status: Literal["waiting", "loading", "loaded", "rejected", "ignored", "replaced"]
    """Its state."""
    id_job: int | None
    """The job that loads, loaded or rejected it."""
    reason: str | None
    """The reason why it was rejected or ignored; for a loaded file, the part that was not loaded."""
    replaced_by: str | None
    """The file whose documents replaced its documents; null: it was not replaced."""
    seen_at: int
    """When this version was first found or last retried, epoch milliseconds."""


class UploadToken(TypedDict):
    """A token for one upload of its kind, valid for five minutes."""

    token: str
    """The value of the parameter `token` of the upload."""
    expires_at: int
    """When it expires, epoch milliseconds."""
    max_bytes: int
    """Maximum size of the upload, in bytes."""


class UploadTokenRequest(TypedDict):
    kind: Literal["xml", "xsd"]
    """Kind of upload: documents or an XSD set."""
    max_bytes: NotRequired[int]
    """Maximum size of the upload in bytes, if less than the limit of the service."""

StoredPath: TypeAlias = "str"

class ExportedSchema(TypedDict):
    error: bool
    """Whether the run failed. A failed run is 200, too; a refused request is a problem document."""
    az_output_path: str
    """The location without its query; empty for a folder."""


class ExportSchemaRequest(TypedDict):
    """Exactly one of `output_path` and `az_output_path` is given."""

    origin_id: str
    """The schema, which is exported with all its versions."""
    output_path: NotRequired[str]
    """Folder to write to."""
    az_output_path: NotRequired[str]
    """Location in cloud storage instead of a folder: its URL, ending in a slash, and a shared-access query."""
    metadb_host: NotRequired[str]
    """Host of the metadata database; default: the service’s own database."""
    metadb_port: NotRequired[str]
    """Port of that database; default: 5432 with `metadb_host`, otherwise the port of the service’s own database."""
    metadb_user: NotRequired[str]
    """Login at that database; default: the service’s own login."""
    metadb_db: NotRequired[str]
    """Name of that database; default: the name of the service’s own database."""
    metadb_password: NotRequired[str]
    """Default: PGPASSWORD of the service, or the password of its own database."""


class ImportedSchemas(TypedDict):
    error: bool
    """Whether the run failed, and nothing was changed. A failed run is 200, too; a refused request is a problem document."""
    origin_ids: str
    """Every version, oldest first, by comma and space; empty on error."""


class ImportSchemaRequest(TypedDict):
    """`input_path` alone is the folder of the package. With `az_input_path`, the package is copied from there to `input_path` first."""

    input_path: str
    """Folder that holds the package; with `az_input_path`, the folder that it is copied to first."""
    az_input_path: NotRequired[str]
    """Location in cloud storage that the package is fetched from: its URL and a shared-access query."""
    metadb_host: NotRequired[str]
    """Host of the metadata database; default: the service’s own database."""
    metadb_port: NotRequired[str]
    """Port of that database; default: 5432 with `metadb_host`, otherwise the port of the service’s own database."""
    metadb_user: NotRequired[str]
    """Login at that database; default: the service’s own login."""
    metadb_db: NotRequired[str]
    """Name of that database; default: the name of the service’s own database."""
    metadb_password: NotRequired[str]
    """Default: PGPASSWORD of the service, or the password of its own database."""


class SchemaDetails(TypedDict):
    """A schema with the tables and columns of its logical schema."""

    id_sch: int
    """The schema."""
    id_org: int
    """The organisation that owns the schema."""
    id_parent_sch: int | None
    """The version before it; null for a first one."""
    id_lschma: int | None
    """The logical schema that the following figures describe; null if there is none yet."""
    id_job: int | None
    """The job that made it; null if a request made it."""
    name: str
    """Name of the family, which all versions share."""
    version: int
    """1 for the first of its family."""
    source_type: Literal["xsd", "xml", "xsd+xml"]
    """Made from XSDs, inferred from documents, or made from XSDs with statistics of documents."""
    root_elements: list[str]
    """The possible root elements of documents, the likeliest first."""
    target_namespace: str | None
    """Namespace of the root elements; null if they have none."""
    namespaces: dict[str, str]
    """Prefixes used in paths."""
    files: list[SchemaFile]
    """The XSDs that it was made from."""
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
    """The tables of the logical schema, parents before children."""


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
    """The table."""
    name: str
    """Its name."""
    xpath: str
    """The element whose occurrences are its rows; for a shared type, its first use."""
    parent_table: str | None
    """The parent table of its rows; null for a root, and if there are several parent tables."""
    columns: list[SchemaColumn]
    """Its columns, in their order."""


class SchemaColumn(TypedDict):
    """A column. `references`: the table that a parent key refers to; `xpath` is null for keys and positions."""

    id_col: int
    """The column."""
    name: str
    """Its name."""
    data_type: str
    """Its type, as PostgreSQL names it, without length."""
    length: int | None
    """Maximum length of a `varchar` in characters; null for other types."""
    precision: int | None
    """Total digits of a `numeric`; null for other types."""
    scale: int | None
    """Digits after the decimal point of a `numeric`; null for other types."""
    nullable: bool
    """Whether it may be NULL."""
    key: Literal["PK", "FK"] | None
    """PK: the row key; FK: the key of another row; null for all other columns."""
    references: str | None
    """The table that a parent key refers to; null for other columns."""
    xpath: str | None
    """The source path of its values; null for keys and positions."""


class CreateSchemaRequest(TypedDict):
    """Paths are those that uploads returned, or addresses such as `s3://BUCKET/PREFIX/` and `https://HOST/set.xsd`, read with `credential` or a source of the operator; at least one of `xsd` and `xml`. With `id_parent_sch` it becomes the next version of that schema."""

    name: str
    """Name of the schema family."""
    xsd: NotRequired[list[str]]
    """Uploaded XSDs, or archives of them."""
    xml: NotRequired[list[str]]
    """Uploaded documents. Without XSDs the schema is inferred from them; with XSDs they only give statistics."""
    credential: NotRequired[str]
    """Name of the credential, or of the operator’s source, used to read addresses."""
    root: NotRequired[str]
    """The element that documents start with, as `{namespace}name` or `name`; if absent, any global element."""
    map_level: NotRequired[int]
    """How far single children fold into their parents (1 and 3) and types are shared between tables (2 and 3); default 3."""
    name_max_len: NotRequired[int]
    """Longest name of a table or column, in bytes."""
    default_varchar_len: NotRequired[int]
    """Maximum length: text without a length of its own becomes `varchar` of this length."""
    id_parent_sch: NotRequired[int]
    """The schema that this is the next version of."""


class XMLSchema(TypedDict):
    """An origin (source schema) with the selected logical schema, or the one that the last load used."""

    id_sch: int
    """The schema."""
    id_org: int
    """The organisation that owns the schema."""
    id_parent_sch: int | None
    """The version before it; null for a first one."""
    id_lschma: int | None
    """The logical schema that the following figures describe; null if there is none yet."""
    id_job: int | None
    """The job that made it; null if a request made it."""
    name: str
    """Name of the family, which all versions share."""
    version: int
    """1 for the first of its family."""
    source_type: Literal["xsd", "xml", "xsd+xml"]
    """Made from XSDs, inferred from documents, or made from XSDs with statistics of documents."""
    root_elements: list[str]
    """The possible root elements of documents, the likeliest first."""
    target_namespace: str | None
    """Namespace of the root elements; null if they have none."""
    namespaces: dict[str, str]
    """Prefixes used in paths."""
    files: list[SchemaFile]
    """The XSDs that it was made from."""
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
    """`max_length`: how many bytes a name of the logical schema may have; `longest_name`: the longest table or column name in it, null if there is none yet."""

    id_sch: int
    """The schema."""
    name: str
    """Its name."""
    max_length: int
    """Maximum length of a name, in bytes."""
    longest_name: str | None
    """The longest name of a table or column; null if there is none yet."""

ByteArrayResource: TypeAlias = "bytes"
MetadataDocument: TypeAlias = "dict[str, Any]"

class TargetRowPage(TypedDict):
    """A page of the rows of a table."""

    columns: list[RowColumn]
    """The columns, in the order of the values of each row."""
    content: list[RowValues]
    """What this page holds."""
    page: int
    """Number of this page, from 0."""
    size: int
    """Requested page size."""
    total_elements: int
    """Total number of items."""
    total_pages: int
    """Number of pages; 0 if there are no items."""


class RowColumn(TypedDict):
    """A column of rows."""

    name: str
    """Name of the column. Columns of a statement may share one."""
    type: str
    """Name of its type in the database of the target; ANY if SQLite knows none."""

RowValues: TypeAlias = "list[Any]"

class TargetQueryResult(TypedDict):
    """The rows of a statement."""

    columns: list[RowColumn]
    """The columns, in the order of the values of each row."""
    rows: list[RowValues]
    """The first rows."""
    truncated: bool
    """Whether there are more rows."""


class TargetQuery(TypedDict):
    """A statement that reads a target."""

    target: str
    """As `-o` names it, or as `parm_path_output` of a job does."""
    sql: str
    """One SELECT in the SQL of the target."""


class ActivateMappingResponse(TypedDict):
    id_sch: int
    """The schema."""
    changed: int
    """Lines whose state changed."""
    active_count: int
    """Lines of the map that are on afterwards."""
    inactive_count: int
    """Lines of the map that are off afterwards."""


class ActivateMappingRequest(TypedDict):
    """Lines of the shown map to switch on: at least one of `ids` and `xpaths` must have items. An element includes everything below it."""

    id_sch: int
    """The schema."""
    ids: NotRequired[list[int]]
    """Lines of the map by `id_map`."""
    xpaths: NotRequired[list[str]]
    """Paths of lines of the map, written as in the map."""


class DeactivateMappingResponse(TypedDict):
    id_sch: int
    """The schema."""
    changed: int
    """Lines whose state changed."""
    active_count: int
    """Lines of the map that are on afterwards."""
    inactive_count: int
    """Lines of the map that are off afterwards."""


class DeactivateMappingRequest(TypedDict):
    """Lines of the shown map to switch off: at least one of `ids` and `xpaths` must have items. An element includes everything below it."""

    id_sch: int
    """The schema."""
    ids: NotRequired[list[int]]
    """Lines of the map by `id_map`."""
    xpaths: NotRequired[list[str]]
    """Paths of lines of the map, written as in the map."""


class Mapping(TypedDict):
    """One line of the source-to-target map. `xpath` is null for row keys, parent keys and positions."""

    id_map: int
    """The line; 0 if documents used a place that a map of more than 40,000 lines leaves out."""
    id_sch: int
    """The schema."""
    id_lschma: int
    """The logical schema."""
    xpath: str | None
    """The element or attribute; null for row keys, parent keys and positions."""
    node_type: Literal["element", "attribute", "text", "mixed", "any"] | None
    """The kind of node at the path; null for keys, positions and columns that describe an element."""
    source_type: str
    """Type of the source: a built-in type of XML Schema, or the name of a declared one. For a column that describes an element: `role`, `element name`, `xsi:type` or `xsi:nil`."""
    min_occurs: int
    """Minimum number of occurrences in its parent."""
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
    """Whether the column may be NULL."""
    key: Literal["PK", "FK"] | None
    """PK: row key. FK: key of another row."""
    active: bool
    """false: switched off, so that no column is loaded for it."""
    documentation: str | None
    """Its documentation in the XSD."""


class StatsMapping(TypedDict):
    """Statistics of the documents for one line of the map. Occurrences are per parent; lengths are characters; a path that no document had has zeros and the type `none`. For recursive elements, the figures cover all depths."""

    id_map: int
    """The line of the map; 0 as in `Mapping`."""
    xpath: str
    """Path of the line."""
    table_name: str
    """Name of the table."""
    column_name: str | None
    """Name of the column; null for the line of a table."""
    documents: int
    """Documents that had it."""
    occurrences: int
    """Total number of occurrences."""
    min_occurs: int
    """Fewest occurrences in one parent element."""
    max_occurs: int
    """Most occurrences in one parent element."""
    min_length: int
    """Characters of the shortest value; 0 for an empty one."""
    max_length: int
    """Characters of the longest value."""
    inferred_type: str
    """The narrowest type that holds all values, as PostgreSQL names it; `none` if there was no value."""
    min_value: str | None
    """The least value, compared by its type; null if there was none."""
    max_value: str | None
    """The greatest value, compared by its type; null if there was none."""
    distinct_estimate: int
    """Estimated number of distinct values, accurate to a few per cent."""


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
    """The schema."""
    svg: str
    """The drawing, as text."""


class Diagram(TypedDict):
    """Tables and their positions in pixels, including `_documents` (whose `id_tab` is null); the relations from each foreign key to the key it refers to. `svg`: the drawing that was saved, if any."""

    id_sch: int
    """The schema."""
    id_lschma: int
    """The logical schema: one drawing of the tables of the schema."""
    width: float
    """Width of the diagram, in pixels."""
    height: float
    """Height of the diagram, in pixels."""
    tables: list[DiagramTable]
    """The tables and their positions."""
    relations: list[DiagramRelation]
    """Foreign keys, each with the key that it refers to."""
    svg: str | None
    """The saved drawing; null if there is none."""


class DiagramTable(TypedDict):
    """A table and its position, in pixels."""

    id_tab: int | None
    """The table; null for `_documents`."""
    name: str
    """Its name."""
    x: float
    """Left edge, in pixels."""
    y: float
    """Upper edge, in pixels."""
    width: float
    """In pixels."""
    height: float
    """In pixels."""
    columns: list[DiagramColumn]
    """Its columns, in their order."""


class DiagramColumn(TypedDict):
    name: str
    """Name of the column."""
    data_type: str
    """Its type, as PostgreSQL names it."""
    key: Literal["PK", "FK"] | None
    """PK: the row key; FK: the key of another row; null for all other columns."""


class DiagramRelation(TypedDict):
    """A foreign key and the key it refers to. `cardinality` counts the rows of `to_table` and `from_table`."""

    from_table: str
    """The table that has the foreign key."""
    from_columns: list[str]
    """The columns of the foreign key."""
    to_table: str
    """The table that it refers to."""
    to_columns: list[str]
    """The columns of the key that it refers to."""
    cardinality: Literal["1:1", "1:n", "0..1:n"]
    """Number of rows of `to_table`, and of rows of `from_table` for each of them."""


class CILJobsDto(TypedDict):
    content: list[CILJob]
    """What this page holds."""
    page: int
    """Number of this page, from 0."""
    size: int
    """Requested page size."""
    total_elements: int
    """Total number of items."""
    total_pages: int
    """Number of pages; 0 if there are no items."""


class CILJob(TypedDict):
    """One run of a feed. `pid` is the number of its job."""

    cfxml: str
    """The feed: name of the schema family whose conversions these are."""
    pid: int
    """The run: number of its job."""
    status: JobStatus
    job_type: Literal["Schema", "Parse", "Write", "Unload", "Export", "Import"]
    """What the job did."""
    start_date: int | None
    """When it began, epoch milliseconds; null before."""
    end_date: int | None
    """When it ended, epoch milliseconds; null before."""
    documents: int
    """Documents that were loaded."""
    rows: int
    """Rows that were loaded, of all tables."""
    rejected: int
    """Number of rejected documents."""
    unmapped: int
    """Values and subtrees that had no place in the map."""


class CILMapping(TypedDict):
    """A table that a feed loads. `rows`: rows that completed runs loaded into it, less rows overwritten or unloaded since."""

    cfxml: str
    """The feed: name of the schema family whose conversions these are."""
    mapping: str
    """Name of the mapping, which is the name of its table."""
    group: str
    """Group of the mapping: its feed."""
    source_xpath: str
    """The element whose occurrences are the rows."""
    target_table: str
    """Name of the table."""
    column_count: int
    """Columns of the table, keys among them."""
    rows: int
    """Rows that completed runs loaded into it, less rows overwritten or unloaded since."""


class CILSequence(TypedDict):
    """The sequence of a row key. `last_value`: the highest number assigned in the target that the feed loaded last; if the service cannot read that target, the number of rows that completed runs loaded."""

    cfxml: str
    """The feed: name of the schema family whose conversions these are."""
    sequence: str
    """Name of the sequence."""
    target_table: str
    """The table whose row keys it numbers."""
    target_column: str
    """The row key."""
    load_order: int
    """Place of the table in the order of loading, from 1; parents come before children."""
    last_value: int
    """The highest assigned number; if it is unknown, the number of loaded rows."""
    increment: int
    """Increment of the sequence."""


class UpdateKeysRequest(TypedDict):
    """Columns to add to the natural key of their table (`NK`) or to remove from it (null)."""

    cfxml: str
    """The feed: name of the schema family whose conversions these are."""
    keys: list[CILKeyUpdate]
    """The columns, all or none of which are changed."""


class CILKeyUpdate(TypedDict):
    """`key_type` NK adds the column to the natural key of its table, null removes it."""

    table_name: str
    """Name of the table."""
    column_name: str
    """Name of the column."""
    key_type: Literal["NK"] | None
    """`NK` adds the column to the natural key of its table, null removes it."""
    position: NotRequired[int]
    """Position of the column in the key, from 1; default: after the existing columns."""

CILMappingGroups: TypeAlias = "dict[str, int]"

class CILJobDetailsDto(TypedDict):
    """A run with its rows per table, the content that had no place in the map, the content of inactive mappings, and the rejected documents (`code` is the reason, such as `unknown_root`)."""

    cfxml: str
    """The feed: name of the schema family whose conversions these are."""
    pid: int
    """The run: number of its job."""
    status: JobStatus
    job_type: Literal["Schema", "Parse", "Write", "Unload", "Export", "Import"]
    """What the job did."""
    start_date: int | None
    """When it began, epoch milliseconds; null before."""
    end_date: int | None
    """When it ended, epoch milliseconds; null before."""
    documents: int
    """Documents that were loaded."""
    rows: int
    """Rows that were loaded, of all tables."""
    rejected: int
    """Number of rejected documents."""
    unmapped: int
    """Values and subtrees that had no place in the map."""
    tables: list[CILTableRows]
    """Rows of each table."""
    unmapped_xpaths: list[CILUnmappedXpath]
    """Paths that had no place in the map, the most frequent first."""
    ignored: int
    """Values that were left out because their mappings are inactive."""
    rejects: list[CILReject]
    """The rejected documents."""
    broken_keys: list[CILBrokenKey]
    """Natural keys that the target does not have because values violated them."""
    versions: list[CILVersion]
    """The versions of the schema family, the oldest first."""


class CILTableRows(TypedDict):
    table_name: str
    """Name of the table."""
    rows: int
    """Rows of the table."""


class CILUnmappedXpath(TypedDict):
    """A path that had no place in the map, and its number of occurrences."""

    xpath: str
    """Path of an element or attribute."""
    count: int
    """Number of occurrences."""


class CILReject(TypedDict):
    """A rejected document; `code` is the reason, such as `unknown_root`."""

    document: str | None
    """Name of the document; null if the fault was found before a document began."""
    line: int | None
    """Line of the fault, from 1; null if it has none."""
    column: int | None
    """Column of the fault, from 1; null if it has none."""
    code: str | None
    """Stable code of the reason, such as `unknown_root`; null if it has no code."""
    message: str
    """Why, in words."""


class CILBrokenKey(TypedDict):
    """A natural key that the target does not have because values of the run violated it."""

    table_name: str
    """Name of the table."""
    columns: list[str]
    """The columns of the natural key."""


class CILVersion(TypedDict):
    """A version of the schema family."""

    id_sch: int
    """The schema."""
    version: int
    """1 for the first of the family."""


class KeysResponse(TypedDict):
    content: list[CILKey]
    """What this page holds."""
    page: int
    """Number of this page, from 0."""
    size: int
    """Requested page size."""
    total_elements: int
    """Total number of items."""
    total_pages: int
    """Number of pages; 0 if there are no items."""


class CILKey(TypedDict):
    """PK row keys, FK parent keys, NK natural keys."""

    id_col: int
    """The column."""
    cfxml: str
    """The feed: name of the schema family whose conversions these are."""
    table_name: str
    """Name of the table."""
    column_name: str
    """Name of the column."""
    key_type: Literal["PK", "FK", "NK"]
    """PK: a row key, FK: the key of another row, NK: part of a natural key."""
    references: str | None
    """The table that an FK refers to; null for other columns."""
    position: int
    """Position of the column in the key, from 1."""


class CILLineage(TypedDict):
    """The source of the values of a column. Keys and positions have no source."""

    cfxml: str
    """The feed: name of the schema family whose conversions these are."""
    mapping: str
    """Name of the mapping, which is the name of its table."""
    source_xpath: str | None
    """The source path of the values; null if the loader generates them."""
    source_type: str | None
    """Their type in the schema, such as `xs:date`; null if there is none."""
    target_table: str
    """Name of the table."""
    target_column: str
    """Name of the column."""
    target_type: str
    """Type of the column, as PostgreSQL names it."""
    transformation: str
    """How a value is converted."""
    pid: int | None
    """The latest completed run that loaded the table with this map; null if there is none."""


class IssuedApiKey(TypedDict):
    """A new key. No other operation returns its text."""

    id_key: str
    """The key."""
    id_org: int
    """The organisation that it belongs to."""
    key: str
    """The key itself, `svk_ID_SECRET`. It is shown only once."""


class NewApiKey(TypedDict):
    """Without `id_org`, the key is for the organisation of the caller. `expires_at` is in epoch milliseconds."""

    name: str
    """Its purpose."""
    scopes: list[Literal["jobs:read", "jobs:run", "schemas:read", "schemas:write", "files:upload", "rows:read", "migrate", "metrics:read", "admin"]]
    """Its scopes."""
    id_org: NotRequired[int]
    """The organisation of the new key; default: the organisation of the requesting key."""
    expires_at: NotRequired[int | None]
    """When it expires, epoch milliseconds; null or absent: never."""


class ApiKey(TypedDict):
    """A key without its secret, which is not stored."""

    id_key: str
    """The key."""
    id_org: int
    """The organisation that it belongs to."""
    name: str
    """Its purpose."""
    scopes: list[Literal["jobs:read", "jobs:run", "schemas:read", "schemas:write", "files:upload", "rows:read", "migrate", "metrics:read", "admin"]]
    """Its scopes."""
    created: int
    """When it was issued, epoch milliseconds."""
    expires_at: int | None
    """When it expires, epoch milliseconds; null: never."""
    revoked_at: int | None
    """When it was revoked, epoch milliseconds; null: it was not."""


class Org(TypedDict):
    id_org: int
    """The organisation."""
    name: str
    """Its name."""
    description: str | None
    """Its description; null if it has none."""
    created: int
    """When it was made, epoch milliseconds."""
    schema_count: int
    """Number of its schemas."""
    job_count: int
    """Number of its jobs."""


class NewOrg(TypedDict):
    name: str
    """Its name."""
    description: NotRequired[str | None]
    """Its description."""


class AuditPage(TypedDict):
    """A page of the audit log."""

    content: list[AuditLine]
    """What this page holds."""
    page: int
    """Number of this page, from 0."""
    size: int
    """Requested page size."""
    total_elements: int
    """Total number of items."""
    total_pages: int
    """Number of pages; 0 if there are no items."""


class AuditLine(TypedDict):
    """Who did what: `actor` is a key, a subject of the identity provider, or the command line; `status` is null for a command."""

    id_audit: int
    """The line."""
    time: int
    """When, epoch milliseconds."""
    id_org: int
    """The organisation of the actor."""
    actor: str
    """The actor: a key, a subject of the identity provider, or the command line."""
    action: str
    """The operation or command."""
    subject: str | None
    """Id of the changed object; null if it has no id."""
    status: int | None
    """Status of the answer; null for a command."""
    request_id: str | None
    """Names the request in the log of the service; null for a command."""


class CredentialInfo(TypedDict):
    """A credential without its secrets, which are stored encrypted."""

    name: str
    """Its name, for `--credential`."""
    kind: str
    """The scheme of the addresses that it is for."""
    created: int
    """When it was made, epoch milliseconds."""


class NewCredential(TypedDict):
    """Of `s3`: `access_key` and `secret_key`, with `endpoint`, `region` and `session_token`; of `az`: `access_key`, the name of the account, and `secret_key`, its key, or `token`, a shared access signature, with `endpoint`; of `https`: `host`, and `token` or `user` and `password`; of `sftp`: `host`, `user`, and `password` or `secret_key`, a private key, with `host_key`, the public key of the server. Members of other kinds are refused."""

    name: str
    """Its name, which jobs refer to."""
    kind: Literal["s3", "az", "https", "sftp"]
    """The scheme of the addresses that it is for."""
    endpoint: NotRequired[str]
    """Address of an S3-compatible store, or of a storage account; default: Amazon or Azure."""
    region: NotRequired[str]
    """Region of the buckets; default `us-east-1`."""
    access_key: NotRequired[str]
    """Access key of the store; of `az`, the name of the account."""
    secret_key: NotRequired[str]
    """Secret key of the store; of `az`, the key of the account, base64."""
    session_token: NotRequired[str]
    """Of temporary keys."""
    host: NotRequired[str]
    """HOST or HOST:PORT: secrets are sent only to this host."""
    token: NotRequired[str]
    """Sent as `Authorization: Bearer`; of `az`, a shared access signature."""
    user: NotRequired[str]
    """Sent with the password as `Authorization: Basic`."""
    password: NotRequired[str]
    """The password."""
    host_key: NotRequired[str]
    """Of `sftp`: the public key of the server, `ssh-ed25519 AAAA…`; default: the key in `known_hosts` of the service."""


class Extensions(TypedDict):
    extensions: list[Extension]
    """Groups of endpoints."""
    action_params: ActionParams


class Extension(TypedDict):
    """A group of endpoints beside the others, below `path`."""

    name: str
    """Its name."""
    title: str
    """Its display name."""
    path: str
    """Path of its endpoints."""
    enabled: bool
    """Whether it answers."""


class ActionParams(TypedDict):
    """`commands`: whether commands can be run; `levels`: the default map level; `levels_type`: 0 levels by table, 1 by type; `loadConfig`: the loader's settings."""

    commands: bool
    """Whether commands can be run."""
    levels: int
    """The default map level."""
    levels_type: int
    """0: levels by table, 1: by type."""
    loadConfig: dict[str, str | int | bool]
    """Default behaviour of a load."""


class ActuatorLinks(TypedDict):
    _links: dict[str, ActuatorLink]
    """Endpoints by their name."""


class ActuatorLink(TypedDict):
    """`templated`: the address has a part in braces to fill in."""

    href: str
    """Address."""
    templated: bool
    """Whether the address has a part in braces to fill in."""

Info: TypeAlias = "dict[str, Any]"

class Health(TypedDict):
    """With a key of organisation 1 with the scope `metrics:read` or `admin`, the answer also has `components` (`details` in version 2) and the groups."""

    status: Literal["UP", "DOWN", "OUT_OF_SERVICE", "UNKNOWN"]
    """DOWN if a component that jobs need does not work."""


class MetricNames(TypedDict):
    names: list[str]
    """Names that `/actuator/metrics/{name}` accepts."""


class EnvironmentSources(TypedDict):
    """Settings by source: the environment, `backend.properties`, or the defaults."""

    activeProfiles: list[str]
    """Always empty: there are no profiles."""
    propertySources: list[PropertySource]
    """Sources of settings, in order of precedence."""


class PropertySource(TypedDict):
    name: str
    """The source of the settings."""
    properties: dict[str, SettingValue]
    """The settings by their name."""


class SettingValue(TypedDict):
    """The value of a setting that is not a default is masked."""

    value: str
    """The value; masked if it is not a default."""
    origin: NotRequired[str]
    """Its state."""


class Loggers(TypedDict):
    """There is one logger, ROOT."""

    levels: list[Literal["OFF", "ERROR", "WARN", "INFO"]]
    """The available levels, the quietest first."""
    loggers: dict[str, LoggerLevel]
    """The loggers by name; the only one is ROOT."""
    groups: dict[str, Any]
    """Always empty: there are no groups."""


class LoggerLevel(TypedDict):
    """`configuredLevel`: the level set since the start, or null."""

    configuredLevel: NotRequired[Literal["OFF", "ERROR", "WARN", "INFO"]]
    """The level set since the start."""
    effectiveLevel: Literal["OFF", "ERROR", "WARN", "INFO"]
    """The effective level: entries of this level and of higher levels are logged."""


class Metric(TypedDict):
    name: str
    """Its name."""
    description: str
    """The meaning of the metric."""
    baseUnit: NotRequired[str]
    """Its unit."""
    measurements: list[Measurement]
    """Its values, over all selected samples."""
    availableTags: list[AvailableTag]
    """The tags of its samples."""


class Measurement(TypedDict):
    statistic: str
    """The kind of value, such as COUNT or VALUE."""
    value: float
    """The figure."""


class AvailableTag(TypedDict):
    """A tag of the samples of a metric, for `?tag=TAG:VALUE`."""

    tag: str
    """Its name."""
    values: list[str]
    """Its values."""


class EnvironmentSetting(TypedDict):
    property: UsedSetting
    activeProfiles: list[str]
    """Always empty: there are no profiles."""
    propertySources: list[SourceOfSetting]
    """All possible sources, each with its value."""


class UsedSetting(TypedDict):
    source: str
    """The source of the setting."""
    value: str
    """The value; masked if it is not a default."""


class SourceOfSetting(TypedDict):
    name: str
    """Who."""
    property: NotRequired[SettingValue]

ModelAndView: TypeAlias = "str"

class ErrorAttributes(TypedDict):
    timestamp: str
    """When it was answered, ISO 8601."""
    status: int
    """The HTTP status."""
    error: str
    """Its reason phrase."""
    path: str
    """The requested path."""


class ServiceIndex(TypedDict):
    """The program, and paths of further operations."""

    name: str
    """Name of the service."""
    version: str
    """Version of the program."""
    links: ServiceLinks


class ServiceLinks(TypedDict):
    doc: str
    """The interface, for people."""
    health: str
    """Whether the service is well."""
    openapi: str
    """The interface, for programs."""


class ProblemKind(TypedDict):
    """The meaning of an error code. Texts are Markdown of one paragraph."""

    code: str
    """The stable name of the fault, for programs."""
    type: str
    """`type` of its problem documents."""
    status: int
    """The status of the answer."""
    title: str
    """The code in words."""
    retryable: bool
    """Whether the same request may succeed later."""
    cause: str
    """What happened."""
    remedy: str
    """What to do."""

OpenApiDocument: TypeAlias = "dict[str, Any]"
