"""What dlt makes of rounds of orders: its delete-insert and its SCD2, in DuckDB; read back by its keys, and printed as JSON."""

import json
import os
import sys

folder = sys.argv[1]
os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
os.environ["RUNTIME__LOG_LEVEL"] = "ERROR"
os.environ["DLT_DATA_DIR"] = folder
os.environ["TZ"] = "UTC"

import dlt  # noqa: E402
import duckdb  # noqa: E402

NESTED = ["orders__tags", "orders__lines", "orders__lines__parts", "orders__lines__parts__parts"]


def pipeline(name):
    destination = dlt.destinations.duckdb(os.path.join(folder, name + ".duckdb"))
    return dlt.pipeline(name, pipelines_dir=folder, destination=destination, dataset_name="lake")


def tables_of(name):
    """Rows of each table, as dictionaries, of the nested ones by the key of their parent and in their order."""
    with duckdb.connect(os.path.join(folder, name + ".duckdb"), read_only=True) as database:
        found = {row[0] for row in database.execute("select table_name from duckdb_tables() where schema_name = 'lake'").fetchall()}

        def rows(table):
            if table not in found:
                return []
            result = database.execute(f'select * from lake."{table}"')
            columns = [column[0] for column in result.description]
            return [dict(zip(columns, row)) for row in result.fetchall()]

        children = {}
        for table in NESTED:
            for row in rows(table):
                children.setdefault((table, row["_dlt_parent_id"]), []).append(row)
        for listed in children.values():
            listed.sort(key=lambda row: row["_dlt_list_idx"])
        return rows("orders"), children


def whole(row, children):
    """The order that a row of the first table and those below it were made of."""

    def below(table, parent):
        return children.get((table, parent["_dlt_id"]), [])

    def parts(table, parent):
        return [{"no": part["no"], "parts": parts(table + "__parts", part)} for part in below(table, parent)]

    return {
        "id": row["id"],
        "customer": row["customer"],
        "tags": [tag["value"] for tag in below("orders__tags", row)],
        "lines": [
            {"quantity": line["quantity"], "parts": parts("orders__lines__parts", line)}
            for line in below("orders__lines", row)
        ],
    }


with open(os.path.join(folder, "rounds.json"), encoding="utf-8") as file:
    rounds = json.load(file)
replaced, kept = pipeline("replaced"), pipeline("kept")
after = []
for number, one in enumerate(rounds):
    changes = [dict(order, gone=False) for order in one["documents"]] + [{"id": key, "gone": True} for key in one["deleted"]]
    replaced.run(
        dlt.resource(
            changes,
            name="orders",
            primary_key="id",
            write_disposition={"disposition": "merge", "strategy": "delete-insert"},
            columns={"gone": {"data_type": "bool", "hard_delete": True}},
        )
    )
    boundary = f"2026-01-{number + 1:02d}T00:00:00Z"
    kept.run(
        dlt.resource(
            one["current"],
            name="orders",
            write_disposition={"disposition": "merge", "strategy": "scd2", "boundary_timestamp": boundary},
        )
    )
    rows, children = tables_of("replaced")
    after.append([whole(row, children) for row in rows])

versions, children = tables_of("kept")
moments = []
for number in range(len(rounds)):
    day = (2026, 1, number + 1)

    def at(time):
        return None if time is None else (time.year, time.month, time.day)

    valid = [row for row in versions if at(row["_dlt_valid_from"]) <= day and (row["_dlt_valid_to"] is None or at(row["_dlt_valid_to"]) > day)]
    moments.append([whole(row, children) for row in valid])
json.dump({"replaced": after, "moments": moments}, sys.stdout)
