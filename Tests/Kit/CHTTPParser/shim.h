// http-parser, whose Debian package has no .pc file.
#ifndef SLUICE_CHTTPPARSER_SHIM_H
#define SLUICE_CHTTPPARSER_SHIM_H
#include <http_parser.h>
#endif
