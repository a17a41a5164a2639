"""Spark's own XML source into a table of Delta: spark_delta.py DOCUMENT ROW_TAG FOLDER JARS; JARS of delta-spark and delta-storage, by commas.

What the processors spent, by the last line: on the start and on the write, with a schema that is known. Finding the schema is told apart."""
import json
import os
import sys
import time

from pyspark.sql import SparkSession

document, row_tag, folder, jars = sys.argv[1:5]
spark = (
    SparkSession.builder.master("local[*]")
    .config("spark.jars", jars)
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
machine = spark._jvm.java.lang.ProcessHandle.current().pid()
ticks = os.sysconf("SC_CLK_TCK")


def spent():
    """Seconds of a processor, of Spark's process and of this one."""
    with open(f"/proc/{machine}/stat") as stat:
        fields = stat.read().rsplit(") ", 1)[1].split(" ")
    own = os.times()
    return (int(fields[11]) + int(fields[12])) / ticks + own.user + own.system


started = spent()
source = spark.read.format("xml").option("rowTag", row_tag)
schema = source.load(document).schema
known = spent()
since = time.perf_counter()
spark.read.format("xml").option("rowTag", row_tag).schema(schema).load(document).write.format("delta").save(folder)
seconds = time.perf_counter() - since
written = spent()
rows = spark.read.format("delta").load(folder).count()
print(json.dumps({
    "seconds": seconds, "cpuSeconds": started + written - known, "rows": rows,
    "startCpu": started, "schemaCpu": known - started, "writeCpu": written - known,
}), flush=True)
spark.stop()
