/* The elements of a COLLADA document by their id. */
#ifndef RATTLEBACK_SRC_IO_DAE_INDEX_H
#define RATTLEBACK_SRC_IO_DAE_INDEX_H

#include "io/xml.h"

typedef struct rb_io_dae_index {
    const rb_xml_node **slot; /* open addressing                       (room) */
    size_t room;              /* a power of two                               */
} rb_io_dae_index;

/* Memory is the document's. RB_NOMEM only. */
rb_status rb_io_dae_index_build(rb_xml_doc *doc, rb_io_dae_index *out);

/* The element that "#id" or "id" refers to, the first one in the file; NULL: none. */
const rb_xml_node *rb_io_dae_find(const rb_io_dae_index *index, const char *reference);

#endif
