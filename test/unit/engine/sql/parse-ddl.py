"""Reads {dialect: DDL} as JSON, parses each with sqlglot, writes what was understood as JSON."""
import json
import sys

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel

NAMES = {"sqlserver": "tsql", "postgresql": "postgres"}


def understood(statement):
    if isinstance(statement, exp.Create) and statement.kind == "TABLE":
        schema = statement.this
        columns = [part for part in schema.expressions if isinstance(part, exp.ColumnDef)]
        return {
            "kind": "table",
            "name": schema.this.name,
            "columns": [
                {
                    "name": column.name,
                    "type": column.args["kind"].this.name,
                    "comment": any(
                        isinstance(part.kind, exp.CommentColumnConstraint) for part in column.args["constraints"]
                    )
                    or "OPTIONS" in column.sql(dialect="bigquery"),
                }
                for column in columns
            ],
            "primary_keys": len(list(schema.find_all(exp.PrimaryKey))),
            "foreign_keys": len(list(schema.find_all(exp.ForeignKey))),
        }
    return {"kind": type(statement).__name__}


def main():
    answer = {}
    for dialect, ddl in json.load(sys.stdin).items():
        try:
            parsed = sqlglot.parse(ddl, read=NAMES.get(dialect, dialect), error_level=ErrorLevel.RAISE)
            answer[dialect] = [understood(statement) for statement in parsed if statement is not None]
        except sqlglot.errors.SqlglotError as error:
            answer[dialect] = str(error)
    json.dump(answer, sys.stdout)


main()
