/* libFuzzer: any bytes as a URDF. Other files are not opened: the meshes have fuzzers of their
 * own. The size decides whether the base floats and whether visuals are read. */
#define FUZZ_BEFORE_NUMBER " \""
#include "fuzz_model.h"
#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    rb_error err = { 0 };
    rb_load_opts opts = rb_load_opts_default();
    opts.skip_meshes = 1;
    opts.floating_base = size % 2 != 0;
    opts.visuals = size % 3 == 0;
    rb_spec *spec = rb_spec_read_memory((const char *)bytes, size, NULL, &opts, NULL, &err);
    if (spec)
        model_use(spec);
    else
        model_require_reason(&err);
    return 0;
}
