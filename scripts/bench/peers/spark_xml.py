"""Spark's own XML source into files: spark_xml.py DOCUMENT ROW_TAG FORMAT FOLDER [JARS].

FORMAT: `delta` (JARS of delta-spark and delta-storage, by commas), `parquet`, or `tables`: Parquet again, of which each array of a row is a
table of its own, as a relational schema has it.

What the processors spent, by the last line: on the start and on the write, with a schema that is known. Finding the schema is told apart."""
import json
import os
import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, monotonically_increasing_id, posexplode
from pyspark.sql.types import ArrayType

document, row_tag, form, folder = sys.argv[1:5]
builder = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
if form == "delta":
    builder = (
        builder.config("spark.jars", sys.argv[5])
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    )
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
machine = spark._jvm.java.lang.ProcessHandle.current().pid()
ticks = os.sysconf("SC_CLK_TCK")


def spent():
    """Seconds of a processor, of Spark's process and of this one."""
    with open(f"/proc/{machine}/stat") as stat:
        fields = stat.read().rsplit(") ", 1)[1].split(" ")
    own = os.times()
    return (int(fields[11]) + int(fields[12])) / ticks + own.user + own.system


def write_tables(rows):
    """Answers where the rows themselves are."""
    numbered = rows.withColumn("row_key", monotonically_increasing_id())
    arrays = [field.name for field in rows.schema.fields if isinstance(field.dataType, ArrayType)]
    rest = [col(name) for name in numbered.columns if name not in arrays]
    numbered.select(*rest).write.parquet(os.path.join(folder, row_tag))
    for name in arrays:
        numbered.select("row_key", posexplode(col(name))).write.parquet(os.path.join(folder, name))
    return os.path.join(folder, row_tag)


started = spent()
source = spark.read.format("xml").option("rowTag", row_tag)
schema = source.load(document).schema
known = spent()
since = time.perf_counter()
orders = spark.read.format("xml").option("rowTag", row_tag).schema(schema).load(document)
if form == "tables":
    written_to, form = write_tables(orders), "parquet"
else:
    orders.write.format(form).save(folder)
    written_to = folder
seconds = time.perf_counter() - since
written = spent()
rows = spark.read.format(form).load(written_to).count()
print(json.dumps({
    "seconds": seconds, "cpuSeconds": started + written - known, "rows": rows,
    "startCpu": started, "schemaCpu": known - started, "writeCpu": written - known,
}), flush=True)
spark.stop()
