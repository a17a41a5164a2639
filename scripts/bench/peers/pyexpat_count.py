"""pyexpat_count.py FILE: libexpat through Python, without handlers but a count of elements; where there is no C compiler."""
import json
import sys
import time
from xml.parsers import expat

elements = 0


def on_start(_name, _attributes):
    global elements
    elements += 1


parser = expat.ParserCreate(namespace_separator=" ")
parser.StartElementHandler = on_start
started = time.perf_counter()
with open(sys.argv[1], "rb") as file:
    parser.ParseFile(file)
print(json.dumps({"seconds": time.perf_counter() - started, "elements": elements}))
