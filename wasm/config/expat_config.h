/* Expat for WebAssembly: no source of random numbers is needed, models come from the user. */
#define BYTEORDER         1234
#define HAVE_MEMMOVE      1
#define XML_CONTEXT_BYTES 1024
#define XML_MIN_SIZE      1
#define XML_POOR_ENTROPY  1
