#include "CAttachABI.h"

// The page is shared by programs that were built at different times.
_Static_assert(offsetof(struct sluice_attach_page, sequence) == 24, "the page must not change within a revision");
_Static_assert(offsetof(struct sluice_attach_page, host) == 32, "the page must not change within a revision");
_Static_assert(offsetof(struct sluice_attach_page, counts) == 80, "the page must not change within a revision");
_Static_assert(sizeof(struct sluice_attach_page) <= 4096, "the page is one page");
