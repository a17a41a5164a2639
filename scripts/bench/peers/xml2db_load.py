"""xml2db_load.py FILE XSD URL: the element-heavy document into PostgreSQL with xml2db."""
import json
import sys
import time

import sqlalchemy
from xml2db import DataModel

# the driver by name: which one stands for PostgreSQL alone depends on the version of SQLAlchemy
address = "postgresql+psycopg2://" + sys.argv[3].split("://", 1)[1]
engine = sqlalchemy.create_engine(address)
with engine.begin() as connection:
    connection.execute(sqlalchemy.text("drop schema if exists bench_xml2db cascade"))
    connection.execute(sqlalchemy.text("create schema bench_xml2db"))
started = time.perf_counter()
model = DataModel(
    xsd_file=sys.argv[2], short_name="bench", connection_string=address, db_schema="bench_xml2db"
)
document = model.parse_xml(xml_file=sys.argv[1])
document.insert_into_target_tables()
seconds = time.perf_counter() - started
with engine.begin() as connection:
    names = connection.execute(
        sqlalchemy.text("select table_name from information_schema.tables where table_schema = 'bench_xml2db'")
    ).scalars()
    tables = {
        name: connection.execute(sqlalchemy.text(f'select count(*) from bench_xml2db."{name}"')).scalar()
        for name in list(names)
    }
print(json.dumps({"seconds": seconds, "tables": tables}))
