/** The descriptions of the members of requests and responses in the OpenAPI document. */

// Descriptions of members: by structure, then by member.

type MemberTexts = Readonly<Record<string, Readonly<Record<string, string>>>>;

// Texts for the members of schemas, maps, statistics and diagrams.

const changedLines = { changed: 'Lines whose state changed.' };
const chosenLines = {
  ids: 'Lines of the map by `id_map`.',
  xpaths: 'Lines of the map by their path, as the map writes it.',
};

const schemaMembers = {
  id_sch: 'The schema.',
  id_org: 'Whose it is.',
  id_parent_sch: 'The version before it; null for a first one.',
  id_lschma: 'The logical schema that the figures below are of; null while there is none.',
  id_job: 'The job that made it; null where a request did.',
  name: 'Name of the family: all versions have it.',
  version: '1 for the first of its family.',
  source_type: 'Made of XSDs, inferred from documents, or of XSDs with statistics of documents.',
  root_elements: 'What documents may start with, the likeliest first.',
  target_namespace: 'Of the root elements; null for none.',
  namespaces: 'Prefixes that paths are written with.',
  files: 'The XSDs that it was made of.',
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
    max_length: 'How many bytes a name may have.',
    longest_name: 'The longest name of a table or column; null while there is none.',
  },
  Mapping: {
    id_map: 'The line; 0 if documents used a place that a map of more than 40,000 lines leaves out.',
    id_sch: 'The schema.',
    id_lschma: 'The logical schema.',
    xpath: 'The element or attribute; null for row keys, parent keys and positions.',
    node_type: 'What the path leads to; null for keys, positions and columns that describe an element.',
    source_type:
      'Type of the source: a built-in type of XML Schema, or the name of a declared one. For a column that describes an element: `role`, `element name`, `xsi:type` or `xsi:nil`.',
    min_occurs: 'How often it occurs in its parent, at least.',
    max_occurs: 'At most; null: without bound.',
    id_tab: 'The table.',
    table_name: 'Its name.',
    column_name: 'The column; null for an element that makes rows.',
    data_type: 'Type of the column in PostgreSQL, without its length.',
    length: 'Longest text, in characters; null: any.',
    nullable: 'The column may be without a value.',
    key: 'PK: row key. FK: key of another row.',
    active: 'false: switched off, so that no column is loaded for it.',
    documentation: 'What the XSD says of it.',
  },
  SchemaDetails: { ...schemaMembers, tables: 'The tables of the logical schema, parents before children.' },
  SchemaTable: {
    id_tab: 'The table.',
    name: 'Its name.',
    xpath: 'The element whose occurrences are its rows; of a shared type the first of its uses.',
    parent_table: 'The table that its rows hang below; null for a root, and where several do.',
    columns: 'Its columns, in their order.',
  },
  SchemaColumn: {
    id_col: 'The column.',
    name: 'Its name.',
    data_type: 'Its type, as PostgreSQL names it, without length.',
    length: 'Longest value in characters, of a `varchar`; else null.',
    precision: 'Digits in all, of a `numeric`; else null.',
    scale: 'Digits behind the point, of a `numeric`; else null.',
    nullable: 'Whether it may be NULL.',
    key: 'PK: the row key; FK: the key of another row; null for all other columns.',
    references: 'The table that a parent key leads to; else null.',
    xpath: 'Where its values come from; null for keys and positions.',
  },
  CreateSchemaRequest: {
    name: 'Name of the schema family.',
    xsd: 'Uploaded XSDs, or archives of them.',
    xml: 'Uploaded documents: alone they are what the schema is inferred from, beside XSDs what statistics are taken of.',
    credential: 'Name of the credential, or of the operator’s source, that addresses are read with.',
    root: 'The element that documents start with, as `{namespace}name` or `name`; without it, every global element may.',
    map_level:
      'How far single children fold into their parents (1 and 3) and types are shared between tables (2 and 3); 3 without it.',
    name_max_len: 'Longest name of a table or column, in bytes.',
    default_varchar_len: 'Gives text without a length of its own the type `varchar` of that length.',
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
    occurrences: 'How often it occurred in all.',
    min_occurs: 'Fewest occurrences in one parent element.',
    max_occurs: 'Most occurrences in one parent element.',
    min_length: 'Characters of the shortest value; 0 for an empty one.',
    max_length: 'Characters of the longest value.',
    inferred_type:
      'The narrowest type that holds all values, as PostgreSQL names it; `none` where there was no value.',
    min_value: 'The least value, by its type; null where there was none.',
    max_value: 'The greatest value, by its type; null where there was none.',
    distinct_estimate: 'How many different values there were, estimated within a few per cent.',
  },
  MappingComparison: {
    xpath: 'Path that the two lines have in common.',
    change: 'Whether only the second map has the line, only the first, both with differences, or both alike.',
    differences: 'What differs; empty unless `change` is `changed`.',
    from: 'The line of the first map; null where it has none.',
    to: 'The line of the second map; null where it has none.',
  },
  MappingDifference: {
    field: 'Name of the member that differs.',
    from: 'Its value in the first map.',
    to: 'Its value in the second map.',
  },
  SvgRequest: { svg: 'The drawing, as text.' },
  Diagram: {
    width: 'Width of the whole, in pixels.',
    height: 'Height of the whole, in pixels.',
    tables: 'The tables and where they lie.',
    relations: 'Foreign keys, each with the key that it refers to.',
    svg: 'The drawing that was saved; null where none was.',
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
    cardinality: 'Rows of `to_table`, and of `from_table` for one of them.',
  },
};

/** Members that mean the same in every structure that has them. */
const membersEverywhere: Readonly<Record<string, string>> = {
  content: 'What this page holds.',
  page: 'Number of this page, from 0.',
  size: 'Most items of a page, as asked for.',
  total_elements: 'Items of all pages.',
  total_pages: 'Pages there are; 0 where there is nothing.',
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
  metadb_port: 'Port of that database; without it 5432 where `metadb_host` is given, else the service’s own.',
  metadb_user: 'Login at that database; without it, the service’s own.',
  metadb_db: 'Name of that database; without it, the service’s own.',
};

// Texts for the members of the integration-catalogue view.

const runMembers = {
  job_type: 'What the job did.',
  start_date: 'When it began, epoch milliseconds; null before.',
  end_date: 'When it ended, epoch milliseconds; null before.',
  documents: 'Documents that were loaded.',
  rows: 'Rows that were loaded, of all tables.',
  rejected: 'Documents that were refused.',
  unmapped: 'Values and subtrees that had no place in the map.',
};

const feedMembers: MemberTexts = {
  CILJob: runMembers,
  CILJobDetailsDto: {
    ...runMembers,
    tables: 'Rows of each table.',
    unmapped_xpaths: 'What had no place in the map, the most frequent first.',
    ignored: 'Values that were left out because their mappings are inactive.',
    rejects: 'The documents that were refused.',
    broken_keys: 'Natural keys that the target does not have, as values broke them.',
    versions: 'The versions of the schema family, the oldest first.',
  },
  CILMapping: {
    mapping: 'Name of the mapping: that of its table.',
    group: 'Group of the mapping: its feed.',
    source_xpath: 'The element whose occurrences are the rows.',
    target_table: 'Name of the table.',
    column_count: 'Columns of the table, keys among them.',
    rows: 'What completed runs loaded into it, less what was overwritten or unloaded since.',
  },
  CILSequence: {
    sequence: 'Name of the sequence.',
    target_table: 'The table whose row keys it numbers.',
    target_column: 'The row key.',
    load_order: 'Place of the table in the order of loading, from 1; parents come before children.',
    last_value: 'The highest number that was given out; where that is not known, how many rows were loaded.',
    increment: 'Distance of two numbers.',
  },
  UpdateKeysRequest: { keys: 'The columns, all or none of which are changed.' },
  CILKeyUpdate: {
    key_type: '`NK` makes the column a part of the natural key of its table, null ends that.',
    position: 'Place of the column in the key, from 1; without it, behind those there are.',
  },
  CILTableRows: { rows: 'Rows of the table.' },
  CILUnmappedXpath: { xpath: 'Path of an element or attribute.', count: 'How often it was met.' },
  CILReject: {
    document: 'Name of the document; null where the fault was found before one had begun.',
    line: 'Line of the fault, from 1; null where it has none.',
    column: 'Column of the fault, from 1; null where it has none.',
    code: 'Why, for programs, such as `unknown_root`; null where there is no name for it.',
    message: 'Why, in words.',
  },
  CILBrokenKey: { columns: 'The columns of the natural key.' },
  CILVersion: { version: '1 for the first of the family.' },
  CILKey: {
    id_col: 'The column.',
    key_type: 'PK: a row key, FK: the key of another row, NK: part of a natural key.',
    references: 'The table that an FK leads to; else null.',
    position: 'Place of the column in the key, from 1.',
  },
  CILLineage: {
    mapping: 'Name of the mapping: that of its table.',
    source_xpath: 'Where the values come from; null where the loader makes them.',
    source_type: 'Their type in the schema, such as `xs:date`; null where there is none.',
    target_table: 'Name of the table.',
    target_column: 'Name of the column.',
    target_type: 'Type of the column, as PostgreSQL names it.',
    transformation: 'What becomes of a value on its way.',
    pid: 'The latest completed run that loaded the table by this map; null where none did.',
  },
};

// Texts for the members of running, jobs, workflows, uploads and transfers.

const workflowMembers = {
  id_workflow: 'The workflow.',
  name: 'As the request named it.',
  start_date: 'When its first job began; null while none has.',
  end_date: 'When its last job ended; null before.',
  job_count: 'How many jobs it has.',
  completed_count: 'How many of them have completed.',
  failed_count: 'How many of them have ended otherwise.',
};

const jobMembers: MemberTexts = {
  Job: {
    id_job: 'The job.',
    id_parent_job: 'The job that this one runs again; null for a first run.',
    id_org: 'Whose job it is.',
    id_sch: 'The schema that it made, or reads documents of; null until it is known.',
    id_lschma: 'The logical schema: whose tables rows go to.',
    id_app: 'The run of the tool, as the engine names it (`local-…`, or the application of Spark).',
    job_type:
      'Schema: xsd2er. Parse: xml2er. Write: er2xml. Unload: unload. Export, Import: schemas that move.',
    host: 'Name and address of the machine that ran it last; null until it runs.',
    os_user: 'Who it ran as there.',
    base_path: 'Folder that relative paths of its tool began at.',
    parm_path_input: 'Inputs as they were given.',
    parm_path_output: 'The target as it was given.',
    msg_proc_qty: 'Documents so far.',
    log_file: 'Its log, below the home of the service; read it by `/v2/executions/log`.',
    start_date: 'When it first ran; null while it waits.',
    end_date: 'When it ended; null before.',
    id_workflow: 'The request that it was part of.',
    attempt: 'How many times it was begun: more than one after a machine died.',
    progress: 'Share that is done, 0 to 1; null where that cannot be told.',
    failure: 'Why it did not complete, in a sentence; null otherwise.',
    id_watch: 'The watch that found its files; absent in a job that a request asked for.',
    trace_id:
      'The trace that the job belongs to (W3C Trace Context): that of the `traceparent` of the request that made it, or one of its own.',
  },
  JobLog: {
    id_job: 'The job.',
    offset: 'Byte of the log that this part begins at.',
    next_offset: 'Byte to ask for next.',
    total_size: 'Bytes that the log has now.',
    completed: 'The job has ended: the log will not grow any more.',
    log: 'The part, as text.',
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
    generation: 'Options of how tables are drawn, such as `-g`.',
    path: 'Where rows go: `-o` and its value.',
    format: 'Options of the format, such as `-f`.',
    writing_mode: 'Options of how rows are written, such as `-S`.',
  },
  WorkflowShort: { ...workflowMembers, jobs: 'Ids of its jobs, in the order that they run in.' },
  Workflow: { ...workflowMembers, jobs: 'The records of its jobs, in the order that they run in.' },
  GetWorkflowNameResponse: { id: 'The workflow.', name: 'As the request named it.' },
  UploadToken: {
    token: 'To be given as `token` with the upload.',
    expires_at: 'When it ends, epoch milliseconds.',
    max_bytes: 'Most bytes that the upload may have.',
  },
  UploadTokenRequest: {
    kind: 'What is uploaded: documents, or an XSD set.',
    max_bytes: 'Most bytes that the upload may have, where that is to be less than the limit of the service.',
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
    title: 'The code in words.',
    status: 'The status of the answer.',
    detail: 'What is wrong with this request, and what to do.',
    instance: 'The path that was asked for.',
    code: 'The stable name of the fault, for programs.',
    help: 'Reference, relative to the address of the request, to a page that explains the code.',
    errors: 'The wrong places of the request; at most 100.',
    timestamp: 'When it was answered, ISO 8601.',
    error: 'Reason phrase of the status.',
    path: 'The path that was asked for.',
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
    detail: 'What is wrong there.',
  },
  ErrorAttributes: {
    timestamp: 'When it was answered, ISO 8601.',
    status: 'The status that is told of.',
    error: 'Its reason phrase.',
    path: 'The path that was asked for.',
  },
};

// Texts for the members of keys, organisations, the audit log, extensions and the actuator.

const operatingMembers: MemberTexts = {
  IssuedApiKey: { id_key: 'The key.', key: 'Its text, `svk_ID_SECRET`: given this once.' },
  NewApiKey: {
    name: 'What it is for.',
    scopes: 'What it may do.',
    id_org: 'The organisation that it is for; that of the asking key without it.',
    expires_at: 'When it ends, epoch milliseconds; null or absent: never.',
  },
  ApiKey: {
    id_key: 'The key.',
    name: 'What it is for.',
    scopes: 'What it may do.',
    created: 'When it was issued, epoch milliseconds.',
    expires_at: 'When it ends, epoch milliseconds; null: never.',
    revoked_at: 'When it was revoked, epoch milliseconds; null: it was not.',
  },
  CredentialInfo: {
    name: 'Its name, for `--credential`.',
    kind: 'The scheme of the addresses that it is for.',
    created: 'When it was made, epoch milliseconds.',
  },
  NewCredential: {
    name: 'What jobs call it by.',
    kind: 'The scheme of the addresses that it is for.',
    endpoint:
      'Address of an S3-compatible store, or of a storage account; without it, that of Amazon or Azure.',
    region: 'Region of the buckets; `us-east-1` without it.',
    access_key: 'Access key of the store; of `az`, the name of the account.',
    secret_key: 'Secret key of the store; of `az`, the key of the account, base64.',
    session_token: 'Of temporary keys.',
    host: 'HOST or HOST:PORT: what is secret goes there alone.',
    token: 'Sent as `Authorization: Bearer`; of `az`, a shared access signature.',
    user: 'Sent with the password as `Authorization: Basic`.',
    password: 'The password.',
    host_key:
      'Of `sftp`: the public key of the server, `ssh-ed25519 AAAA…`; without it, what `known_hosts` of the service has.',
  },
  Org: {
    id_org: 'The organisation.',
    name: 'Its name.',
    description: 'What it is; null where nothing was said.',
    created: 'When it was made, epoch milliseconds.',
    schema_count: 'Schemas that it has.',
    job_count: 'Jobs that it has.',
  },
  NewOrg: { name: 'Its name.', description: 'What it is.' },
  AuditLine: {
    id_audit: 'The line.',
    time: 'When, epoch milliseconds.',
    id_org: 'The organisation of who did it.',
    actor: 'Who: a key, a subject of the identity provider, or the command line.',
    action: 'What was done: an operation, or a command.',
    subject: 'What it was done to; null where it was to nothing that has an id.',
    status: 'Status of the answer; null for a command.',
    request_id: 'Names the request in the log of the service; null for a command.',
  },
  Extensions: { extensions: 'Groups of endpoints.', action_params: 'Settings that tools are run with.' },
  Extension: {
    name: 'Its name.',
    title: 'Its name for people.',
    path: 'Where its endpoints lie.',
    enabled: 'Whether it answers.',
  },
  ActionParams: {
    commands: 'Whether commands can be run.',
    levels: 'The default map level.',
    levels_type: '0: levels by table, 1: by type.',
    loadConfig: 'What a load does where its options say nothing else.',
  },
  ActuatorLinks: { _links: 'Endpoints by their name.' },
  ActuatorLink: { href: 'Address.', templated: 'Whether the address has a part in braces to fill in.' },
  Health: { status: 'DOWN where a part that jobs need does not work.' },
  MetricNames: { names: 'Names that `/actuator/metrics/{name}` takes.' },
  EnvironmentSources: {
    activeProfiles: 'Always empty: there are no profiles.',
    propertySources: 'Who gave settings, the strongest first.',
  },
  PropertySource: { name: 'Who gave them.', properties: 'The settings by their name.' },
  SettingValue: { value: 'The value; masked where it was given.', origin: 'Where it stands.' },
  Loggers: {
    levels: 'Levels there are, the quietest first.',
    loggers: 'The loggers by their name: ROOT.',
    groups: 'Always empty: there are no groups.',
  },
  LoggerLevel: {
    configuredLevel: 'What was set since the start.',
    effectiveLevel: 'What is logged: this level and those above it.',
  },
  LevelRequest: { configuredLevel: 'The level to log at; null: that of the start.' },
  Metric: {
    name: 'Its name.',
    description: 'What it measures.',
    baseUnit: 'Its unit.',
    measurements: 'Its figures, over all samples that were asked for.',
    availableTags: 'Tags that tell its samples apart.',
  },
  Measurement: { statistic: 'What the figure is, such as COUNT or VALUE.', value: 'The figure.' },
  AvailableTag: { tag: 'Its name.', values: 'Its values.' },
  EnvironmentSetting: {
    property: 'The setting in use.',
    activeProfiles: 'Always empty: there are no profiles.',
    propertySources: 'Everybody who could have given it, and what they gave.',
  },
  UsedSetting: { source: 'Who gave it.', value: 'The value; masked where it was given.' },
  SourceOfSetting: { name: 'Who.', property: 'What they gave; absent where they gave nothing.' },
  ServiceIndex: {
    name: 'Name of the service.',
    version: 'Version of the program.',
    links: 'Paths to go on with.',
  },
  ServiceLinks: {
    doc: 'The interface, for people.',
    health: 'Whether the service is well.',
    openapi: 'The interface, for programs.',
  },
};

// Texts for the members of watches and their files.

const settings = {
  name: 'Its name, which no other watch of the organisation has.',
  location: 'Where new documents come: a folder, `s3://BUCKET/PREFIX/`, or the address of one file.',
  pattern:
    'What names below the location look like, as patterns of inputs; null: documents (`*.xml`) and archives.',
  id_sch:
    'The schema that documents are read by; null: the first of them make it, or `options` names an XSD set.',
  target: 'Where rows go, as for `-o`.',
  options:
    'Further flags of `xml2er` with their values: text, number, `true` for a flag without one, or a list.',
  every: 'How often it looks: a duration, or five fields of cron in UTC.',
  order: 'Which files are loaded first.',
  settle: 'How long a file must not have changed before it is loaded, as a duration.',
  on_error: 'fail: a bad document keeps its file out; skip: the other documents of the file are loaded.',
  on_drift:
    'What documents do that hold content unknown to the schema: evolve makes its next version, and the target gets it; keep leaves it in `_unmapped`; fail loads nothing and pauses the watch. Schemas of XSDs do not evolve: what they do not know is kept in `_unmapped`.',
  max_files: 'Files that one job loads at most.',
  max_bytes: 'Bytes of them; a larger file is a job by itself.',
  credential: 'Name of the credential that the location is read with; null: that of the operator’s source.',
  paused: 'It does nothing until it is resumed.',
};

const watchMembers: MemberTexts = {
  NewWatch: settings,
  WatchChange: settings,
  WatchRun: {
    retry: 'Rejected files wait again.',
    names: 'Those of these names alone.',
  },
  Watch: {
    ...settings,
    id_watch: 'The watch.',
    created: 'When it was made, epoch milliseconds.',
    next_run: 'When it looks next, epoch milliseconds; null while it is paused.',
    last_run: 'When it looked last by its schedule, epoch milliseconds; null: it has not.',
    id_job: 'The job that loads files of it now; null: none does.',
    stalled: 'Why nothing is loaded, in a sentence; null: all is well.',
    stalled_at: 'Since when, epoch milliseconds.',
    files: 'Files by state.',
    waiting_bytes: 'Size of the files that wait.',
    waiting_since: 'When the oldest of them was met, epoch milliseconds; null: none waits.',
  },
  WatchFileCounts: {
    waiting: 'Met, and not loaded yet.',
    loading: 'In a job that has not ended.',
    loaded: 'Their rows are in the target.',
    rejected: 'Kept aside, with a reason.',
    ignored: 'Gone or changed before they were loaded, or met again with the same content.',
    replaced: 'Their documents are not in the target, as those of later files took their place.',
  },
  WatchFile: {
    name: 'Its name below the location.',
    version: 'Its ETag; of a file of a disk, when it was changed and its size.',
    bytes: 'Its size.',
    modified: 'When it was changed, epoch milliseconds; null where that is not told.',
    sha256: 'Of its content, once it has been read.',
    status: 'Where it stands.',
    id_job: 'The job that loads, has loaded or has rejected it.',
    reason: 'Why it was rejected or ignored; of a loaded file, what of it was not loaded.',
    replaced_by: 'The file whose documents took the place of its own; null: it is not replaced.',
    seen_at: 'When this version was first met, or was last tried again, epoch milliseconds.',
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
