// libssl: the functions that describe a connection.
#ifndef SLUICE_CTLS_SHIM_H
#define SLUICE_CTLS_SHIM_H
#include <openssl/ssl.h>
#include <openssl/x509.h>
#endif
