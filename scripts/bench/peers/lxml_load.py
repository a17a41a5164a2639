"""lxml_load.py FILE [URL]: the element-heavy document to three tables with lxml iterparse; to null without URL, else by COPY."""
import io
import json
import sys
import time

from lxml import etree

FULL = 1 << 20
TABLES = {
    "orders": "order_key bigint, number text, date text, code text, city text",
    "lines": "line_key bigint, order_key bigint, position int, sku text, quantity text, price text, unit text",
    "notes": "note_key bigint, order_key bigint, position int, note text",
}


def field(value):
    if value is None:
        return "\\N"
    return value.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


class Sink:
    def __init__(self, url):
        self.buffers = {name: io.StringIO() for name in TABLES}
        self.rows = 0
        self.connection = None
        if url is not None:
            import psycopg2

            self.connection = psycopg2.connect(url)
            self.cursor = self.connection.cursor()
            self.cursor.execute("drop schema if exists bench_lxml cascade; create schema bench_lxml")
            for name, columns in TABLES.items():
                self.cursor.execute(f"create table bench_lxml.{name} ({columns})")

    def row(self, table, values):
        buffer = self.buffers[table]
        buffer.write("\t".join(values) + "\n")
        self.rows += 1
        if buffer.tell() > FULL:
            self.flush(table)

    def flush(self, table):
        buffer = self.buffers[table]
        if self.connection is not None:
            buffer.seek(0)
            self.cursor.copy_expert(f"copy bench_lxml.{table} from stdin", buffer)
        self.buffers[table] = io.StringIO()

    def close(self):
        for table in TABLES:
            self.flush(table)
        if self.connection is not None:
            for name, columns in TABLES.items():
                self.cursor.execute(f"alter table bench_lxml.{name} add primary key ({columns.split(' ')[0]})")
            self.connection.commit()


started = time.perf_counter()
sink = Sink(sys.argv[2] if len(sys.argv) > 2 else None)
keys = [0, 0, 0]
for _, order in etree.iterparse(sys.argv[1], tag="order"):
    keys[0] += 1
    key = str(keys[0])
    sink.row(
        "orders",
        [key]
        + [field(order.findtext(path)) for path in ("number", "date", "customer/code", "customer/city")],
    )
    for position, child in enumerate(order, 1):
        if child.tag == "line":
            keys[1] += 1
            sink.row(
                "lines",
                [str(keys[1]), key, str(position)]
                + [field(child.findtext(name)) for name in ("sku", "quantity", "price", "unit")],
            )
        elif child.tag == "note":
            keys[2] += 1
            sink.row("notes", [str(keys[2]), key, str(position), field(child.text)])
    order.clear()
    while order.getprevious() is not None:
        del order.getparent()[0]
sink.close()
print(json.dumps({"seconds": time.perf_counter() - started, "rows": sink.rows}))
