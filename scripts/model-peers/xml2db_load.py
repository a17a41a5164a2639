"""xml2db_load.py URL SCHEMA XSD DOCUMENT…: documents into a schema of PostgreSQL with xml2db, which makes its tables; as JSON, which it refused."""
import json
import logging
import sys

import sqlalchemy
from xml2db import DataModel

logging.disable(logging.CRITICAL)
url, schema, xsd, *documents = sys.argv[1:]
address = url.replace("postgresql://", "postgresql+psycopg2://", 1).replace("postgres://", "postgresql+psycopg2://", 1)
engine = sqlalchemy.create_engine(address)
with engine.begin() as connection:
    connection.execute(sqlalchemy.text(f'drop schema if exists "{schema}" cascade'))
    connection.execute(sqlalchemy.text(f'create schema "{schema}"'))


def reason(error):
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


refused = []
try:
    model = DataModel(xsd_file=xsd, short_name="peer", connection_string=address, db_schema=schema)
except BaseException as error:
    print(json.dumps({"failure": reason(error), "refused": []}))
    sys.exit(0)
for at, name in enumerate(documents):
    try:
        model.parse_xml(xml_file=name).insert_into_target_tables()
    except BaseException as error:
        refused.append({"document": at, "reason": reason(error)})
print(json.dumps({"failure": None, "refused": refused}))
