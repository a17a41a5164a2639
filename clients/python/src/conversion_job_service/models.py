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
    """The level to log at; null: that of the start."""


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
    """The code in words."""
    status: int
    """The status of the answer."""
    detail: str
    """What is wrong with this request, and what to do."""
    instance: str
    """The path that was asked for."""
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
    """The path that was asked for."""
    request_id: str
    """Names the request in the log of the service; also in the header X-Request-ID."""


class ProblemPlace(TypedDict):
    """One wrong place: a JSON pointer into the body, or `/path/…`, `/query/…`, `/header/…`, and what is wrong there."""

    pointer: str
    """JSON pointer into the body, or `/path/…`, `/query/…`, `/header/…`."""
    detail: str
    """What is wrong there."""


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
    """Options of how tables are drawn, such as `-g`."""
    path: NotRequired[CommandItem]
    format: NotRequired[list[CommandItem]]
    """Options of the format, such as `-f`."""
    writing_mode: NotRequired[list[CommandItem]]
    """Options of how rows are written, such as `-S`."""


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
    """Most items of a page, as asked for."""
    total_elements: int
    """Items of all pages."""
    total_pages: int
    """Pages there are; 0 where there is nothing."""


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
    id_watch: NotRequired[int]
    """The watch that found its files; absent in a job that a request asked for."""
    trace_id: NotRequired[str]
    """The trace that the job belongs to (W3C Trace Context): that of the `traceparent` of the request that made it, or one of its own."""


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
    """What this page holds."""
    page: int
    """Number of this page, from 0."""
    size: int
    """Most items of a page, as asked for."""
    total_elements: int
    """Items of all pages."""
    total_pages: int
    """Pages there are; 0 where there is nothing."""


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
    """The records of its jobs, in the order that they run in."""


class Watch(TypedDict):
    """A location that is looked at for new documents; times are epoch milliseconds, secrets are masked."""

    id_watch: int
    """The watch."""
    id_org: int
    """The organisation that it belongs to."""
    name: str
    """Its name, which no other watch of the organisation has."""
    location: str
    """Where new documents come: a folder, `s3://BUCKET/PREFIX/`, or the address of one file."""
    pattern: str | None
    """What names below the location look like, as patterns of inputs; null: documents (`*.xml`) and archives."""
    id_sch: int | None
    """The schema that documents are read by; null: the first of them make it, or `options` names an XSD set."""
    target: str
    """Where rows go, as for `-o`."""
    options: dict[str, Any]
    """Further flags of `xml2er` with their values: text, number, `true` for a flag without one, or a list."""
    every: str
    """How often it looks: a duration, or five fields of cron in UTC."""
    order: Literal["name", "modified"]
    """Which files are loaded first."""
    settle: str
    """How long a file must not have changed before it is loaded, as a duration."""
    on_error: Literal["fail", "skip"]
    """fail: a bad document keeps its file out; skip: the other documents of the file are loaded."""
    on_drift: Literal["keep", "evolve", "fail"]
    """What documents do that hold content unknown to the schema: evolve makes its next version, and the target gets it; keep leaves it in `_unmapped`; fail loads nothing and pauses the watch. Schemas of XSDs do not evolve: what they do not know is kept in `_unmapped`."""
    max_files: int
    """Files that one job loads at most."""
    max_bytes: int
    """Bytes of them; a larger file is a job by itself."""
    credential: str | None
    """Name of the credential that the location is read with; null: that of the operator’s source."""
    paused: bool
    """It does nothing until it is resumed."""
    created: int
    """When it was made, epoch milliseconds."""
    next_run: int | None
    """When it looks next, epoch milliseconds; null while it is paused."""
    last_run: int | None
    """When it looked last by its schedule, epoch milliseconds; null: it has not."""
    id_job: int | None
    """The job that loads files of it now; null: none does."""
    stalled: str | None
    """Why nothing is loaded, in a sentence; null: all is well."""
    stalled_at: int | None
    """Since when, epoch milliseconds."""
    files: WatchFileCounts
    waiting_bytes: int
    """Size of the files that wait."""
    waiting_since: int | None
    """When the oldest of them was met, epoch milliseconds; null: none waits."""


class WatchFileCounts(TypedDict):
    """Files of a watch, by state."""

    waiting: int
    """Met, and not loaded yet."""
    loading: int
    """In a job that has not ended."""
    loaded: int
    """Their rows are in the target."""
    rejected: int
    """Kept aside, with a reason."""
    ignored: int
    """Gone or changed before they were loaded, or met again with the same content."""
    replaced: int
    """Their documents are not in the target, as those of later files took their place."""


class NewWatch(TypedDict):
    """`location`: a folder of the organisation or below a root, `s3://BUCKET/PREFIX/`, the `https://` address of one file, or a server of databases (`postgresql://HOST/DATABASE`, `mysql://…`, with user and password) whose rows `--query` and `--after` in `options` name. `target` is written as for `-o`, `options` has further flags of `xml2er`: `{"-f": "parquet", "--views": true}`."""

    name: str
    """Its name, which no other watch of the organisation has."""
    location: str
    """Where new documents come: a folder, `s3://BUCKET/PREFIX/`, or the address of one file."""
    target: str
    """Where rows go, as for `-o`."""
    every: str
    """How often it looks: a duration, or five fields of cron in UTC."""
    pattern: NotRequired[str | None]
    """What names below the location look like, as patterns of inputs; null: documents (`*.xml`) and archives."""
    id_sch: NotRequired[int]
    """The schema that documents are read by; null: the first of them make it, or `options` names an XSD set."""
    options: NotRequired[dict[str, Any]]
    """Further flags of `xml2er` with their values: text, number, `true` for a flag without one, or a list."""
    order: NotRequired[Literal["name", "modified"]]
    """Which files are loaded first."""
    settle: NotRequired[str]
    """How long a file must not have changed before it is loaded, as a duration."""
    on_error: NotRequired[Literal["fail", "skip"]]
    """fail: a bad document keeps its file out; skip: the other documents of the file are loaded."""
    on_drift: NotRequired[Literal["keep", "evolve", "fail"]]
    """What documents do that hold content unknown to the schema: evolve makes its next version, and the target gets it; keep leaves it in `_unmapped`; fail loads nothing and pauses the watch. Schemas of XSDs do not evolve: what they do not know is kept in `_unmapped`."""
    max_files: NotRequired[int]
    """Files that one job loads at most."""
    max_bytes: NotRequired[int]
    """Bytes of them; a larger file is a job by itself."""
    credential: NotRequired[str | None]
    """Name of the credential that the location is read with; null: that of the operator’s source."""
    paused: NotRequired[bool]
    """It does nothing until it is resumed."""


class WatchPage(TypedDict):
    """A page of watches."""

    content: list[Watch]
    """What this page holds."""
    page: int
    """Number of this page, from 0."""
    size: int
    """Most items of a page, as asked for."""
    total_elements: int
    """Items of all pages."""
    total_pages: int
    """Pages there are; 0 where there is nothing."""


class WatchChange(TypedDict):
    """Members that are not given stay as they are."""

    name: NotRequired[str]
    """Its name, which no other watch of the organisation has."""
    location: NotRequired[str]
    """Where new documents come: a folder, `s3://BUCKET/PREFIX/`, or the address of one file."""
    target: NotRequired[str]
    """Where rows go, as for `-o`."""
    every: NotRequired[str]
    """How often it looks: a duration, or five fields of cron in UTC."""
    pattern: NotRequired[str | None]
    """What names below the location look like, as patterns of inputs; null: documents (`*.xml`) and archives."""
    id_sch: NotRequired[int]
    """The schema that documents are read by; null: the first of them make it, or `options` names an XSD set."""
    options: NotRequired[dict[str, Any]]
    """Further flags of `xml2er` with their values: text, number, `true` for a flag without one, or a list."""
    order: NotRequired[Literal["name", "modified"]]
    """Which files are loaded first."""
    settle: NotRequired[str]
    """How long a file must not have changed before it is loaded, as a duration."""
    on_error: NotRequired[Literal["fail", "skip"]]
    """fail: a bad document keeps its file out; skip: the other documents of the file are loaded."""
    on_drift: NotRequired[Literal["keep", "evolve", "fail"]]
    """What documents do that hold content unknown to the schema: evolve makes its next version, and the target gets it; keep leaves it in `_unmapped`; fail loads nothing and pauses the watch. Schemas of XSDs do not evolve: what they do not know is kept in `_unmapped`."""
    max_files: NotRequired[int]
    """Files that one job loads at most."""
    max_bytes: NotRequired[int]
    """Bytes of them; a larger file is a job by itself."""
    credential: NotRequired[str | None]
    """Name of the credential that the location is read with; null: that of the operator’s source."""
    paused: NotRequired[bool]
    """It does nothing until it is resumed."""


class WatchRun(TypedDict):
    """With `retry` rejected files are tried again: all of them, or those in `names`."""

    retry: NotRequired[bool]
    """Rejected files wait again."""
    names: NotRequired[list[str]]
    """Those of these names alone."""


class WatchFilePage(TypedDict):
    """A page of files."""

    content: list[WatchFile]
    """What this page holds."""
    page: int
    """Number of this page, from 0."""
    size: int
    """Most items of a page, as asked for."""
    total_elements: int
    """Items of all pages."""
    total_pages: int
    """Pages there are; 0 where there is nothing."""


class WatchFile(TypedDict):
    """One version of one object. A changed file of the same name is another version."""

    name: str
    """Its name below the location."""
    version: str
    """Its ETag; of a file of a disk, when it was changed and its size."""
    bytes: int
    """Its size."""
    modified: int | None
    """When it was changed, epoch milliseconds; null where that is not told."""
    sha256: str | None
    """Of its content, once it has been read."""
    status: Literal["waiting", "loading", "loaded", "rejected", "ignored", "replaced"]
    """Where it stands."""
    id_job: int | None
    """The job that loads, has loaded or has rejected it."""
    reason: str | None
    """Why it was rejected or ignored; of a loaded file, what of it was not loaded."""
    replaced_by: str | None
    """The file whose documents took the place of its own; null: it is not replaced."""
    seen_at: int
    """When this version was first met, or was last tried again, epoch milliseconds."""


class UploadToken(TypedDict):
    """Good for one upload of its kind, for five minutes."""

    token: str
    """To be given as `token` with the upload."""
    expires_at: int
    """When it ends, epoch milliseconds."""
    max_bytes: int
    """Most bytes that the upload may have."""


class UploadTokenRequest(TypedDict):
    kind: Literal["xml", "xsd"]
    """What is uploaded: documents, or an XSD set."""
    max_bytes: NotRequired[int]
    """Most bytes that the upload may have, where that is to be less than the limit of the service."""

StoredPath: TypeAlias = "str"

class ExportedSchema(TypedDict):
    error: bool
    """Whether the run failed. A failed run is 200, too; a refused request is a problem document."""
    az_output_path: str
    """The location without its query; empty for a folder."""


class ExportSchemaRequest(TypedDict):
    """Exactly one of `output_path` and `az_output_path` is given."""

    origin_id: str
    """The schema; all its versions go along."""
    output_path: NotRequired[str]
    """Folder to write to."""
    az_output_path: NotRequired[str]
    """Location in cloud storage instead of a folder: its URL, ending in a slash, and a shared-access query."""
    metadb_host: NotRequired[str]
    """Host of the metadata database; without it, the service’s own."""
    metadb_port: NotRequired[str]
    """Port of that database; without it 5432 where `metadb_host` is given, else the service’s own."""
    metadb_user: NotRequired[str]
    """Login at that database; without it, the service’s own."""
    metadb_db: NotRequired[str]
    """Name of that database; without it, the service’s own."""
    metadb_password: NotRequired[str]
    """Without it, PGPASSWORD of the service, or its own."""


class ImportedSchemas(TypedDict):
    error: bool
    """Whether the run failed, and nothing was changed. A failed run is 200, too; a refused request is a problem document."""
    origin_ids: str
    """Every version, oldest first, by comma and space; empty on error."""


class ImportSchemaRequest(TypedDict):
    """`input_path` alone is the folder of the package. With `az_input_path`, the package is copied from there to `input_path` first."""

    input_path: str
    """Folder that holds the package; with `az_input_path`, the one it is copied to first."""
    az_input_path: NotRequired[str]
    """Location in cloud storage that the package is fetched from: its URL and a shared-access query."""
    metadb_host: NotRequired[str]
    """Host of the metadata database; without it, the service’s own."""
    metadb_port: NotRequired[str]
    """Port of that database; without it 5432 where `metadb_host` is given, else the service’s own."""
    metadb_user: NotRequired[str]
    """Login at that database; without it, the service’s own."""
    metadb_db: NotRequired[str]
    """Name of that database; without it, the service’s own."""
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
    """The element whose occurrences are its rows; of a shared type the first of its uses."""
    parent_table: str | None
    """The table that its rows hang below; null for a root, and where several do."""
    columns: list[SchemaColumn]
    """Its columns, in their order."""


class SchemaColumn(TypedDict):
    """A column. `references`: the table that a parent key leads to; `xpath` is null for keys and positions."""

    id_col: int
    """The column."""
    name: str
    """Its name."""
    data_type: str
    """Its type, as PostgreSQL names it, without length."""
    length: int | None
    """Longest value in characters, of a `varchar`; else null."""
    precision: int | None
    """Digits in all, of a `numeric`; else null."""
    scale: int | None
    """Digits behind the point, of a `numeric`; else null."""
    nullable: bool
    """Whether it may be NULL."""
    key: Literal["PK", "FK"] | None
    """PK: the row key; FK: the key of another row; null for all other columns."""
    references: str | None
    """The table that a parent key leads to; else null."""
    xpath: str | None
    """Where its values come from; null for keys and positions."""


class CreateSchemaRequest(TypedDict):
    """Paths are those that uploads returned, or addresses such as `s3://BUCKET/PREFIX/` and `https://HOST/set.xsd`, read with `credential` or a source of the operator; at least one of `xsd` and `xml`. With `id_parent_sch` it becomes the next version of that schema."""

    name: str
    """Name of the schema family."""
    xsd: NotRequired[list[str]]
    """Uploaded XSDs, or archives of them."""
    xml: NotRequired[list[str]]
    """Uploaded documents: alone they are what the schema is inferred from, beside XSDs what statistics are taken of."""
    credential: NotRequired[str]
    """Name of the credential, or of the operator’s source, that addresses are read with."""
    root: NotRequired[str]
    """The element that documents start with, as `{namespace}name` or `name`; without it, every global element may."""
    map_level: NotRequired[int]
    """How far single children fold into their parents (1 and 3) and types are shared between tables (2 and 3); 3 without it."""
    name_max_len: NotRequired[int]
    """Longest name of a table or column, in bytes."""
    default_varchar_len: NotRequired[int]
    """Gives text without a length of its own the type `varchar` of that length."""
    id_parent_sch: NotRequired[int]
    """The schema that this is the next version of."""


class XMLSchema(TypedDict):
    """An origin (source schema) with the selected logical schema, or the one that the last load used."""

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
    """Most items of a page, as asked for."""
    total_elements: int
    """Items of all pages."""
    total_pages: int
    """Pages there are; 0 where there is nothing."""


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
    """Which lines of the map that is shown to switch on: at least one of `ids` and `xpaths` is given. An element takes with it all that lies below it."""

    id_sch: int
    """The schema."""
    ids: NotRequired[list[int]]
    """Lines of the map by `id_map`."""
    xpaths: NotRequired[list[str]]
    """Lines of the map by their path, as the map writes it."""


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
    """Which lines of the map that is shown to switch off: at least one of `ids` and `xpaths` is given. An element takes with it all that lies below it."""

    id_sch: int
    """The schema."""
    ids: NotRequired[list[int]]
    """Lines of the map by `id_map`."""
    xpaths: NotRequired[list[str]]
    """Lines of the map by their path, as the map writes it."""


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
    """What the path leads to; null for keys, positions and columns that describe an element."""
    source_type: str
    """Type of the source: a built-in type of XML Schema, or the name of a declared one. For a column that describes an element: `role`, `element name`, `xsi:type` or `xsi:nil`."""
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
    """How often it occurred in all."""
    min_occurs: int
    """Fewest occurrences in one parent element."""
    max_occurs: int
    """Most occurrences in one parent element."""
    min_length: int
    """Characters of the shortest value; 0 for an empty one."""
    max_length: int
    """Characters of the longest value."""
    inferred_type: str
    """The narrowest type that holds all values, as PostgreSQL names it; `none` where there was no value."""
    min_value: str | None
    """The least value, by its type; null where there was none."""
    max_value: str | None
    """The greatest value, by its type; null where there was none."""
    distinct_estimate: int
    """How many different values there were, estimated within a few per cent."""


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
    """Tables and where they lie, in pixels, `_documents` among them (its `id_tab` is null); the relations from each foreign key to the key it refers to. `svg`: the drawing that was saved, if any."""

    id_sch: int
    """The schema."""
    id_lschma: int
    """The logical schema: one drawing of the tables of the schema."""
    width: float
    """Width of the whole, in pixels."""
    height: float
    """Height of the whole, in pixels."""
    tables: list[DiagramTable]
    """The tables and where they lie."""
    relations: list[DiagramRelation]
    """Foreign keys, each with the key that it refers to."""
    svg: str | None
    """The drawing that was saved; null where none was."""


class DiagramTable(TypedDict):
    """A table and where it lies, in pixels."""

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
    """Rows of `to_table`, and of `from_table` for one of them."""


class CILJobsDto(TypedDict):
    content: list[CILJob]
    """What this page holds."""
    page: int
    """Number of this page, from 0."""
    size: int
    """Most items of a page, as asked for."""
    total_elements: int
    """Items of all pages."""
    total_pages: int
    """Pages there are; 0 where there is nothing."""


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
    """Documents that were refused."""
    unmapped: int
    """Values and subtrees that had no place in the map."""


class CILMapping(TypedDict):
    """A table that a feed loads. `rows`: what completed runs loaded into it, less what was overwritten or unloaded since."""

    cfxml: str
    """The feed: name of the schema family whose conversions these are."""
    mapping: str
    """Name of the mapping: that of its table."""
    group: str
    """Group of the mapping: its feed."""
    source_xpath: str
    """The element whose occurrences are the rows."""
    target_table: str
    """Name of the table."""
    column_count: int
    """Columns of the table, keys among them."""
    rows: int
    """What completed runs loaded into it, less what was overwritten or unloaded since."""


class CILSequence(TypedDict):
    """The numbers that row keys take. `last_value`: the highest that was given out in the target that the feed was loaded into last; where the service cannot look into that, how many rows completed runs loaded."""

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
    """The highest number that was given out; where that is not known, how many rows were loaded."""
    increment: int
    """Distance of two numbers."""


class UpdateKeysRequest(TypedDict):
    """Columns that become part of the natural key of their table (`NK`), or are no part of it any more (null)."""

    cfxml: str
    """The feed: name of the schema family whose conversions these are."""
    keys: list[CILKeyUpdate]
    """The columns, all or none of which are changed."""


class CILKeyUpdate(TypedDict):
    """`key_type` NK makes the column a part of the natural key of its table, null ends that."""

    table_name: str
    """Name of the table."""
    column_name: str
    """Name of the column."""
    key_type: Literal["NK"] | None
    """`NK` makes the column a part of the natural key of its table, null ends that."""
    position: NotRequired[int]
    """Place of the column in the key, from 1; without it, behind those there are."""

CILMappingGroups: TypeAlias = "dict[str, int]"

class CILJobDetailsDto(TypedDict):
    """A run with its rows per table, what had no place in the map, what was left out because its mappings are inactive, and the documents that were refused: `code` says why, such as `unknown_root`."""

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
    """Documents that were refused."""
    unmapped: int
    """Values and subtrees that had no place in the map."""
    tables: list[CILTableRows]
    """Rows of each table."""
    unmapped_xpaths: list[CILUnmappedXpath]
    """What had no place in the map, the most frequent first."""
    ignored: int
    """Values that were left out because their mappings are inactive."""
    rejects: list[CILReject]
    """The documents that were refused."""
    broken_keys: list[CILBrokenKey]
    """Natural keys that the target does not have, as values broke them."""
    versions: list[CILVersion]
    """The versions of the schema family, the oldest first."""


class CILTableRows(TypedDict):
    table_name: str
    """Name of the table."""
    rows: int
    """Rows of the table."""


class CILUnmappedXpath(TypedDict):
    """What had no place in the map, and how often it was met."""

    xpath: str
    """Path of an element or attribute."""
    count: int
    """How often it was met."""


class CILReject(TypedDict):
    """A document that was refused; `code` says why, such as `unknown_root`."""

    document: str | None
    """Name of the document; null where the fault was found before one had begun."""
    line: int | None
    """Line of the fault, from 1; null where it has none."""
    column: int | None
    """Column of the fault, from 1; null where it has none."""
    code: str | None
    """Why, for programs, such as `unknown_root`; null where there is no name for it."""
    message: str
    """Why, in words."""


class CILBrokenKey(TypedDict):
    """A natural key that the target does not have, as values of the run broke it."""

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
    """Most items of a page, as asked for."""
    total_elements: int
    """Items of all pages."""
    total_pages: int
    """Pages there are; 0 where there is nothing."""


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
    """The table that an FK leads to; else null."""
    position: int
    """Place of the column in the key, from 1."""


class CILLineage(TypedDict):
    """Where the values of a column come from. Keys and positions have no source."""

    cfxml: str
    """The feed: name of the schema family whose conversions these are."""
    mapping: str
    """Name of the mapping: that of its table."""
    source_xpath: str | None
    """Where the values come from; null where the loader makes them."""
    source_type: str | None
    """Their type in the schema, such as `xs:date`; null where there is none."""
    target_table: str
    """Name of the table."""
    target_column: str
    """Name of the column."""
    target_type: str
    """Type of the column, as PostgreSQL names it."""
    transformation: str
    """What becomes of a value on its way."""
    pid: int | None
    """The latest completed run that loaded the table by this map; null where none did."""


class IssuedApiKey(TypedDict):
    """A new key. No other operation returns its text."""

    id_key: str
    """The key."""
    id_org: int
    """The organisation that it belongs to."""
    key: str
    """Its text, `svk_ID_SECRET`: given this once."""


class NewApiKey(TypedDict):
    """Without `id_org` a key of the organisation that asks; `expires_at` in epoch milliseconds."""

    name: str
    """What it is for."""
    scopes: list[Literal["jobs:read", "jobs:run", "schemas:read", "schemas:write", "files:upload", "rows:read", "migrate", "metrics:read", "admin"]]
    """What it may do."""
    id_org: NotRequired[int]
    """The organisation that it is for; that of the asking key without it."""
    expires_at: NotRequired[int | None]
    """When it ends, epoch milliseconds; null or absent: never."""


class ApiKey(TypedDict):
    """A key without its secret, which is stored nowhere."""

    id_key: str
    """The key."""
    id_org: int
    """The organisation that it belongs to."""
    name: str
    """What it is for."""
    scopes: list[Literal["jobs:read", "jobs:run", "schemas:read", "schemas:write", "files:upload", "rows:read", "migrate", "metrics:read", "admin"]]
    """What it may do."""
    created: int
    """When it was issued, epoch milliseconds."""
    expires_at: int | None
    """When it ends, epoch milliseconds; null: never."""
    revoked_at: int | None
    """When it was revoked, epoch milliseconds; null: it was not."""


class Org(TypedDict):
    id_org: int
    """The organisation."""
    name: str
    """Its name."""
    description: str | None
    """What it is; null where nothing was said."""
    created: int
    """When it was made, epoch milliseconds."""
    schema_count: int
    """Schemas that it has."""
    job_count: int
    """Jobs that it has."""


class NewOrg(TypedDict):
    name: str
    """Its name."""
    description: NotRequired[str | None]
    """What it is."""


class AuditPage(TypedDict):
    """A page of the audit log."""

    content: list[AuditLine]
    """What this page holds."""
    page: int
    """Number of this page, from 0."""
    size: int
    """Most items of a page, as asked for."""
    total_elements: int
    """Items of all pages."""
    total_pages: int
    """Pages there are; 0 where there is nothing."""


class AuditLine(TypedDict):
    """Who did what: `actor` is a key, a subject of the identity provider, or the command line; `status` is null for a command."""

    id_audit: int
    """The line."""
    time: int
    """When, epoch milliseconds."""
    id_org: int
    """The organisation of who did it."""
    actor: str
    """Who: a key, a subject of the identity provider, or the command line."""
    action: str
    """What was done: an operation, or a command."""
    subject: str | None
    """What it was done to; null where it was to nothing that has an id."""
    status: int | None
    """Status of the answer; null for a command."""
    request_id: str | None
    """Names the request in the log of the service; null for a command."""


class CredentialInfo(TypedDict):
    """A credential without what is secret of it, which is stored sealed."""

    name: str
    """Its name, for `--credential`."""
    kind: str
    """The scheme of the addresses that it is for."""
    created: int
    """When it was made, epoch milliseconds."""


class NewCredential(TypedDict):
    """Of `s3`: `access_key` and `secret_key`, with `endpoint`, `region` and `session_token`; of `az`: `access_key`, the name of the account, and `secret_key`, its key, or `token`, a shared access signature, with `endpoint`; of `https`: `host`, and `token` or `user` and `password`; of `sftp`: `host`, `user`, and `password` or `secret_key`, a private key, with `host_key`, the public key of the server. What a kind does not have is refused."""

    name: str
    """What jobs call it by."""
    kind: Literal["s3", "az", "https", "sftp"]
    """The scheme of the addresses that it is for."""
    endpoint: NotRequired[str]
    """Address of an S3-compatible store, or of a storage account; without it, that of Amazon or Azure."""
    region: NotRequired[str]
    """Region of the buckets; `us-east-1` without it."""
    access_key: NotRequired[str]
    """Access key of the store; of `az`, the name of the account."""
    secret_key: NotRequired[str]
    """Secret key of the store; of `az`, the key of the account, base64."""
    session_token: NotRequired[str]
    """Of temporary keys."""
    host: NotRequired[str]
    """HOST or HOST:PORT: what is secret goes there alone."""
    token: NotRequired[str]
    """Sent as `Authorization: Bearer`; of `az`, a shared access signature."""
    user: NotRequired[str]
    """Sent with the password as `Authorization: Basic`."""
    password: NotRequired[str]
    """The password."""
    host_key: NotRequired[str]
    """Of `sftp`: the public key of the server, `ssh-ed25519 AAAA…`; without it, what `known_hosts` of the service has."""


class Extensions(TypedDict):
    extensions: list[Extension]
    """Groups of endpoints."""
    action_params: ActionParams


class Extension(TypedDict):
    """A group of endpoints beside the others, below `path`."""

    name: str
    """Its name."""
    title: str
    """Its name for people."""
    path: str
    """Where its endpoints lie."""
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
    """What a load does where its options say nothing else."""


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
    """To a key of organisation 1 with the scope `metrics:read` or `admin` also `components` (`details` in version 2), and the groups."""

    status: Literal["UP", "DOWN", "OUT_OF_SERVICE", "UNKNOWN"]
    """DOWN where a part that jobs need does not work."""


class MetricNames(TypedDict):
    names: list[str]
    """Names that `/actuator/metrics/{name}` takes."""


class EnvironmentSources(TypedDict):
    """Settings by who gave them: the environment, `backend.properties`, or nobody (the default)."""

    activeProfiles: list[str]
    """Always empty: there are no profiles."""
    propertySources: list[PropertySource]
    """Who gave settings, the strongest first."""


class PropertySource(TypedDict):
    name: str
    """Who gave them."""
    properties: dict[str, SettingValue]
    """The settings by their name."""


class SettingValue(TypedDict):
    """Of a setting that was given, the value is masked."""

    value: str
    """The value; masked where it was given."""
    origin: NotRequired[str]
    """Where it stands."""


class Loggers(TypedDict):
    """There is one logger, ROOT."""

    levels: list[Literal["OFF", "ERROR", "WARN", "INFO"]]
    """Levels there are, the quietest first."""
    loggers: dict[str, LoggerLevel]
    """The loggers by their name: ROOT."""
    groups: dict[str, Any]
    """Always empty: there are no groups."""


class LoggerLevel(TypedDict):
    """`configuredLevel`: what was set since the start, if anything."""

    configuredLevel: NotRequired[Literal["OFF", "ERROR", "WARN", "INFO"]]
    """What was set since the start."""
    effectiveLevel: Literal["OFF", "ERROR", "WARN", "INFO"]
    """What is logged: this level and those above it."""


class Metric(TypedDict):
    name: str
    """Its name."""
    description: str
    """What it measures."""
    baseUnit: NotRequired[str]
    """Its unit."""
    measurements: list[Measurement]
    """Its figures, over all samples that were asked for."""
    availableTags: list[AvailableTag]
    """Tags that tell its samples apart."""


class Measurement(TypedDict):
    statistic: str
    """What the figure is, such as COUNT or VALUE."""
    value: float
    """The figure."""


class AvailableTag(TypedDict):
    """A tag that tells the samples of a metric apart, for `?tag=TAG:VALUE`."""

    tag: str
    """Its name."""
    values: list[str]
    """Its values."""


class EnvironmentSetting(TypedDict):
    property: UsedSetting
    activeProfiles: list[str]
    """Always empty: there are no profiles."""
    propertySources: list[SourceOfSetting]
    """Everybody who could have given it, and what they gave."""


class UsedSetting(TypedDict):
    source: str
    """Who gave it."""
    value: str
    """The value; masked where it was given."""


class SourceOfSetting(TypedDict):
    name: str
    """Who."""
    property: NotRequired[SettingValue]

ModelAndView: TypeAlias = "str"

class ErrorAttributes(TypedDict):
    timestamp: str
    """When it was answered, ISO 8601."""
    status: int
    """The status that is told of."""
    error: str
    """Its reason phrase."""
    path: str
    """The path that was asked for."""


class ServiceIndex(TypedDict):
    """What answers here, and paths to go on with."""

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
