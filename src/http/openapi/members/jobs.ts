/** Texts for the members of running, jobs, workflows, uploads and transfers. */
import type { MemberTexts } from './texts.ts';

const workflowMembers = {
  id_workflow: 'The workflow.',
  name: 'As the request named it.',
  start_date: 'When its first job began; null while none has.',
  end_date: 'When its last job ended; null before.',
  job_count: 'How many jobs it has.',
  completed_count: 'How many of them have completed.',
  failed_count: 'How many of them have ended otherwise.',
};

export const jobMembers: MemberTexts = {
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
    errors: 'The wrong places of the request; at most 100.',
    timestamp: 'When it was answered, ISO 8601.',
    error: 'Reason phrase of the status.',
    path: 'The path that was asked for.',
    request_id: 'Names the request in the log of the service; also in the header X-Request-ID.',
  },
  ProblemPlace: {
    pointer: 'JSON pointer into the body, or `#/path/…`, `#/query/…`, `#/header/…`.',
    detail: 'What is wrong there.',
  },
  ErrorAttributes: {
    timestamp: 'When it was answered, ISO 8601.',
    status: 'The status that is told of.',
    error: 'Its reason phrase.',
    path: 'The path that was asked for.',
  },
};
