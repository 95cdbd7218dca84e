/* libFuzzer: any bytes as an MJCF file. Other files are not opened. */
#define FUZZ_BEFORE_NUMBER " \""
#include "fuzz_model.h"
#include "mutate.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Replicas up to the budget of a million elements are legal, and slow under sanitizers: inputs with
 * large counts are left to the tests. */
static int is_modest(const char *text)
{
    int nested = 0;
    for (const char *at = text; (at = strstr(at, "<replicate")); at++) nested++;
    for (const char *at = text; (at = strstr(at, "count")); at++)
        if (strtol(at + 5 + strspn(at + 5, " =\t\n\r\"'+"), NULL, 10) > 20) return 0;
    for (const char *at = text; (at = strstr(at, "nkey")); at++)
        if (strtol(at + 4 + strspn(at + 4, " =\t\n\r\"'+"), NULL, 10) > 20) return 0;
    return nested <= 3;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, bytes, size);
    text[size] = '\0';
    int modest = is_modest(text);
    free(text);
    if (!modest) return -1;

    rb_error err = { 0 };
    rb_load_opts opts = rb_load_opts_default();
    opts.skip_meshes = size % 2 != 0;
    rb_spec *spec = rb_spec_read_memory((const char *)bytes, size, NULL, &opts, NULL, &err);
    if (spec)
        model_use(spec);
    else
        model_require_reason(&err);
    return 0;
}
