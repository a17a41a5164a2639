"""Runs a script of SQL in ClickHouse, then queries. Reads {"script": [...], "queries": [...]} as JSON, writes the rows of each query."""
import json
import sys

from chdb import session


def main():
    asked = json.load(sys.stdin)
    clickhouse = session.Session()
    for statement in ["CREATE DATABASE loaded", "USE loaded", *asked["script"]]:
        clickhouse.query(statement)
    rows = []
    for query in asked["queries"]:
        text = str(clickhouse.query(query, "JSONStringsEachRow"))
        rows.append([json.loads(line) for line in text.splitlines()])
    json.dump(rows, sys.stdout)


main()
