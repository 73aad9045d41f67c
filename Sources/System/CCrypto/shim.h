#ifndef SLUICE_CCRYPTO_SHIM_H
#define SLUICE_CCRYPTO_SHIM_H
#include <openssl/evp.h>
#include <openssl/pem.h>
#endif
