#include "CAttachABI.h"

// The layout must not change, because programs that were built at different times share the page.
_Static_assert(offsetof(struct sluice_attach_page, sequence) == 40, "the page must not change within a revision");
_Static_assert(offsetof(struct sluice_attach_page, host) == 48, "the page must not change within a revision");
_Static_assert(offsetof(struct sluice_attach_page, counts) == 96, "the page must not change within a revision");
_Static_assert(sizeof(struct sluice_attach_page) <= 4096, "the page is one page");
