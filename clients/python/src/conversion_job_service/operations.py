# Written by `npm run client:python` from the OpenAPI document; not to be edited.
"""Every operation of the interface: its name in snake case, paths first, then the body, the rest by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, cast

from . import models
from ._transport import Content, Transport, new_key


class Operations(Transport):
    """One method for each operation of the OpenAPI document.

    `idempotency_key`: a key that makes repeated requests safe; each request gets a new one if it is None.
    """

    def run_commands(
        self,
        body: models.ExecutionRequest,
        *,
        prefer: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.RunCmdResponse:
        """Run commands as jobs of one workflow.

        Each execution names a tool and its options, and becomes a job; jobs of one request run in order, and those after a failed one are not run. Off until `cmd.enabled=true` is set. Nothing is stored unless every execution is valid.

        The input is `source.file`, the schema `source.origin_id`; all other options may be in any group of `target`.

        **xsd2er** makes the tables of an XSD set, or of the documents of `--from`:

        - `--name NAME`: the name of the origin
        - `--parent ID`: make the next version of this origin
        - `--entry FILE`: the file at which to enter an XSD set, if a folder or archive has several: its path there, or the end of the path; may be repeated
        - `--credential NAME`: the credential for inputs at an address, and for a catalogue (iceberg:https://…): one of the organisation, or a source of the operator
        - `--from SOURCE`: read rows with a document in one column instead of inputs: postgresql://…, mysql://…, sqlite:FILE or duckdb:FILE with --query, or a Parquet or CSV file
        - `--query SQL`: with --from: one SELECT of documents and of columns to keep with them
        - `--xml-column NAME`: with --from: the column of the documents (default: the only XML column, or else the only text column)
        - `-a, --use-stats ID,…`: use the statistics of these jobs
        - `-g, --map 0..3`: design the tables at this map level (default 3)
        - `-s, --skip`: dry run: save nothing
        - `-r, --prefix TEXT`: put this text before each table name
        - `-y, --suffix TEXT`: put this text after each table name
        - `--namemode l|u|c`: case of names: lower (default), upper, or as in the source
        - `--rename OLD=NEW,…`: rename tables and columns; may be repeated
        - `--name-max-len N`: the greatest length of a name in bytes (default 63)
        - `--default-varchar-len N`: the length of text columns whose length is unknown
        - `-R, --extra-column NAME[:TYPE] NOW|ID|FILENAME|FILEPATH|=VALUE`: add a column to each table; may be repeated
        - `--root QNAME`: the root element of documents
        - `--prune`: omit tables and columns that documents do not use
        - `--missing fail|wildcard`: if an XSD component is referenced but not defined. fail (default): fail; wildcard: accept any content
        - `--no-samples`: keep no values of documents in the statistics

        **xml2er** loads documents into tables, and makes missing tables:

        - `--name NAME`: the name of the origin
        - `--parent ID`: make the next version of this origin
        - `-x, --origin ID|NAME|auto`: use this origin; an existing target chooses its logical schema. auto: the origin that loaded the target (default for an existing target, er2xml and unload)
        - `-l, --logical ID|NAME`: use this logical schema, or the only one of this origin, instead of the choice of the target
        - `--xsd PATH`: load by this XSD set: a file, folder or archive. It is stored once; a changed set is stored as its next version; may be repeated
        - `--entry FILE`: the file at which to enter an XSD set, if a folder or archive has several: its path there, or the end of the path; may be repeated
        - `--credential NAME`: the credential for inputs at an address, and for a catalogue (iceberg:https://…): one of the organisation, or a source of the operator
        - `--from SOURCE`: read rows with a document in one column instead of inputs: postgresql://…, mysql://…, sqlite:FILE or duckdb:FILE with --query, or a Parquet or CSV file
        - `--query SQL`: with --from: one SELECT of documents and of columns to keep with them
        - `--xml-column NAME`: with --from: the column of the documents (default: the only XML column, or else the only text column)
        - `--after COLUMN[=VALUE]`: with --from: read rows in the order of this column, from the end of the last such load into this target, or from VALUE
        - `-a, --use-stats ID,…`: use the statistics of these jobs
        - `-g, --map 0..3`: design the tables at this map level (default 3)
        - `-e, --parsemode a|d|s`: a: data and statistics (default with -o); d: data only; s: statistics only (default without -o)
        - `-s, --skip`: dry run: save nothing
        - `-o, --out TARGET`: the target to write
        - `-u, --out-user USER`: the user of the target
        - `-p, --out-password PASSWORD`: the password of the target
        - `-f, --format csv|tsv|jsonl|parquet|xlsx|delta|iceberg|delta,iceberg`: the format of a folder (default csv). xlsx: an Excel workbook for each load. delta, iceberg: Delta Lake tables, Iceberg tables, or both over the same files
        - `--parquet-version 1|2`: encodings of Parquet files: 1 for every reader (default in buckets), 2 for files that are about a quarter smaller (default elsewhere)
        - `-S, --savemode e|a|o|i|m|w|p`: e: fail if rows exist; a: append (default); o: overwrite; i: do nothing if rows exist; m: merge, a document replaces the one with its key (databases, Delta, Iceberg); w: make tables only; p: print the DDL
        - `--key XPATH,…`: with -S m: the values that identify a document, such as /order/@id (default: its name)
        - `--history`: with -S m: keep replaced and missing documents with the time until which they were valid; views TABLE_current show the current ones
        - `--delete-missing`: with -S m: remove documents of the target that are no longer among the inputs
        - `-r, --prefix TEXT`: put this text before each table name
        - `-y, --suffix TEXT`: put this text after each table name
        - `--namemode l|u|c`: case of names: lower (default), upper, or as in the source
        - `--rename OLD=NEW,…`: rename tables and columns; may be repeated
        - `--name-max-len N`: the greatest length of a name in bytes (default 63)
        - `--default-varchar-len N`: the length of text columns whose length is unknown
        - `-R, --extra-column NAME[:TYPE] NOW|ID|FILENAME|FILEPATH|=VALUE`: add a column to each table; may be repeated
        - `--root QNAME`: the root element of documents
        - `--row-tag QNAME`: the element that starts a document inside a larger file
        - `--concatenated`: accept several documents in one file, one after the other; they are called NAME#1, NAME#2, …
        - `--keys sequence|hash`: the kind of row keys. sequence (default): numbers in sequence; hash: derived from the hash of the document (what --engine spark has without this option, except with -S m)
        - `--validate`: check each document against the XSD first
        - `--unmapped capture|report|fail`: content that the schema does not declare. capture (default): keep it in _unmapped; if you give it, documents with unknown root elements are kept too; report: count it; fail: reject the document
        - `--on-drift keep|evolve|fail`: if documents have content that the schema has no place for. keep (default): keep it in _unmapped; evolve: make the next version of an inferred schema and load by it; fail: fail and list the paths
        - `--on-error fail|skip`: if a document is bad. fail (default): fail the job; skip: skip the document
        - `--prune`: omit tables and columns that documents do not use
        - `--tables used|all`: used (default): make a table when it first gets a row; all: make all tables
        - `--indexes none|keys|all`: none: make no indexes; keys (default): those of foreign keys; all: also those of ids and references of the XSD
        - `--codes none|table|check`: values that the XSD enumerates. none (default): do not keep them; table: keep them in the table _codes; check: also add checks in PostgreSQL
        - `--views`: make views of business entities (in a folder: views.sql); later loads keep them up to date
        - `--partition COLUMN,…`: with -f delta or iceberg: partition new tables by these columns: COLUMN or TABLE.COLUMN, or year(COLUMN), month(COLUMN), day(COLUMN), hour(COLUMN)
        - `--skip-loaded`: skip documents whose SHA-256 is already in the target
        - `--missing fail|wildcard`: if an XSD component is referenced but not defined. fail (default): fail; wildcard: accept any content
        - `--no-samples`: keep no values of documents in the statistics
        - `--workers N`: the number of threads (default 1)
        - `--engine local|spark`: local (default): run on this machine; spark: run on Spark
        - `--spark-conf K=V`: set a Spark setting; may be repeated

        **er2xml** writes documents back from tables:

        - `-x, --origin ID|NAME|auto`: use this origin; an existing target chooses its logical schema. auto: the origin that loaded the target (default for an existing target, er2xml and unload)
        - `-l, --logical ID|NAME`: use this logical schema, or the only one of this origin, instead of the choice of the target
        - `--credential NAME`: the credential for inputs at an address, and for a catalogue (iceberg:https://…): one of the organisation, or a source of the operator
        - `-s, --skip`: dry run: save nothing
        - `-i, --in TARGET`: the target to read
        - `-D, --document NAME`: the name of one document
        - `--version N`: for Delta and Iceberg tables: read them as they were when the table _loads had this version (default: the newest)
        - `--at MOMENT|all`: for a target with history (-S m --history): documents as they were at a moment, such as 2026-11-25T08:00:00Z, or all versions (default: current documents)
        - `-o, --out TARGET`: the target to write
        - `-u, --out-user USER`: the user of the target
        - `-p, --out-password PASSWORD`: the password of the target
        - `-S, --savemode e|a|o|i|m|w|p`: e: fail if rows exist; a: append (default); o: overwrite; i: do nothing if rows exist; m: merge, a document replaces the one with its key (databases, Delta, Iceberg); w: make tables only; p: print the DDL
        - `--on-error fail|skip`: if a document is bad. fail (default): fail the job; skip: skip the document
        - `--workers N`: the number of threads (default 1)

        **unload** removes documents and their rows from a target:

        - `-x, --origin ID|NAME|auto`: use this origin; an existing target chooses its logical schema. auto: the origin that loaded the target (default for an existing target, er2xml and unload)
        - `-l, --logical ID|NAME`: use this logical schema, or the only one of this origin, instead of the choice of the target
        - `--credential NAME`: the credential for inputs at an address, and for a catalogue (iceberg:https://…): one of the organisation, or a source of the operator
        - `-s, --skip`: dry run: save nothing
        - `-i, --in TARGET`: the target to read
        - `-D, --document NAME`: the name of one document
        - `-u, --out-user USER`: the user of the target
        - `-p, --out-password PASSWORD`: the password of the target"""
        return cast("models.RunCmdResponse", self._json(
            "POST",
            "/v2/run/cmd",
            accept="application/json",
            headers={"Prefer": prefer, "Idempotency-Key": idempotency_key or new_key()},
            json=body,
        ))

    def rerun_execution(
        self,
        id_job: int,
    ) -> models.RerunJobResponse:
        """Run an ended job again.

        Makes a new job in a workflow of its own, which uses the logical schema of the original job (409 if that was deleted). Until the new job has ended, the same call returns it again."""
        return cast("models.RerunJobResponse", self._json(
            "GET",
            "/v2/run/rerun/{id_job}",
            accept="application/json",
            path={"id_job": id_job},
        ))

    def list_executions(
        self,
        *,
        size: int | None = None,
        status: Literal["Q", "R", "W", "T", "C", "F", "K", "E", "L"] | None = None,
        job_type: Literal["Schema", "Parse", "Write", "Unload", "Export", "Import"] | None = None,
        cfxml: str | None = None,
        since: int | None = None,
        until: int | None = None,
        cursor: str | None = None,
    ) -> models.ExecutionsResponse:
        """List jobs, newest first: the first page.

        Twenty records per page by default (`size`); the `Link` header leads to the next page, and shows each job once while others are submitted. The list includes jobs of tools that were run on the command line."""
        return cast("models.ExecutionsResponse", self._json(
            "GET",
            "/v2/executions/all",
            accept="application/json",
            query={"size": size, "status": status, "job_type": job_type, "cfxml": cfxml, "since": since, "until": until, "cursor": cursor},
        ))

    def iter_executions(
        self,
        *,
        status: Literal["Q", "R", "W", "T", "C", "F", "K", "E", "L"] | None = None,
        job_type: Literal["Schema", "Parse", "Write", "Unload", "Export", "Import"] | None = None,
        cfxml: str | None = None,
        since: int | None = None,
        until: int | None = None,
        size: int = 100,
    ) -> Iterator[models.Job]:
        """The items of all pages of `list_executions`, read as they are needed. `size`: items of one page."""
        return self._items(
            "/v2/executions/all",
            accept="application/json",
            query={"status": status, "job_type": job_type, "cfxml": cfxml, "since": since, "until": until, "size": size},
        )

    def list_executions_page(
        self,
        page: int,
        *,
        size: int | None = None,
        status: Literal["Q", "R", "W", "T", "C", "F", "K", "E", "L"] | None = None,
        job_type: Literal["Schema", "Parse", "Write", "Unload", "Export", "Import"] | None = None,
        cfxml: str | None = None,
        since: int | None = None,
        until: int | None = None,
    ) -> models.ExecutionsResponse:
        """List jobs, newest first: one page.

        Pages count from 0. A job that is submitted between two calls moves the others down by one; cursors, which the first page links to, show each job once."""
        return cast("models.ExecutionsResponse", self._json(
            "GET",
            "/v2/executions/all/{page}",
            accept="application/json",
            path={"page": page},
            query={"size": size, "status": status, "job_type": job_type, "cfxml": cfxml, "since": since, "until": until},
        ))

    def get_execution(
        self,
        id: int,
    ) -> models.Job:
        """Get one job.

        Its state, progress and, once it has ended, its result. To wait for the end, follow the log, or submit with `Prefer: wait=N`."""
        return cast("models.Job", self._json(
            "GET",
            "/v2/executions/get/{id}",
            accept="application/json",
            path={"id": id},
        ))

    def get_execution_log(
        self,
        id_job: int,
        *,
        offset: int | None = None,
        limit: int | None = None,
        tail: int | None = None,
        last_event_id: int | None = None,
    ) -> models.JobLog:
        """Read or follow a job's log.

        By `Accept`: JSON (default) with one part of the log; `text/plain` with its raw bytes; `text/event-stream`, which follows the log: each event is a piece of it (the pieces, put together, are the log), its `id` the byte offset behind it, and a last event `end` carries the status."""
        return cast("models.JobLog", self._json(
            "GET",
            "/v2/executions/log/{id_job}",
            accept="application/json",
            path={"id_job": id_job},
            query={"offset": offset, "limit": limit, "tail": tail},
            headers={"Last-Event-ID": last_event_id},
        ))

    def get_execution_log_text(
        self,
        id_job: int,
        *,
        offset: int | None = None,
        limit: int | None = None,
        tail: int | None = None,
        last_event_id: int | None = None,
    ) -> str:
        """Read or follow a job's log.

        By `Accept`: JSON (default) with one part of the log; `text/plain` with its raw bytes; `text/event-stream`, which follows the log: each event is a piece of it (the pieces, put together, are the log), its `id` the byte offset behind it, and a last event `end` carries the status."""
        return self._text(
            "GET",
            "/v2/executions/log/{id_job}",
            accept="text/plain",
            path={"id_job": id_job},
            query={"offset": offset, "limit": limit, "tail": tail},
            headers={"Last-Event-ID": last_event_id},
        )

    def kill_execution(
        self,
        id_job: int,
    ) -> models.Job:
        """Kill a job.

        Idempotent: a job that has ended stays as it is."""
        return cast("models.Job", self._json(
            "POST",
            "/v2/executions/kill/{id_job}",
            accept="application/json",
            path={"id_job": id_job},
        ))

    def remove_execution(
        self,
        id: int,
    ) -> None:
        """Remove the record and the log of an ended job.

        Refused while a job of the same workflow has not ended."""
        self._nothing(
            "DELETE",
            "/v2/executions/{id}",
            accept="*/*",
            path={"id": id},
        )

    def list_workflow_executions(
        self,
        id: int,
        *,
        size: int | None = None,
    ) -> models.ExecutionsResponse:
        """List the jobs of a workflow in their order: the first page.

        The executions of one request in the order in which they run; a job that waits for a failed one before it is never run."""
        return cast("models.ExecutionsResponse", self._json(
            "GET",
            "/v2/executions/{id}",
            accept="application/json",
            path={"id": id},
            query={"size": size},
        ))

    def iter_workflow_executions(
        self,
        id: int,
        *,
        size: int = 100,
    ) -> Iterator[models.Job]:
        """The items of all pages of `list_workflow_executions`, read as they are needed. `size`: items of one page."""
        return self._items(
            "/v2/executions/{id}",
            accept="application/json",
            path={"id": id},
            query={"size": size},
        )

    def list_workflow_executions_page(
        self,
        id: int,
        page: int,
        *,
        size: int | None = None,
    ) -> models.ExecutionsResponse:
        """List the jobs of a workflow in their order: one page.

        Pages count from 0; the order is that in which the jobs run."""
        return cast("models.ExecutionsResponse", self._json(
            "GET",
            "/v2/executions/{id}/{page}",
            accept="application/json",
            path={"id": id, "page": page},
            query={"size": size},
        ))

    def list_workflows(
        self,
        *,
        size: int | None = None,
        status: Literal["Q", "R", "W", "T", "C", "F", "K", "E", "L"] | None = None,
        job_type: Literal["Schema", "Parse", "Write", "Unload", "Export", "Import"] | None = None,
        cfxml: str | None = None,
        since: int | None = None,
        until: int | None = None,
        cursor: str | None = None,
    ) -> models.WorkflowsResponse:
        """List workflows, newest first: the first page.

        Each request to run commands is a workflow; its jobs are given by their ids. `job_type` and `cfxml` select workflows with such a job. The `Link` header leads to the next page, and shows each workflow once while others are added."""
        return cast("models.WorkflowsResponse", self._json(
            "GET",
            "/v2/workflow/all",
            accept="application/json",
            query={"size": size, "status": status, "job_type": job_type, "cfxml": cfxml, "since": since, "until": until, "cursor": cursor},
        ))

    def iter_workflows(
        self,
        *,
        status: Literal["Q", "R", "W", "T", "C", "F", "K", "E", "L"] | None = None,
        job_type: Literal["Schema", "Parse", "Write", "Unload", "Export", "Import"] | None = None,
        cfxml: str | None = None,
        since: int | None = None,
        until: int | None = None,
        size: int = 100,
    ) -> Iterator[models.WorkflowShort]:
        """The items of all pages of `list_workflows`, read as they are needed. `size`: items of one page."""
        return self._items(
            "/v2/workflow/all",
            accept="application/json",
            query={"status": status, "job_type": job_type, "cfxml": cfxml, "since": since, "until": until, "size": size},
        )

    def list_workflows_page(
        self,
        page: int,
        *,
        size: int | None = None,
        status: Literal["Q", "R", "W", "T", "C", "F", "K", "E", "L"] | None = None,
        job_type: Literal["Schema", "Parse", "Write", "Unload", "Export", "Import"] | None = None,
        cfxml: str | None = None,
        since: int | None = None,
        until: int | None = None,
    ) -> models.WorkflowsResponse:
        """List workflows, newest first: one page.

        Pages count from 0; the newest workflow comes first."""
        return cast("models.WorkflowsResponse", self._json(
            "GET",
            "/v2/workflow/all/{page}",
            accept="application/json",
            path={"page": page},
            query={"size": size, "status": status, "job_type": job_type, "cfxml": cfxml, "since": since, "until": until},
        ))

    def read_workflow_name(
        self,
        id: int,
    ) -> models.GetWorkflowNameResponse:
        """Get the name of a workflow.

        The name from the request, or a name made by the service if the request had none."""
        return cast("models.GetWorkflowNameResponse", self._json(
            "GET",
            "/v2/workflow/getName/{id}",
            accept="application/json",
            path={"id": id},
        ))

    def get_workflow(
        self,
        id: int,
    ) -> models.Workflow:
        """Get a workflow with its jobs.

        Its state, the numbers of completed and failed jobs, and the records of all jobs."""
        return cast("models.Workflow", self._json(
            "GET",
            "/v2/workflow/{id}",
            accept="application/json",
            path={"id": id},
        ))

    def create_watch(
        self,
        body: models.NewWatch,
        *,
        idempotency_key: str | None = None,
    ) -> models.Watch:
        """Watch a location for new documents.

        Objects that are new at the location, by name and version, become jobs of `xml2er`: each is loaded once, when it has not changed for `settle`. `every` is a duration (`1s`, `5m`, `1h`) or five fields of cron in UTC."""
        return cast("models.Watch", self._json(
            "POST",
            "/v2/watches",
            accept="application/json",
            headers={"Idempotency-Key": idempotency_key or new_key()},
            json=body,
        ))

    def list_watches(
        self,
        *,
        size: int | None = None,
        page: int | None = None,
    ) -> models.WatchPage:
        """List watches, oldest first.

        The location and the next check of each watch, and the numbers of waiting, loaded and rejected files."""
        return cast("models.WatchPage", self._json(
            "GET",
            "/v2/watches",
            accept="application/json",
            query={"size": size, "page": page},
        ))

    def iter_watches(
        self,
        *,
        size: int = 100,
    ) -> Iterator[models.Watch]:
        """The items of all pages of `list_watches`, read as they are needed. `size`: items of one page."""
        return self._items(
            "/v2/watches",
            accept="application/json",
            query={"size": size, "page": 0},
        )

    def get_watch(
        self,
        id: int,
    ) -> models.Watch:
        """Get one watch.

        `next_run` is the time of the next check; `files.waiting`, `waiting_bytes` and `waiting_since` show the backlog, `stalled` its reason."""
        return cast("models.Watch", self._json(
            "GET",
            "/v2/watches/{id}",
            accept="application/json",
            path={"id": id},
        ))

    def change_watch(
        self,
        id: int,
        body: models.WatchChange,
    ) -> models.Watch:
        """Change, pause or resume a watch.

        Its list of files is kept. `{"paused": true}` pauses it, but a running job continues; `{"paused": false}` resumes it, also after `on_drift` has paused it."""
        return cast("models.Watch", self._json(
            "PATCH",
            "/v2/watches/{id}",
            accept="application/json",
            path={"id": id},
            json=body,
        ))

    def remove_watch(
        self,
        id: int,
    ) -> None:
        """Remove a watch.

        Its list of files is removed, too: another watch of the same location loads all files. Jobs and rows stay, and a running job continues."""
        self._nothing(
            "DELETE",
            "/v2/watches/{id}",
            accept="*/*",
            path={"id": id},
        )

    def run_watch(
        self,
        id: int,
        body: models.WatchRun,
    ) -> models.Watch:
        """Check the location now, and retry rejected files.

        The body is optional. The request returns at once: the location is checked within moments, and files are loaded when they have settled. Refused while the watch is paused."""
        return cast("models.Watch", self._json(
            "POST",
            "/v2/watches/{id}/run",
            accept="application/json",
            path={"id": id},
            json=body,
        ))

    def list_watch_files(
        self,
        id: int,
        *,
        size: int | None = None,
        page: int | None = None,
        status: Literal["waiting", "loading", "loaded", "rejected", "ignored", "replaced"] | None = None,
    ) -> models.WatchFilePage:
        """List the files of a watch, the newest first.

        `waiting` for it to settle or for its turn, `loading` in a job, `loaded`, `rejected` with its `reason`, or `ignored`: removed, replaced, or with content that was already loaded under that name."""
        return cast("models.WatchFilePage", self._json(
            "GET",
            "/v2/watches/{id}/files",
            accept="application/json",
            path={"id": id},
            query={"size": size, "page": page, "status": status},
        ))

    def iter_watch_files(
        self,
        id: int,
        *,
        status: Literal["waiting", "loading", "loaded", "rejected", "ignored", "replaced"] | None = None,
        size: int = 100,
    ) -> Iterator[models.WatchFile]:
        """The items of all pages of `list_watch_files`, read as they are needed. `size`: items of one page."""
        return self._items(
            "/v2/watches/{id}/files",
            accept="application/json",
            path={"id": id},
            query={"status": status, "size": size, "page": 0},
        )

    def remove_file(
        self,
        *,
        path: str,
    ) -> None:
        """Remove a file.

        By the path that the upload returned. 404 if the file does not exist."""
        self._nothing(
            "DELETE",
            "/v2/file",
            accept="*/*",
            query={"path": path},
        )

    def create_upload_token(
        self,
        body: models.UploadTokenRequest,
        *,
        idempotency_key: str | None = None,
    ) -> models.UploadToken:
        """Get a token for one upload.

        The token goes into the address of one upload, so that a browser or a script without the key can send the file. It is valid once, for five minutes, for the given kind of file."""
        return cast("models.UploadToken", self._json(
            "POST",
            "/v2/file/upload/token",
            accept="application/json",
            headers={"Idempotency-Key": idempotency_key or new_key()},
            json=body,
        ))

    def upload_xml(
        self,
        content: Content,
        *,
        token: str,
        name: str | None = None,
    ) -> models.StoredPath:
        """Upload one XML file, or an archive of them.

        The body is the bytes of the file, whatever the content type. The token alone authorises the upload. Generated clients that take JSON where they can are told application/octet-stream as the content type of this call."""
        return cast("models.StoredPath", self._json(
            "POST",
            "/v2/file/upload/xml",
            accept="application/json",
            query={"token": token, "name": name},
            content=content,
        ))

    def upload_xsd(
        self,
        content: Content,
        *,
        token: str,
        name: str | None = None,
    ) -> models.StoredPath:
        """Upload one XSD file, or an archive of them.

        The body is the bytes of the file, whatever the content type. The token alone authorises the upload. Generated clients that take JSON where they can are told application/octet-stream as the content type of this call."""
        return cast("models.StoredPath", self._json(
            "POST",
            "/v2/file/upload/xsd",
            accept="application/json",
            query={"token": token, "name": name},
            content=content,
        ))

    def export_schema(
        self,
        body: models.ExportSchemaRequest,
        *,
        idempotency_key: str | None = None,
    ) -> models.ExportedSchema:
        """Export a schema.

        Source models, files, logical schemas, mappings with their activation, statistics, keys and diagrams of every version. `error` true: the run failed; the log of the service has the reason, under the request id."""
        return cast("models.ExportedSchema", self._json(
            "POST",
            "/v2/schema/export",
            accept="application/json",
            headers={"Idempotency-Key": idempotency_key or new_key()},
            json=body,
        ))

    def import_schema(
        self,
        body: models.ImportSchemaRequest,
        *,
        idempotency_key: str | None = None,
    ) -> models.ImportedSchemas:
        """Import a schema.

        Everything is checked first, then stored in one transaction under new ids. A name that is already in use gets a number. `error` true: the run failed and nothing was changed; the log of the service has the reason, under the request id."""
        return cast("models.ImportedSchemas", self._json(
            "POST",
            "/v2/schema/import",
            accept="application/json",
            headers={"Idempotency-Key": idempotency_key or new_key()},
            json=body,
        ))

    def create_schema(
        self,
        body: models.CreateSchemaRequest,
        *,
        idempotency_key: str | None = None,
    ) -> models.SchemaDetails:
        """Make a schema from uploaded files.

        Compiled in a separate process with limits on time and memory. References between files are resolved only among the given files."""
        return cast("models.SchemaDetails", self._json(
            "POST",
            "/v2/schema/create",
            accept="application/json",
            headers={"Idempotency-Key": idempotency_key or new_key()},
            json=body,
        ))

    def list_schemas(
        self,
        *,
        page: int | None = None,
        size: int | None = None,
    ) -> list[models.XMLSchema]:
        """List schemas.

        Every version of every schema of the organisation, each with the logical schema that the last load used."""
        return cast("list[models.XMLSchema]", self._json(
            "GET",
            "/v2/schema/all",
            accept="application/json",
            query={"page": page, "size": size},
        ))

    def iter_schemas(
        self,
        *,
        size: int = 100,
    ) -> Iterator[models.XMLSchema]:
        """The items of all pages of `list_schemas`, read as they are needed. `size`: items of one page."""
        return self._items(
            "/v2/schema/all",
            accept="application/json",
            query={"size": size, "page": 0},
        )

    def get_schema_max_length(
        self,
        id_sch: int,
        *,
        id_lschma: int | None = None,
    ) -> models.SchemaShortInfoResponse:
        """Get the limit on names, and the longest name.

        Names of tables and columns are shortened to that limit in bytes (`--name-max-len`), so that no database cuts them."""
        return cast("models.SchemaShortInfoResponse", self._json(
            "GET",
            "/v2/schema/get/max/length/{idSch}",
            accept="application/json",
            path={"idSch": id_sch},
            query={"id_lschma": id_lschma},
        ))

    def get_schema_ddl(
        self,
        id_sch: int,
        *,
        id_lschma: int | None = None,
        dialect: Literal["postgresql", "duckdb", "sqlite", "mysql", "sqlserver", "oracle", "snowflake", "bigquery", "redshift", "databricks", "trino", "clickhouse"] | None = None,
        codes: Literal["none", "table", "check"] | None = None,
    ) -> str:
        """Get the DDL of a schema.

        Every table and column is commented with its XPath. With `codes=table` the values that the schema enumerates are rows of a table `_codes` (type, code, label, documentation); with `codes=check` enumerated columns have checks, too, which are written for PostgreSQL."""
        return self._text(
            "GET",
            "/v2/schema/ddl/{idSch}",
            accept="text/plain",
            path={"idSch": id_sch},
            query={"id_lschma": id_lschma, "dialect": dialect, "codes": codes},
        )

    def get_schema_views(
        self,
        id_sch: int,
        *,
        id_lschma: int | None = None,
        dialect: Literal["postgresql", "duckdb", "sqlite", "mysql", "sqlserver", "oracle", "snowflake", "bigquery", "redshift", "databricks", "trino", "clickhouse"] | None = None,
    ) -> str:
        """Get views of the business entities of a schema.

        CREATE VIEW statements, one for each entity: a table whose rows repeat and have many values. A view has a row for each row of its table, with the name of the document, identifiers and dates of the rows above, all values of the rows themselves, amounts with the sign of their credit or debit indicator, names and identifiers of child rows that occur once (parties by their role), and repeated child texts joined by line ends. The comment of a view describes its rows."""
        return self._text(
            "GET",
            "/v2/schema/views/{idSch}",
            accept="text/plain",
            path={"idSch": id_sch},
            query={"id_lschma": id_lschma, "dialect": dialect},
        )

    def export_schema_as(
        self,
        id_sch: int,
        *,
        format: Literal["dbt", "odcs", "mermaid", "dbml", "frictionless", "jsonschema", "avro"],
        id_lschma: int | None = None,
    ) -> bytes:
        """Get a schema as metadata for other tools.

        The tables of a logical schema with their columns, keys, references, meanings (path and documentation) and, if the schema enumerates them, the allowed values. JSON Schema and Avro are sent as text unless `Accept` prefers JSON."""
        return self._bytes(
            "GET",
            "/v2/schema/export_as/{idSch}",
            accept="*/*",
            path={"idSch": id_sch},
            query={"id_lschma": id_lschma, "format": format},
        )

    def get_schema_dictionary(
        self,
        id_sch: int,
        *,
        id_lschma: int | None = None,
        format: Literal["xlsx", "md"] | None = None,
    ) -> bytes:
        """Get the data dictionary of a schema.

        `Accept` or `format` chooses a workbook (the default) or Markdown. Every column of every table: its name in the business and its definition, as far as the source documents them, path, type (of PostgreSQL), key, codes if the schema enumerates them, and, if documents were read, a sample and the share of rows in which it is NULL. A sample is the least value; with `--no-samples` there is none. A separate sheet or section lists each enumerated type: code, label, documentation."""
        return self._bytes(
            "GET",
            "/v2/schema/dictionary/{idSch}",
            accept="*/*",
            path={"idSch": id_sch},
            query={"id_lschma": id_lschma, "format": format},
        )

    def list_schema_family(
        self,
        id_sch: int,
    ) -> list[models.XMLSchema]:
        """List the versions of a schema.

        A schema and all its versions (`--parent`), the oldest first. Names of tables and columns stay the same between versions."""
        return cast("list[models.XMLSchema]", self._json(
            "GET",
            "/v2/schema/family/{idSch}",
            accept="application/json",
            path={"idSch": id_sch},
        ))

    def generate_schema(
        self,
        id_sch: int,
    ) -> None:
        """Make the next logical schema.

        Made from the source model, the statistics and the activation of mappings, with the options of the present default. If nothing has changed, the present one is returned."""
        self._nothing(
            "GET",
            "/v2/schema/generate/{idSch}",
            accept="*/*",
            path={"idSch": id_sch},
        )

    def generate_schema_within(
        self,
        id_sch: int,
        max_len: int,
    ) -> None:
        """Make the next logical schema, with names of limited length.

        Made from the source model, the statistics and the activation of mappings, with the options of the present default. If nothing has changed, the present one is returned."""
        self._nothing(
            "GET",
            "/v2/schema/generate/{idSch}/{maxLen}",
            accept="*/*",
            path={"idSch": id_sch, "maxLen": max_len},
        )

    def remove_schema(
        self,
        id: int,
    ) -> None:
        """Remove a schema.

        Removes its logical schemas, mappings and statistics, too. Loaded rows stay in their targets. Refused while a running or queued job uses it."""
        self._nothing(
            "DELETE",
            "/v2/schema/{id}",
            accept="*/*",
            path={"id": id},
        )

    def get_schema(
        self,
        id: int,
        *,
        id_lschma: int | None = None,
    ) -> models.XMLSchema:
        """Get a schema.

        The source schema, with the logical schema that the last load used (before any load, and after `schema/generate`, the newest), or the one that `id_lschma` names."""
        return cast("models.XMLSchema", self._json(
            "GET",
            "/v2/schema/{id}",
            accept="application/json",
            path={"id": id},
            query={"id_lschma": id_lschma},
        ))

    def remove_target(
        self,
        *,
        name: str,
    ) -> None:
        """Remove a target of the metadata database.

        Drops the SQL schema `metadb:NAME` with all its rows and frees the name. Refused while a job loads into it."""
        self._nothing(
            "DELETE",
            "/v2/target",
            accept="*/*",
            query={"name": name},
        )

    def list_target_rows(
        self,
        *,
        target: str,
        table: str,
        page: int | None = None,
        size: int | None = None,
    ) -> models.TargetRowPage:
        """List rows of a table.

        Rows of a table or view of a target that a job of the organisation loaded, ordered by the row key, or by all columns if the table has none. A page has at most 8 MiB of rows and 10 seconds; otherwise the status is 422. Targets on other servers and in buckets are not read: 422."""
        return cast("models.TargetRowPage", self._json(
            "GET",
            "/v2/target/rows",
            accept="application/json",
            query={"target": target, "table": table, "page": page, "size": size},
        ))

    def iter_target_rows(
        self,
        *,
        target: str,
        table: str,
        size: int = 100,
    ) -> Iterator[models.RowValues]:
        """The items of all pages of `list_target_rows`, read as they are needed. `size`: items of one page."""
        return self._items(
            "/v2/target/rows",
            accept="application/json",
            query={"target": target, "table": table, "size": size, "page": 0},
        )

    def query_target(
        self,
        body: models.TargetQuery,
    ) -> models.TargetQueryResult:
        """Query a target.

        Runs one SELECT in the SQL of the target: PostgreSQL for `metadb:`, SQLite for `sqlite:`, DuckDB for `duckdb:` and for folders, whose files are its tables. It may read the tables and views of the target, and use functions that compute with their values; 400 for anything else, with the message of the database, the place and its hint. It may take 10 seconds; otherwise the status is 422. The answer has at most 1000 rows and 8 MiB; `truncated` says that there are more."""
        return cast("models.TargetQueryResult", self._json(
            "POST",
            "/v2/target/query",
            accept="application/json",
            json=body,
        ))

    def activate_mappings(
        self,
        body: models.ActivateMappingRequest,
    ) -> models.ActivateMappingResponse:
        """Switch mappings on.

        All or nothing. The elements above are switched on, too. The target gets the content after the next `schema/generate`."""
        return cast("models.ActivateMappingResponse", self._json(
            "POST",
            "/v2/mapping/activate",
            accept="application/json",
            json=body,
        ))

    def deactivate_mappings(
        self,
        body: models.DeactivateMappingRequest,
    ) -> models.DeactivateMappingResponse:
        """Switch mappings off.

        All or nothing; key columns are refused. After the next `schema/generate` the target does not get the content, and loads count it as ignored. If several paths lead to one place of the model, its content is omitted once all of them are off."""
        return cast("models.DeactivateMappingResponse", self._json(
            "POST",
            "/v2/mapping/deactivate",
            accept="application/json",
            json=body,
        ))

    def list_mappings(
        self,
        id_sch: int,
        *,
        id_lschma: int | None = None,
    ) -> list[models.Mapping]:
        """List the mappings of a schema.

        Each line maps an element or attribute (`xpath`) to a table and column. Streamed: a large standard has tens of thousands of lines."""
        return cast("list[models.Mapping]", self._json(
            "GET",
            "/v2/mapping/get/{idSch}",
            accept="application/json",
            path={"idSch": id_sch},
            query={"id_lschma": id_lschma},
        ))

    def list_mapping_statistics(
        self,
        id_sch: int,
        *,
        id_lschma: int | None = None,
        page: int | None = None,
        size: int | None = None,
    ) -> list[models.StatsMapping]:
        """List the statistics of documents for each mapping.

        The statistics of all runs together, joined with the map by path."""
        return cast("list[models.StatsMapping]", self._json(
            "GET",
            "/v2/mapping/get_stats/{idSch}",
            accept="application/json",
            path={"idSch": id_sch},
            query={"id_lschma": id_lschma, "page": page, "size": size},
        ))

    def iter_mapping_statistics(
        self,
        id_sch: int,
        *,
        id_lschma: int | None = None,
        size: int = 100,
    ) -> Iterator[models.StatsMapping]:
        """The items of all pages of `list_mapping_statistics`, read as they are needed. `size`: items of one page."""
        return self._items(
            "/v2/mapping/get_stats/{idSch}",
            accept="application/json",
            path={"idSch": id_sch},
            query={"id_lschma": id_lschma, "size": size, "page": 0},
        )

    def download_mappings(
        self,
        id_sch: int,
        *,
        id_lschma: int | None = None,
        format: Literal["xlsx", "csv", "json"] | None = None,
    ) -> bytes:
        """Download the source-to-target map.

        `Accept` or `format` chooses a workbook (the default), CSV or JSON. Cells that a spreadsheet program would run as formulas are escaped by an apostrophe. A workbook (xlsx) has the mappings first, then a sheet of the tables and one of the values that the schema enumerates, with their type, label and meaning; content that is too long for a sheet continues on further sheets."""
        return self._bytes(
            "GET",
            "/v2/mapping/download/{idSch}",
            accept="*/*",
            path={"idSch": id_sch},
            query={"id_lschma": id_lschma, "format": format},
        )

    def list_mapping_statistics_of_job(
        self,
        id_sch: int,
        id_job: int,
        *,
        id_lschma: int | None = None,
        page: int | None = None,
        size: int | None = None,
    ) -> list[models.StatsMapping]:
        """List the statistics of the documents of one job for each mapping.

        For an imported schema, the import job (`id_job` of the schema) has the statistics of all jobs in the package."""
        return cast("list[models.StatsMapping]", self._json(
            "GET",
            "/v2/mapping/get_stats/{idSch}/{idJob}",
            accept="application/json",
            path={"idSch": id_sch, "idJob": id_job},
            query={"id_lschma": id_lschma, "page": page, "size": size},
        ))

    def iter_mapping_statistics_of_job(
        self,
        id_sch: int,
        id_job: int,
        *,
        id_lschma: int | None = None,
        size: int = 100,
    ) -> Iterator[models.StatsMapping]:
        """The items of all pages of `list_mapping_statistics_of_job`, read as they are needed. `size`: items of one page."""
        return self._items(
            "/v2/mapping/get_stats/{idSch}/{idJob}",
            accept="application/json",
            path={"idSch": id_sch, "idJob": id_job},
            query={"id_lschma": id_lschma, "size": size, "page": 0},
        )

    def compare_mappings(
        self,
        from_: int,
        to: int,
        *,
        all: Literal["true", "false"] | None = None,
        from_lschma: int | None = None,
        to_lschma: int | None = None,
    ) -> list[models.MappingComparison]:
        """Compare the mappings of two schemas.

        By path: lines that only one of the two has, and lines that differ, with their differences. For two versions, it shows how an update of the standard changes the tables."""
        return cast("list[models.MappingComparison]", self._json(
            "GET",
            "/v2/mapping/compare/{from}/{to}",
            accept="application/json",
            path={"from": from_, "to": to},
            query={"all": all, "from_lschma": from_lschma, "to_lschma": to_lschma},
        ))

    def save_diagram(
        self,
        body: models.SvgRequest,
    ) -> None:
        """Keep a drawing of a schema.

        It is stored with the newest logical schema, replacing an earlier drawing, and is also shown for later logical schemas."""
        self._nothing(
            "POST",
            "/v2/diagram/svg",
            accept="*/*",
            json=body,
        )

    def get_diagram(
        self,
        id_sch: int,
        *,
        id_lschma: int | None = None,
    ) -> models.Diagram:
        """Get the diagram of a schema.

        By `Accept`: its data as JSON, or the drawing as SVG: the saved one, if there is one."""
        return cast("models.Diagram", self._json(
            "GET",
            "/v2/diagram/get/{idSch}",
            accept="application/json",
            path={"idSch": id_sch},
            query={"id_lschma": id_lschma},
        ))

    def get_diagram_svg(
        self,
        id_sch: int,
        *,
        id_lschma: int | None = None,
    ) -> str:
        """Get the diagram of a schema.

        By `Accept`: its data as JSON, or the drawing as SVG: the saved one, if there is one."""
        return self._text(
            "GET",
            "/v2/diagram/get/{idSch}",
            accept="image/svg+xml",
            path={"idSch": id_sch},
            query={"id_lschma": id_lschma},
        )

    def list_cil_jobs(
        self,
        *,
        size: int | None = None,
        status: Literal["Q", "R", "W", "T", "C", "F", "K", "E", "L"] | None = None,
        job_type: Literal["Schema", "Parse", "Write", "Unload", "Export", "Import"] | None = None,
        cfxml: str | None = None,
        since: int | None = None,
        until: int | None = None,
        cursor: str | None = None,
    ) -> models.CILJobsDto:
        """List runs of all feeds, newest first: the first page.

        A feed is a schema; its runs are the jobs that loaded any of its versions. The `Link` header leads to the next page, and shows each run once while others are added."""
        return cast("models.CILJobsDto", self._json(
            "GET",
            "/v2/extensions/cil/jobs",
            accept="application/json",
            query={"size": size, "status": status, "job_type": job_type, "cfxml": cfxml, "since": since, "until": until, "cursor": cursor},
        ))

    def iter_cil_jobs(
        self,
        *,
        status: Literal["Q", "R", "W", "T", "C", "F", "K", "E", "L"] | None = None,
        job_type: Literal["Schema", "Parse", "Write", "Unload", "Export", "Import"] | None = None,
        cfxml: str | None = None,
        since: int | None = None,
        until: int | None = None,
        size: int = 100,
    ) -> Iterator[models.CILJob]:
        """The items of all pages of `list_cil_jobs`, read as they are needed. `size`: items of one page."""
        return self._items(
            "/v2/extensions/cil/jobs",
            accept="application/json",
            query={"status": status, "job_type": job_type, "cfxml": cfxml, "since": since, "until": until, "size": size},
        )

    def list_cil_mappings(
        self,
        *,
        page: int | None = None,
        size: int | None = None,
    ) -> list[models.CILMapping]:
        """List the tables that all feeds load.

        One line for each table of each feed, with the path whose elements are its rows."""
        return cast("list[models.CILMapping]", self._json(
            "GET",
            "/v2/extensions/cil/mappings",
            accept="application/json",
            query={"page": page, "size": size},
        ))

    def iter_cil_mappings(
        self,
        *,
        size: int = 100,
    ) -> Iterator[models.CILMapping]:
        """The items of all pages of `list_cil_mappings`, read as they are needed. `size`: items of one page."""
        return self._items(
            "/v2/extensions/cil/mappings",
            accept="application/json",
            query={"size": size, "page": 0},
        )

    def list_cil_sequences(
        self,
        *,
        page: int | None = None,
        size: int | None = None,
    ) -> list[models.CILSequence]:
        """List the surrogate-key sequences of all feeds.

        The highest assigned row key of each table. The next load continues from it."""
        return cast("list[models.CILSequence]", self._json(
            "GET",
            "/v2/extensions/cil/sequences",
            accept="application/json",
            query={"page": page, "size": size},
        ))

    def iter_cil_sequences(
        self,
        *,
        size: int = 100,
    ) -> Iterator[models.CILSequence]:
        """The items of all pages of `list_cil_sequences`, read as they are needed. `size`: items of one page."""
        return self._items(
            "/v2/extensions/cil/sequences",
            accept="application/json",
            query={"size": size, "page": 0},
        )

    def update_cil_keys(
        self,
        body: models.UpdateKeysRequest,
    ) -> None:
        """Declare or drop natural keys.

        All or nothing. The next DDL has their unique constraints."""
        self._nothing(
            "POST",
            "/v2/extensions/cil/keys/update",
            accept="*/*",
            json=body,
        )

    def count_cil_mappings(
        self,
    ) -> models.CILMappingGroups:
        """Count the mappings of each group.

        How many tables each feed has, for an overview."""
        return cast("models.CILMappingGroups", self._json(
            "GET",
            "/v2/extensions/cil/mapping/group",
            accept="application/json",
        ))

    def list_cil_jobs_page(
        self,
        page: int,
        *,
        size: int | None = None,
        status: Literal["Q", "R", "W", "T", "C", "F", "K", "E", "L"] | None = None,
        job_type: Literal["Schema", "Parse", "Write", "Unload", "Export", "Import"] | None = None,
        cfxml: str | None = None,
        since: int | None = None,
        until: int | None = None,
    ) -> models.CILJobsDto:
        """List runs of all feeds, newest first: one page.

        Pages count from 0; the newest run comes first."""
        return cast("models.CILJobsDto", self._json(
            "GET",
            "/v2/extensions/cil/jobs/{page}",
            accept="application/json",
            path={"page": page},
            query={"size": size, "status": status, "job_type": job_type, "cfxml": cfxml, "since": since, "until": until},
        ))

    def get_cil_latest_job(
        self,
        cfxml: str,
    ) -> models.CILJobDetailsDto:
        """Get the latest run of a feed.

        The run that began last, whatever its result; 404 for a feed that was never loaded."""
        return cast("models.CILJobDetailsDto", self._json(
            "GET",
            "/v2/extensions/cil/job/{cfxml}",
            accept="application/json",
            path={"cfxml": cfxml},
        ))

    def list_cil_keys(
        self,
        page: int,
        *,
        size: int | None = None,
    ) -> models.KeysResponse:
        """List the keys of the tables of all feeds: one page.

        Keys of the tables with their columns, page by page from 0."""
        return cast("models.KeysResponse", self._json(
            "GET",
            "/v2/extensions/cil/keys/{page}",
            accept="application/json",
            path={"page": page},
            query={"size": size},
        ))

    def iter_cil_keys(
        self,
        *,
        size: int = 100,
    ) -> Iterator[models.CILKey]:
        """The items of all pages of `list_cil_keys`, read as they are needed. `size`: items of one page."""
        return self._items(
            "/v2/extensions/cil/keys/{page}",
            accept="application/json",
            path={"page": 0},
            query={"size": size},
        )

    def list_cil_mappings_of_feed(
        self,
        cfxml: str,
    ) -> list[models.CILMapping]:
        """List the tables that a feed loads.

        One line for each table, with the path whose elements are its rows."""
        return cast("list[models.CILMapping]", self._json(
            "GET",
            "/v2/extensions/cil/mapping/{cfxml}",
            accept="application/json",
            path={"cfxml": cfxml},
        ))

    def list_cil_sequences_of_feed(
        self,
        cfxml: str,
    ) -> list[models.CILSequence]:
        """List the surrogate-key sequences of a feed.

        The highest assigned row key of each table of this feed."""
        return cast("list[models.CILSequence]", self._json(
            "GET",
            "/v2/extensions/cil/sequence/{cfxml}",
            accept="application/json",
            path={"cfxml": cfxml},
        ))

    def get_cil_job(
        self,
        cfxml: str,
        pid: int,
    ) -> models.CILJobDetailsDto:
        """Get one run of a feed.

        The run by its process id, which is the id of its job: documents, rows and rejects of that run."""
        return cast("models.CILJobDetailsDto", self._json(
            "GET",
            "/v2/extensions/cil/job/{cfxml}/{pid}",
            accept="application/json",
            path={"cfxml": cfxml, "pid": pid},
        ))

    def list_cil_keys_of_feed(
        self,
        cfxml: str,
        page: int,
        *,
        size: int | None = None,
    ) -> models.KeysResponse:
        """List the keys of the tables of a feed: one page.

        Keys of the tables of this feed with their columns, page by page from 0."""
        return cast("models.KeysResponse", self._json(
            "GET",
            "/v2/extensions/cil/keys/{cfxml}/{page}",
            accept="application/json",
            path={"cfxml": cfxml, "page": page},
            query={"size": size},
        ))

    def iter_cil_keys_of_feed(
        self,
        cfxml: str,
        *,
        size: int = 100,
    ) -> Iterator[models.CILKey]:
        """The items of all pages of `list_cil_keys_of_feed`, read as they are needed. `size`: items of one page."""
        return self._items(
            "/v2/extensions/cil/keys/{cfxml}/{page}",
            accept="application/json",
            path={"cfxml": cfxml, "page": 0},
            query={"size": size},
        )

    def list_cil_lineage(
        self,
        cfxml: str,
        mapping: str,
    ) -> list[models.CILLineage]:
        """List the sources of the columns of a table.

        For each column of the table, the source path and the last run that loaded it."""
        return cast("list[models.CILLineage]", self._json(
            "GET",
            "/v2/extensions/cil/lineage/{cfxml}/{mapping}",
            accept="application/json",
            path={"cfxml": cfxml, "mapping": mapping},
        ))

    def create_api_key(
        self,
        body: models.NewApiKey,
        *,
        idempotency_key: str | None = None,
    ) -> models.IssuedApiKey:
        """Make an API key.

        Only this answer contains the key; the service stores only its hash. With `Idempotency-Key`, the answer is stored encrypted, and repetitions of the request get it too."""
        return cast("models.IssuedApiKey", self._json(
            "POST",
            "/v2/admin/keys",
            accept="application/json",
            headers={"Idempotency-Key": idempotency_key or new_key()},
            json=body,
        ))

    def list_api_keys(
        self,
    ) -> list[models.ApiKey]:
        """List API keys, oldest first.

        Names, scopes, and when each was made, ends or was revoked; never the keys themselves."""
        return cast("list[models.ApiKey]", self._json(
            "GET",
            "/v2/admin/keys",
            accept="application/json",
        ))

    def create_organisation(
        self,
        body: models.NewOrg,
        *,
        idempotency_key: str | None = None,
    ) -> models.Org:
        """Make an organisation.

        Only for keys of organisation 1."""
        return cast("models.Org", self._json(
            "POST",
            "/v2/admin/orgs",
            accept="application/json",
            headers={"Idempotency-Key": idempotency_key or new_key()},
            json=body,
        ))

    def list_organisations(
        self,
    ) -> list[models.Org]:
        """List organisations.

        Keys of organisation 1 see all organisations, other keys only their own."""
        return cast("list[models.Org]", self._json(
            "GET",
            "/v2/admin/orgs",
            accept="application/json",
        ))

    def list_audit(
        self,
        *,
        size: int | None = None,
    ) -> models.AuditPage:
        """Read the audit log, newest first: the first page.

        Changes, and requests refused because the key lacked a scope. Entries are never changed or removed."""
        return cast("models.AuditPage", self._json(
            "GET",
            "/v2/admin/audit",
            accept="application/json",
            query={"size": size},
        ))

    def iter_audit(
        self,
        *,
        size: int = 100,
    ) -> Iterator[models.AuditLine]:
        """The items of all pages of `list_audit`, read as they are needed. `size`: items of one page."""
        return self._items(
            "/v2/admin/audit",
            accept="application/json",
            query={"size": size},
        )

    def revoke_api_key(
        self,
        id_key: str,
    ) -> None:
        """End an API key.

        Permanent: in effect at once in this process, and within a second in all others. A key cannot revoke itself."""
        self._nothing(
            "DELETE",
            "/v2/admin/keys/{id_key}",
            accept="*/*",
            path={"id_key": id_key},
        )

    def list_audit_page(
        self,
        page: int,
        *,
        size: int | None = None,
    ) -> models.AuditPage:
        """Read the audit log, newest first: one page.

        Who did what and when. Pages count from 0."""
        return cast("models.AuditPage", self._json(
            "GET",
            "/v2/admin/audit/{page}",
            accept="application/json",
            path={"page": page},
            query={"size": size},
        ))

    def create_credential(
        self,
        body: models.NewCredential,
        *,
        idempotency_key: str | None = None,
    ) -> models.CredentialInfo:
        """Store a credential for remote inputs.

        Jobs of the caller’s organisation use it with `--credential NAME`. It is stored encrypted, and no operation returns it. Jobs can reach its hosts only if `svc.allow.hosts` allows it."""
        return cast("models.CredentialInfo", self._json(
            "POST",
            "/v2/admin/credentials",
            accept="application/json",
            headers={"Idempotency-Key": idempotency_key or new_key()},
            json=body,
        ))

    def list_credentials(
        self,
    ) -> list[models.CredentialInfo]:
        """List credentials by name.

        The credentials of the caller’s organisation: names and kinds, never secrets."""
        return cast("list[models.CredentialInfo]", self._json(
            "GET",
            "/v2/admin/credentials",
            accept="application/json",
        ))

    def remove_credential(
        self,
        name: str,
    ) -> None:
        """Remove a credential.

        Jobs that use it but have not begun to read will fail."""
        self._nothing(
            "DELETE",
            "/v2/admin/credentials/{name}",
            accept="*/*",
            path={"name": name},
        )

    def get_organisation(
        self,
    ) -> models.Org:
        """Get the organisation of the key.

        The organisation that the key belongs to. The other operations show only its data."""
        return cast("models.Org", self._json(
            "GET",
            "/v2/about/org",
            accept="application/json",
        ))

    def list_extensions(
        self,
    ) -> models.Extensions:
        """List extensions and settings of the tools.

        Extensions of this installation, and the settings of its tools."""
        return cast("models.Extensions", self._json(
            "GET",
            "/v2/extensions/list",
            accept="application/json",
        ))

    def get_actuator_links(
        self,
    ) -> models.ActuatorLinks:
        """List the operational endpoints.

        The operational endpoints in the format of Spring Boot Actuator, for monitoring tools that support it."""
        return cast("models.ActuatorLinks", self._json(
            "GET",
            "/actuator",
            accept="application/json",
        ))

    def get_metrics(
        self,
    ) -> str:
        """Read the metrics, in the text format of Prometheus.

        Requests by route and state, jobs by kind and state with their duration, rows and bytes, the age of the queue, and figures of the process. `svc_component_up` shows which components are up; while the database is down, metrics that come from it are absent. For keys of organisation 1 with the scope `metrics:read` or `admin`, and for the token of `svc.metrics.token`."""
        return self._text(
            "GET",
            "/actuator/prometheus",
            accept="text/plain",
        )

    def get_info(
        self,
    ) -> models.Info:
        """Get the build information.

        Name, version and build of the program."""
        return cast("models.Info", self._json(
            "GET",
            "/actuator/info",
            accept="application/json",
        ))

    def get_health(
        self,
    ) -> models.Health:
        """Get the health of the service.

        `UP` or `DOWN`, for the service and for each component. The status is 503 if a required component is down."""
        return cast("models.Health", self._json(
            "GET",
            "/actuator/health",
            accept="application/json",
        ))

    def list_metrics(
        self,
    ) -> models.MetricNames:
        """List the names of the metrics.

        The names that `/actuator/metrics/{name}` accepts."""
        return cast("models.MetricNames", self._json(
            "GET",
            "/actuator/metrics",
            accept="application/json",
        ))

    def get_environment(
        self,
    ) -> models.EnvironmentSources:
        """List the settings and their sources.

        Only values of defaults are shown; all others are masked."""
        return cast("models.EnvironmentSources", self._json(
            "GET",
            "/actuator/env",
            accept="application/json",
        ))

    def list_loggers(
        self,
    ) -> models.Loggers:
        """List the loggers and their levels.

        The service writes one log: `ROOT` is its level."""
        return cast("models.Loggers", self._json(
            "GET",
            "/actuator/loggers",
            accept="application/json",
        ))

    def get_logfile(
        self,
    ) -> str:
        """Read the log of the service.

        The last 1 MiB that this process wrote to its log, one JSON object per line. `Range` requests a part, by bytes from the start of the process."""
        return self._text(
            "GET",
            "/actuator/logfile",
            accept="text/plain",
        )

    def get_health_component(
        self,
        component: str,
    ) -> models.Health:
        """Get the health of a component or of a group.

        The groups `liveness` and `readiness` need no credentials; a component needs a key of organisation 1 with the scope `metrics:read` or `admin`."""
        return cast("models.Health", self._json(
            "GET",
            "/actuator/health/{component}",
            accept="application/json",
            path={"component": component},
        ))

    def get_metric(
        self,
        name: str,
        *,
        tag: list[str] | None = None,
    ) -> models.Metric:
        """Read one metric.

        `tag` restricts the metric to samples with that tag; it may be repeated."""
        return cast("models.Metric", self._json(
            "GET",
            "/actuator/metrics/{name}",
            accept="application/json",
            path={"name": name},
            query={"tag": tag},
        ))

    def get_environment_setting(
        self,
        name: str,
    ) -> models.EnvironmentSetting:
        """Get the source of a setting.

        The source of the setting: a file, the environment or the default. Every value that is not a default is masked."""
        return cast("models.EnvironmentSetting", self._json(
            "GET",
            "/actuator/env/{name}",
            accept="application/json",
            path={"name": name},
        ))

    def get_logger(
        self,
        name: str,
    ) -> models.LoggerLevel:
        """Read the level of a logger.

        The configured and the effective level of the log."""
        return cast("models.LoggerLevel", self._json(
            "GET",
            "/actuator/loggers/{name}",
            accept="application/json",
            path={"name": name},
        ))

    def set_logger_level(
        self,
        name: str,
        body: models.LevelRequest,
    ) -> None:
        """Set the level of a logger.

        The level is in effect until the process ends. Only for keys of organisation 1."""
        self._nothing(
            "POST",
            "/actuator/loggers/{name}",
            accept="*/*",
            path={"name": name},
            json=body,
        )

    def get_health_component_of_group(
        self,
        group: str,
        component: str,
    ) -> models.Health:
        """Get the health of a component of a group.

        The health of one component of `liveness` or `readiness`."""
        return cast("models.Health", self._json(
            "GET",
            "/actuator/health/{group}/{component}",
            accept="application/json",
            path={"group": group, "component": component},
        ))

    def get_error_view(
        self,
    ) -> models.ErrorAttributes:
        """Show the error view (GET).

        A page without a fault behind it, the same for every method: status 999, as gateways that ask for it expect."""
        return cast("models.ErrorAttributes", self._json(
            "GET",
            "/error",
            accept="application/json",
        ))

    def put_error_view(
        self,
    ) -> models.ErrorAttributes:
        """Show the error view (PUT).

        A page without a fault behind it, the same for every method: status 999, as gateways that ask for it expect."""
        return cast("models.ErrorAttributes", self._json(
            "PUT",
            "/error",
            accept="application/json",
        ))

    def post_error_view(
        self,
    ) -> models.ErrorAttributes:
        """Show the error view (POST).

        A page without a fault behind it, the same for every method: status 999, as gateways that ask for it expect."""
        return cast("models.ErrorAttributes", self._json(
            "POST",
            "/error",
            accept="application/json",
        ))

    def delete_error_view(
        self,
    ) -> models.ErrorAttributes:
        """Show the error view (DELETE).

        A page without a fault behind it, the same for every method: status 999, as gateways that ask for it expect."""
        return cast("models.ErrorAttributes", self._json(
            "DELETE",
            "/error",
            accept="application/json",
        ))

    def options_error_view(
        self,
    ) -> models.ErrorAttributes:
        """Show the error view (OPTIONS).

        A page without a fault behind it, the same for every method: status 999, as gateways that ask for it expect."""
        return cast("models.ErrorAttributes", self._json(
            "OPTIONS",
            "/error",
            accept="application/json",
        ))

    def head_error_view(
        self,
    ) -> None:
        """Show the error view (HEAD).

        A page without a fault behind it, the same for every method: status 999, as gateways that ask for it expect."""
        self._nothing(
            "HEAD",
            "/error",
            accept="*/*",
        )

    def patch_error_view(
        self,
    ) -> models.ErrorAttributes:
        """Show the error view (PATCH).

        A page without a fault behind it, the same for every method: status 999, as gateways that ask for it expect."""
        return cast("models.ErrorAttributes", self._json(
            "PATCH",
            "/error",
            accept="application/json",
        ))

    def trace_error_view(
        self,
    ) -> models.ErrorAttributes:
        """Show the error view (TRACE).

        A page without a fault behind it, the same for every method: status 999, as gateways that ask for it expect."""
        return cast("models.ErrorAttributes", self._json(
            "TRACE",
            "/error",
            accept="application/json",
        ))

    def get_service_index(
        self,
    ) -> models.ServiceIndex:
        """Open the page, or list the paths of further operations.

        A page for browsers if `Accept` has text/html and `svc.ui.enabled` is on; otherwise the paths of the API description and of the health operation."""
        return cast("models.ServiceIndex", self._json(
            "GET",
            "/",
            accept="application/json",
        ))

    def list_problem_kinds(
        self,
    ) -> list[models.ProblemKind]:
        """List the error codes.

        Every `code` of a problem document, with what it means and what to do."""
        return cast("list[models.ProblemKind]", self._json(
            "GET",
            "/doc/problems",
            accept="application/json",
        ))

    def get_problem_kind(
        self,
        code: str,
    ) -> models.ProblemKind:
        """Read what an error code means.

        What the error code means, and what to do. `help` of a problem document leads here."""
        return cast("models.ProblemKind", self._json(
            "GET",
            "/doc/problems/{code}",
            accept="application/json",
            path={"code": code},
        ))

    def get_interface_description(
        self,
    ) -> models.OpenApiDocument:
        """Read this description.

        A browsable page where `Accept` names text/html, else this OpenAPI document, which `/openapi.json` and `/openapi.yaml` give, too."""
        return cast("models.OpenApiDocument", self._json(
            "GET",
            "/doc",
            accept="application/json",
        ))

    def get_open_api_json(
        self,
    ) -> models.OpenApiDocument:
        """Get the OpenAPI document as JSON.

        The OpenAPI document, whatever `Accept` says. `servers` is relative to its address."""
        return cast("models.OpenApiDocument", self._json(
            "GET",
            "/openapi.json",
            accept="application/json",
        ))

    def get_open_api_yaml(
        self,
    ) -> None:
        """Get the OpenAPI document as YAML.

        The document of `/openapi.json` in YAML."""
        self._nothing(
            "GET",
            "/openapi.yaml",
            accept="*/*",
        )

    def get_webhook_description(
        self,
    ) -> models.OpenApiDocument:
        """Read the description of the calls that the service makes.

        An OpenAPI document of the calls that the service makes when jobs end: their bodies, signatures and retries."""
        return cast("models.OpenApiDocument", self._json(
            "GET",
            "/doc/webhooks",
            accept="application/json",
        ))

    def get_interface_description_asset(
        self,
        asset: str,
    ) -> bytes:
        """Get a file of the browsable page.

        Scripts and styles of the browsable page. Under a name with its digest, as the page has it, a file may be cached for ever."""
        return self._bytes(
            "GET",
            "/doc/{asset}",
            accept="*/*",
            path={"asset": asset},
        )
