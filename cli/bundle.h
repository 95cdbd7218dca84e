/* The page of the viewer and the engine as WebAssembly, as viewer/dist has them when this program
 * is built. */
#ifndef RATTLEBACK_CLI_BUNDLE_H
#define RATTLEBACK_CLI_BUNDLE_H

#include <stddef.h>

const char *bundle_page(size_t *size);
const unsigned char *bundle_wasm(size_t *size);

#endif
