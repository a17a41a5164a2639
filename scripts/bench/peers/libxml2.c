/* libxml2 FILE: parses with libxml2's SAX2 push parser, 64 KB at a time; prints what it found as JSON. */
#include <libxml/parser.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static long elements, attributes, text_bytes;

static void on_start(void *ctx, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int nb_namespaces,
                     const xmlChar **namespaces, int nb_attributes, int nb_defaulted, const xmlChar **atts) {
  elements++;
  attributes += nb_attributes;
}
static void on_end(void *ctx, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {}
static void on_text(void *ctx, const xmlChar *text, int length) { text_bytes += length; }

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
  static char buffer[65536];
  xmlSAXHandler handler;
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  if (!file) return 2;
  double started = now(CLOCK_MONOTONIC), cpu_started = now(CLOCK_PROCESS_CPUTIME_ID);
  memset(&handler, 0, sizeof handler);
  handler.initialized = XML_SAX2_MAGIC;
  handler.startElementNs = on_start;
  handler.endElementNs = on_end;
  handler.characters = on_text;
  handler.ignorableWhitespace = on_text;
  xmlParserCtxtPtr parser = xmlCreatePushParserCtxt(&handler, NULL, NULL, 0, NULL);
  xmlCtxtUseOptions(parser, XML_PARSE_HUGE | XML_PARSE_NONET);
  for (;;) {
    int length = (int)fread(buffer, 1, sizeof buffer, file);
    if (xmlParseChunk(parser, buffer, length, length == 0) != 0) return 1;
    if (length == 0) break;
  }
  printf("{\"seconds\":%.6f,\"cpuSeconds\":%.6f,\"elements\":%ld,\"attributes\":%ld,\"textBytes\":%ld}\n",
         now(CLOCK_MONOTONIC) - started, now(CLOCK_PROCESS_CPUTIME_ID) - cpu_started, elements, attributes, text_bytes);
  return 0;
}
