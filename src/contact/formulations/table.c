/* All formulations. Adding one = one file, one line here, one section in docs/theory/contact.md. */
#include <string.h>

#include "contact/contact.h"

const rb_formulation *const rb_formulations[] = {
    &rb_formulation_cone,
    &rb_formulation_stewart_trinkle,
    &rb_formulation_stewart_trinkle_nonlinear,
    &rb_formulation_anitescu_potra,
    &rb_formulation_dart,
    &rb_formulation_jain,
    &rb_formulation_phantom,
    &rb_formulation_box,
    &rb_formulation_hybrid_friction,
    NULL,
};

const rb_formulation *rb_formulation_find(const char *name)
{
    for (const rb_formulation *const *f = rb_formulations; *f; f++) {
        if (strcmp((*f)->name, name) == 0) return *f;
    }
    return NULL;
}

unsigned rb_formulation_kind(const rb_formulation *f)
{
    return f->kind;
}

const char *rb_formulation_name(const rb_formulation *f)
{
    return f->name;
}

const char *rb_formulation_summary(const rb_formulation *f)
{
    return f->summary;
}
