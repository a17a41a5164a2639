/** The descriptions of the members of requests and responses in the OpenAPI document. */

// Descriptions of members: by structure, then by member.

type MemberTexts = Readonly<Record<string, Readonly<Record<string, string>>>>;

// Texts for the members of schemas, maps, statistics and diagrams.

const changedLines = { changed: 'Lines whose state changed.' };
const chosenLines = {
  ids: 'Lines of the map by `id_map`.',
  xpaths: 'Paths of lines of the map, written as in the map.',
};

const schemaMembers = {
  id_sch: 'The schema.',
  id_org: 'The organisation that owns the schema.',
  id_parent_sch: 'The version before it; null for a first one.',
  id_lschma: 'The logical schema that the following figures describe; null if there is none yet.',
  id_job: 'The job that made it; null if a request made it.',
  name: 'Name of the family, which all versions share.',
  version: '1 for the first of its family.',
  source_type: 'Made from XSDs, inferred from documents, or made from XSDs with statistics of documents.',
  root_elements: 'The possible root elements of documents, the likeliest first.',
  target_namespace: 'Namespace of the root elements; null if they have none.',
  namespaces: 'Prefixes used in paths.',
  files: 'The XSDs that it was made from.',
  map_level: 'How far single children fold into their parents and types are shared (`-g`).',
  max_length: 'Longest name of a table or column, in bytes.',
  table_count: 'Tables of the logical schema.',
  mapping_count: 'Lines of its map.',
  created: 'When it was made, epoch milliseconds.',
};

const catalogMembers: MemberTexts = {
  SchemaFile: {
    name: 'Path within the set.',
    bytes: 'Its size.',
    sha256: 'SHA-256 of its bytes, hexadecimal.',
  },
  XMLSchema: schemaMembers,
  SchemaShortInfoResponse: {
    id_sch: 'The schema.',
    name: 'Its name.',
    max_length: 'Maximum length of a name, in bytes.',
    longest_name: 'The longest name of a table or column; null if there is none yet.',
  },
  Mapping: {
    id_map: 'The line; 0 if documents used a place that a map of more than 40,000 lines leaves out.',
    id_sch: 'The schema.',
    id_lschma: 'The logical schema.',
    xpath: 'The element or attribute; null for row keys, parent keys and positions.',
    node_type: 'The kind of node at the path; null for keys, positions and columns that describe an element.',
    source_type:
      'Type of the source: a built-in type of XML Schema, or the name of a declared one. For a column that describes an element: `role`, `element name`, `xsi:type` or `xsi:nil`.',
    min_occurs: 'Minimum number of occurrences in its parent.',
    max_occurs: 'At most; null: without bound.',
    id_tab: 'The table.',
    table_name: 'Its name.',
    column_name: 'The column; null for an element that makes rows.',
    data_type: 'Type of the column in PostgreSQL, without its length.',
    length: 'Longest text, in characters; null: any.',
    nullable: 'Whether the column may be NULL.',
    key: 'PK: row key. FK: key of another row.',
    active: 'false: switched off, so that no column is loaded for it.',
    documentation: 'Its documentation in the XSD.',
  },
  SchemaDetails: { ...schemaMembers, tables: 'The tables of the logical schema, parents before children.' },
  SchemaTable: {
    id_tab: 'The table.',
    name: 'Its name.',
    xpath: 'The element whose occurrences are its rows; for a shared type, its first use.',
    parent_table: 'The parent table of its rows; null for a root, and if there are several parent tables.',
    columns: 'Its columns, in their order.',
  },
  SchemaColumn: {
    id_col: 'The column.',
    name: 'Its name.',
    data_type: 'Its type, as PostgreSQL names it, without length.',
    length: 'Maximum length of a `varchar` in characters; null for other types.',
    precision: 'Total digits of a `numeric`; null for other types.',
    scale: 'Digits after the decimal point of a `numeric`; null for other types.',
    nullable: 'Whether it may be NULL.',
    key: 'PK: the row key; FK: the key of another row; null for all other columns.',
    references: 'The table that a parent key refers to; null for other columns.',
    xpath: 'The source path of its values; null for keys and positions.',
  },
  CreateSchemaRequest: {
    name: 'Name of the schema family.',
    xsd: 'Uploaded XSDs, or archives of them.',
    xml: 'Uploaded documents. Without XSDs the schema is inferred from them; with XSDs they only give statistics.',
    credential: 'Name of the credential, or of the operator’s source, used to read addresses.',
    root: 'The element that documents start with, as `{namespace}name` or `name`; if absent, any global element.',
    map_level:
      'How far single children fold into their parents (1 and 3) and types are shared between tables (2 and 3); default 3.',
    name_max_len: 'Longest name of a table or column, in bytes.',
    default_varchar_len: 'Maximum length: text without a length of its own becomes `varchar` of this length.',
    id_parent_sch: 'The schema that this is the next version of.',
  },
  ActivateMappingResponse: changedLines,
  ActivateMappingRequest: chosenLines,
  DeactivateMappingResponse: changedLines,
  DeactivateMappingRequest: chosenLines,
  StatsMapping: {
    id_map: 'The line of the map; 0 as in `Mapping`.',
    xpath: 'Path of the line.',
    column_name: 'Name of the column; null for the line of a table.',
    documents: 'Documents that had it.',
    occurrences: 'Total number of occurrences.',
    min_occurs: 'Fewest occurrences in one parent element.',
    max_occurs: 'Most occurrences in one parent element.',
    min_length: 'Characters of the shortest value; 0 for an empty one.',
    max_length: 'Characters of the longest value.',
    inferred_type:
      'The narrowest type that holds all values, as PostgreSQL names it; `none` if there was no value.',
    min_value: 'The least value, compared by its type; null if there was none.',
    max_value: 'The greatest value, compared by its type; null if there was none.',
    distinct_estimate: 'Estimated number of distinct values, accurate to a few per cent.',
  },
  MappingComparison: {
    xpath: 'Path that the two lines have in common.',
    change:
      'Whether the line is only in the second map, only in the first, different in both, or the same in both.',
    differences: 'What differs; empty unless `change` is `changed`.',
    from: 'The line of the first map; null if it has none.',
    to: 'The line of the second map; null if it has none.',
  },
  MappingDifference: {
    field: 'Name of the member that differs.',
    from: 'Its value in the first map.',
    to: 'Its value in the second map.',
  },
  SvgRequest: { svg: 'The drawing, as text.' },
  Diagram: {
    width: 'Width of the diagram, in pixels.',
    height: 'Height of the diagram, in pixels.',
    tables: 'The tables and their positions.',
    relations: 'Foreign keys, each with the key that it refers to.',
    svg: 'The saved drawing; null if there is none.',
  },
  DiagramTable: {
    id_tab: 'The table; null for `_documents`.',
    name: 'Its name.',
    x: 'Left edge, in pixels.',
    y: 'Upper edge, in pixels.',
    width: 'In pixels.',
    height: 'In pixels.',
    columns: 'Its columns, in their order.',
  },
  DiagramColumn: {
    name: 'Name of the column.',
    data_type: 'Its type, as PostgreSQL names it.',
    key: 'PK: the row key; FK: the key of another row; null for all other columns.',
  },
  DiagramRelation: {
    from_table: 'The table that has the foreign key.',
    from_columns: 'The columns of the foreign key.',
    to_table: 'The table that it refers to.',
    to_columns: 'The columns of the key that it refers to.',
    cardinality: 'Number of rows of `to_table`, and of rows of `from_table` for each of them.',
  },
};

/** Members that mean the same in every structure that has them. */
const membersEverywhere: Readonly<Record<string, string>> = {
  content: 'What this page holds.',
  page: 'Number of this page, from 0.',
  size: 'Requested page size.',
  total_elements: 'Total number of items.',
  total_pages: 'Number of pages; 0 if there are no items.',
  error: 'Whether it failed. Failures are problem documents, so an answer with 200 or 201 says false.',
  id_sch: 'The schema.',
  id_org: 'The organisation that it belongs to.',
  id_lschma: 'The logical schema: one drawing of the tables of the schema.',
  id_workflow: 'The workflow of the jobs.',
  cfxml: 'The feed: name of the schema family whose conversions these are.',
  pid: 'The run: number of its job.',
  table_name: 'Name of the table.',
  column_name: 'Name of the column.',
  active_count: 'Lines of the map that are on afterwards.',
  inactive_count: 'Lines of the map that are off afterwards.',
  metadb_port:
    'Port of that database; default: 5432 with `metadb_host`, otherwise the port of the service’s own database.',
  metadb_user: 'Login at that database; default: the service’s own login.',
  metadb_db: 'Name of that database; default: the name of the service’s own database.',
};

// Texts for the members of the integration-catalogue view.

const runMembers = {
  job_type: 'What the job did.',
  start_date: 'When it began, epoch milliseconds; null before.',
  end_date: 'When it ended, epoch milliseconds; null before.',
  documents: 'Documents that were loaded.',
  rows: 'Rows that were loaded, of all tables.',
  rejected: 'Number of rejected documents.',
  unmapped: 'Values and subtrees that had no place in the map.',
};

const feedMembers: MemberTexts = {
  CILJob: runMembers,
  CILJobDetailsDto: {
    ...runMembers,
    tables: 'Rows of each table.',
    unmapped_xpaths: 'Paths that had no place in the map, the most frequent first.',
    ignored: 'Values that were left out because their mappings are inactive.',
    rejects: 'The rejected documents.',
    broken_keys: 'Natural keys that the target does not have because values violated them.',
    versions: 'The versions of the schema family, the oldest first.',
  },
  CILMapping: {
    mapping: 'Name of the mapping, which is the name of its table.',
    group: 'Group of the mapping: its feed.',
    source_xpath: 'The element whose occurrences are the rows.',
    target_table: 'Name of the table.',
    column_count: 'Columns of the table, keys among them.',
    rows: 'Rows that completed runs loaded into it, less rows overwritten or unloaded since.',
  },
  CILSequence: {
    sequence: 'Name of the sequence.',
    target_table: 'The table whose row keys it numbers.',
    target_column: 'The row key.',
    load_order: 'Place of the table in the order of loading, from 1; parents come before children.',
    last_value: 'The highest assigned number; if it is unknown, the number of loaded rows.',
    increment: 'Increment of the sequence.',
  },
  UpdateKeysRequest: { keys: 'The columns, all or none of which are changed.' },
  CILKeyUpdate: {
    key_type: '`NK` adds the column to the natural key of its table, null removes it.',
    position: 'Position of the column in the key, from 1; default: after the existing columns.',
  },
  CILTableRows: { rows: 'Rows of the table.' },
  CILUnmappedXpath: { xpath: 'Path of an element or attribute.', count: 'Number of occurrences.' },
  CILReject: {
    document: 'Name of the document; null if the fault was found before a document began.',
    line: 'Line of the fault, from 1; null if it has none.',
    column: 'Column of the fault, from 1; null if it has none.',
    code: 'Stable code of the reason, such as `unknown_root`; null if it has no code.',
    message: 'Why, in words.',
  },
  CILBrokenKey: { columns: 'The columns of the natural key.' },
  CILVersion: { version: '1 for the first of the family.' },
  CILKey: {
    id_col: 'The column.',
    key_type: 'PK: a row key, FK: the key of another row, NK: part of a natural key.',
    references: 'The table that an FK refers to; null for other columns.',
    position: 'Position of the column in the key, from 1.',
  },
  CILLineage: {
    mapping: 'Name of the mapping, which is the name of its table.',
    source_xpath: 'The source path of the values; null if the loader generates them.',
    source_type: 'Their type in the schema, such as `xs:date`; null if there is none.',
    target_table: 'Name of the table.',
    target_column: 'Name of the column.',
    target_type: 'Type of the column, as PostgreSQL names it.',
    transformation: 'How a value is converted.',
    pid: 'The latest completed run that loaded the table with this map; null if there is none.',
  },
};

// Texts for the members of running, jobs, workflows, uploads and transfers.

const workflowMembers = {
  id_workflow: 'The workflow.',
  name: 'As the request named it.',
  start_date: 'When its first job began; null before.',
  end_date: 'When its last job ended; null before.',
  job_count: 'Number of its jobs.',
  completed_count: 'Number of completed jobs.',
  failed_count: 'Number of jobs that ended without completing.',
};

const jobMembers: MemberTexts = {
  Job: {
    id_job: 'The job.',
    id_parent_job: 'The job that this one runs again; null for a first run.',
    id_org: 'The organisation that owns the job.',
    id_sch: 'The schema that the job makes or uses; null until it is known.',
    id_lschma: 'The logical schema, which defines the tables of the rows.',
    id_app: 'Id of the run in the engine: `local-…`, or the id of the Spark application.',
    job_type:
      'Schema: xsd2er. Parse: xml2er. Write: er2xml. Unload: unload. Export, Import: schemas exported or imported.',
    host: 'Name and address of the machine that ran it last; null until it runs.',
    os_user: 'Operating-system user that ran the job on that machine.',
    base_path: 'Folder to which relative paths of its tool refer.',
    parm_path_input: 'Inputs, as given in the request.',
    parm_path_output: 'The target, as given in the request.',
    msg_proc_qty: 'Number of documents processed so far.',
    log_file: 'Path of its log below the home of the service; read the log by `/v2/executions/log`.',
    start_date: 'When it first ran; null while it waits.',
    end_date: 'When it ended; null before.',
    id_workflow: 'The request that it was part of.',
    attempt: 'Number of attempts; more than one if a machine died.',
    progress: 'Completed fraction, 0 to 1; null if it is unknown.',
    failure: 'Why it did not complete, in a sentence; null otherwise.',
    id_watch: 'The watch that found its files; absent for a job of a request.',
    trace_id:
      'The trace that the job belongs to (W3C Trace Context): from the `traceparent` header of the request that made the job, or a new one.',
  },
  JobLog: {
    id_job: 'The job.',
    offset: 'Offset in bytes of this part in the log.',
    next_offset: 'Offset to request next.',
    total_size: 'Present size of the log in bytes.',
    completed: 'The job has ended: the log is final.',
    log: 'The text of this part of the log.',
  },
  RowColumn: {
    name: 'Name of the column. Columns of a statement may share one.',
    type: 'Name of its type in the database of the target; ANY if SQLite knows none.',
  },
  TargetRowPage: { columns: 'The columns, in the order of the values of each row.' },
  TargetQuery: {
    target: 'As `-o` names it, or as `parm_path_output` of a job does.',
    sql: 'One SELECT in the SQL of the target.',
  },
  TargetQueryResult: {
    columns: 'The columns, in the order of the values of each row.',
    rows: 'The first rows.',
    truncated: 'Whether there are more rows.',
  },
  RunCmdResponse: {
    logPath: 'Always null: logs are read by `GET /v2/executions/log/{id_job}`.',
    cmds: 'The command line of each job, in the order of `jobs`.',
    jobs: 'Ids of the jobs, in the order of the executions.',
  },
  RerunJobResponse: {
    id_job: 'The new job.',
    id_parent_job: 'The job that is run again.',
    cmds: 'The command line of the new job.',
    jobs: 'The new job, as a list of one.',
  },
  ExecutionRequest: { executions: 'The jobs, in the order that they run in.' },
  ExecutionTarget: {
    generation: 'Options for the design of tables, such as `-g`.',
    path: 'The target of rows: `-o` and its value.',
    format: 'Options of the format, such as `-f`.',
    writing_mode: 'Options for writing rows, such as `-S`.',
  },
  WorkflowShort: { ...workflowMembers, jobs: 'Ids of its jobs, in the order that they run in.' },
  Workflow: { ...workflowMembers, jobs: 'The records of its jobs, in the order that they run in.' },
  GetWorkflowNameResponse: { id: 'The workflow.', name: 'As the request named it.' },
  UploadToken: {
    token: 'The value of the parameter `token` of the upload.',
    expires_at: 'When it expires, epoch milliseconds.',
    max_bytes: 'Maximum size of the upload, in bytes.',
  },
  UploadTokenRequest: {
    kind: 'Kind of upload: documents or an XSD set.',
    max_bytes: 'Maximum size of the upload in bytes, if less than the limit of the service.',
  },
  ExportedSchema: {
    error: 'Whether the run failed. A failed run is 200, too; a refused request is a problem document.',
  },
  ImportedSchemas: {
    error:
      'Whether the run failed, and nothing was changed. A failed run is 200, too; a refused request is a problem document.',
  },
  ExportSchemaRequest: {
    az_output_path:
      'Location in cloud storage instead of a folder: its URL, ending in a slash, and a shared-access query.',
  },
  ImportSchemaRequest: {
    az_input_path:
      'Location in cloud storage that the package is fetched from: its URL and a shared-access query.',
  },
  Problem: {
    type: '`urn:svc:problem:` and the code.',
    title: 'Title of the code.',
    status: 'The status of the answer.',
    detail: 'What is wrong with this request, and what to do.',
    instance: 'The requested path.',
    code: 'The stable name of the fault, for programs.',
    help: 'Reference, relative to the address of the request, to a page that explains the code.',
    errors: 'The wrong places of the request; at most 100.',
    timestamp: 'When it was answered, ISO 8601.',
    error: 'Reason phrase of the status.',
    path: 'The requested path.',
    request_id: 'Names the request in the log of the service; also in the header X-Request-ID.',
  },
  ProblemKind: {
    code: 'The stable name of the fault, for programs.',
    type: '`type` of its problem documents.',
    status: 'The status of the answer.',
    title: 'The code in words.',
    retryable: 'Whether the same request may succeed later.',
    cause: 'What happened.',
    remedy: 'What to do.',
  },
  ProblemPlace: {
    pointer: 'JSON pointer into the body, or `/path/…`, `/query/…`, `/header/…`.',
    detail: 'The fault at that place.',
  },
  ErrorAttributes: {
    timestamp: 'When it was answered, ISO 8601.',
    status: 'The HTTP status.',
    error: 'Its reason phrase.',
    path: 'The requested path.',
  },
};

// Texts for the members of keys, organisations, the audit log, extensions and the actuator.

const operatingMembers: MemberTexts = {
  IssuedApiKey: { id_key: 'The key.', key: 'The key itself, `svk_ID_SECRET`. It is shown only once.' },
  NewApiKey: {
    name: 'Its purpose.',
    scopes: 'Its scopes.',
    id_org: 'The organisation of the new key; default: the organisation of the requesting key.',
    expires_at: 'When it expires, epoch milliseconds; null or absent: never.',
  },
  ApiKey: {
    id_key: 'The key.',
    name: 'Its purpose.',
    scopes: 'Its scopes.',
    created: 'When it was issued, epoch milliseconds.',
    expires_at: 'When it expires, epoch milliseconds; null: never.',
    revoked_at: 'When it was revoked, epoch milliseconds; null: it was not.',
  },
  CredentialInfo: {
    name: 'Its name, for `--credential`.',
    kind: 'The scheme of the addresses that it is for.',
    created: 'When it was made, epoch milliseconds.',
  },
  NewCredential: {
    name: 'Its name, which jobs refer to.',
    kind: 'The scheme of the addresses that it is for.',
    endpoint: 'Address of an S3-compatible store, or of a storage account; default: Amazon or Azure.',
    region: 'Region of the buckets; default `us-east-1`.',
    access_key: 'Access key of the store; of `az`, the name of the account.',
    secret_key: 'Secret key of the store; of `az`, the key of the account, base64.',
    session_token: 'Of temporary keys.',
    host: 'HOST or HOST:PORT: secrets are sent only to this host.',
    token: 'Sent as `Authorization: Bearer`; of `az`, a shared access signature.',
    user: 'Sent with the password as `Authorization: Basic`.',
    password: 'The password.',
    host_key:
      'Of `sftp`: the public key of the server, `ssh-ed25519 AAAA…`; default: the key in `known_hosts` of the service.',
  },
  Org: {
    id_org: 'The organisation.',
    name: 'Its name.',
    description: 'Its description; null if it has none.',
    created: 'When it was made, epoch milliseconds.',
    schema_count: 'Number of its schemas.',
    job_count: 'Number of its jobs.',
  },
  NewOrg: { name: 'Its name.', description: 'Its description.' },
  AuditLine: {
    id_audit: 'The line.',
    time: 'When, epoch milliseconds.',
    id_org: 'The organisation of the actor.',
    actor: 'The actor: a key, a subject of the identity provider, or the command line.',
    action: 'The operation or command.',
    subject: 'Id of the changed object; null if it has no id.',
    status: 'Status of the answer; null for a command.',
    request_id: 'Names the request in the log of the service; null for a command.',
  },
  Extensions: { extensions: 'Groups of endpoints.', action_params: 'Settings of the tools.' },
  Extension: {
    name: 'Its name.',
    title: 'Its display name.',
    path: 'Path of its endpoints.',
    enabled: 'Whether it answers.',
  },
  ActionParams: {
    commands: 'Whether commands can be run.',
    levels: 'The default map level.',
    levels_type: '0: levels by table, 1: by type.',
    loadConfig: 'Default behaviour of a load.',
  },
  ActuatorLinks: { _links: 'Endpoints by their name.' },
  ActuatorLink: { href: 'Address.', templated: 'Whether the address has a part in braces to fill in.' },
  Health: { status: 'DOWN if a component that jobs need does not work.' },
  MetricNames: { names: 'Names that `/actuator/metrics/{name}` accepts.' },
  EnvironmentSources: {
    activeProfiles: 'Always empty: there are no profiles.',
    propertySources: 'Sources of settings, in order of precedence.',
  },
  PropertySource: { name: 'The source of the settings.', properties: 'The settings by their name.' },
  SettingValue: { value: 'The value; masked if it is not a default.', origin: 'Its state.' },
  Loggers: {
    levels: 'The available levels, the quietest first.',
    loggers: 'The loggers by name; the only one is ROOT.',
    groups: 'Always empty: there are no groups.',
  },
  LoggerLevel: {
    configuredLevel: 'The level set since the start.',
    effectiveLevel: 'The effective level: entries of this level and of higher levels are logged.',
  },
  LevelRequest: { configuredLevel: 'The new level; null: the level of the start.' },
  Metric: {
    name: 'Its name.',
    description: 'The meaning of the metric.',
    baseUnit: 'Its unit.',
    measurements: 'Its values, over all selected samples.',
    availableTags: 'The tags of its samples.',
  },
  Measurement: { statistic: 'The kind of value, such as COUNT or VALUE.', value: 'The figure.' },
  AvailableTag: { tag: 'Its name.', values: 'Its values.' },
  EnvironmentSetting: {
    property: 'The setting in use.',
    activeProfiles: 'Always empty: there are no profiles.',
    propertySources: 'All possible sources, each with its value.',
  },
  UsedSetting: { source: 'The source of the setting.', value: 'The value; masked if it is not a default.' },
  SourceOfSetting: { name: 'Who.', property: 'The value from this source; absent if it has none.' },
  ServiceIndex: {
    name: 'Name of the service.',
    version: 'Version of the program.',
    links: 'Paths of further operations.',
  },
  ServiceLinks: {
    doc: 'The interface, for people.',
    health: 'Whether the service is well.',
    openapi: 'The interface, for programs.',
  },
};

// Texts for the members of watches and their files.

const settings = {
  name: 'Its name, unique in the organisation.',
  location: 'The location of new documents: a folder, `s3://BUCKET/PREFIX/`, or the address of one file.',
  pattern: 'Pattern for names below the location, as for inputs; null: documents (`*.xml`) and archives.',
  id_sch:
    'The schema of the documents; null: it is inferred from the first documents, or `options` names an XSD set.',
  target: 'Where rows go, as for `-o`.',
  options:
    'Further flags of `xml2er` with their values: text, number, `true` for a flag without one, or a list.',
  every: 'How often it checks the location: a duration, or five fields of cron in UTC.',
  order: 'Which files are loaded first.',
  settle: 'How long a file must be unchanged before it is loaded, as a duration.',
  on_error: 'fail: a file with a bad document is rejected; skip: the other documents of the file are loaded.',
  on_drift:
    'How to handle content that is not in the schema: evolve makes its next version, and the target gets it; keep leaves it in `_unmapped`; fail loads nothing and pauses the watch. Schemas of XSDs do not evolve: unknown content is kept in `_unmapped`.',
  max_files: 'Files that one job loads at most.',
  max_bytes: 'Bytes that one job loads at most; a larger file gets its own job.',
  credential: 'Name of the credential for the location; null: the source of the operator is used.',
  paused: 'Whether the watch is paused.',
};

const watchMembers: MemberTexts = {
  NewWatch: settings,
  WatchChange: settings,
  WatchRun: {
    retry: 'Whether to retry rejected files.',
    names: 'Retry only files with these names.',
  },
  Watch: {
    ...settings,
    id_watch: 'The watch.',
    created: 'When it was made, epoch milliseconds.',
    next_run: 'Time of the next check, epoch milliseconds; null while it is paused.',
    last_run: 'Time of the last scheduled check, epoch milliseconds; null: none yet.',
    id_job: 'The job that is loading files of the watch; null: none.',
    stalled: 'The reason why nothing is loaded, in a sentence; null: no problem.',
    stalled_at: 'Since when, epoch milliseconds.',
    files: 'Files by state.',
    waiting_bytes: 'Total size of the waiting files.',
    waiting_since: 'When the oldest waiting file was first found, epoch milliseconds; null: none waits.',
  },
  WatchFileCounts: {
    waiting: 'Found, but not loaded yet.',
    loading: 'In a job that has not ended.',
    loaded: 'Their rows are in the target.',
    rejected: 'Kept aside, with a reason.',
    ignored: 'Removed or changed before they were loaded, or found again with the same content.',
    replaced: 'Their documents are no longer in the target: documents of later files replaced them.',
  },
  WatchFile: {
    name: 'Its name below the location.',
    version: 'Its ETag; for a file on a disk, its modification time and size.',
    bytes: 'Its size.',
    modified: 'Modification time, epoch milliseconds; null if it is unknown.',
    sha256: 'SHA-256 of its content; null until it has been read.',
    status: 'Its state.',
    id_job: 'The job that loads, loaded or rejected it.',
    reason: 'The reason why it was rejected or ignored; for a loaded file, the part that was not loaded.',
    replaced_by: 'The file whose documents replaced its documents; null: it was not replaced.',
    seen_at: 'When this version was first found or last retried, epoch milliseconds.',
  },
};

// Gives the members of structures their descriptions.

const texts: MemberTexts = {
  ...jobMembers,
  ...catalogMembers,
  ...feedMembers,
  ...operatingMembers,
  ...watchMembers,
};

interface DescribedSchema {
  description?: string;
  readonly properties?: Readonly<Record<string, DescribedSchema>>;
}

/**
 * Adds descriptions to members of the structures that have none; a member that refers to a structure is described by that. Throws for
 * texts that belong to no member, because nobody would read them.
 */
export function describeMembers(structures: Readonly<Record<string, object>>): void {
  for (const [name, structure] of Object.entries(structures)) {
    const { properties = {} } = structure as DescribedSchema;
    const own = texts[name] ?? {};
    for (const [member, schema] of Object.entries(properties)) {
      const text = own[member] ?? membersEverywhere[member];
      if (text !== undefined && !('$ref' in schema)) schema.description ??= text;
    }
    const strays = Object.keys(own).filter((member) => properties[member] === undefined);
    if (strays.length > 0) throw new TypeError(`${name} has no member ${strays.join(', ')}`);
  }
}
