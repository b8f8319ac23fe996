/* What the C files of conjunct have in common. They use no Python and keep nothing between calls,
   but for what a caller holds; library.py calls them. */
#ifndef CONJUNCT_NATIVE_H
#define CONJUNCT_NATIVE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#endif
