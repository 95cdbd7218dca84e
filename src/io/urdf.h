/* The URDF reader. Links become bodies, joints joints, collisions geoms; every link keeps its name.
 * What becomes of each element: docs/manual/urdf.md. */
#ifndef RATTLEBACK_SRC_IO_URDF_H
#define RATTLEBACK_SRC_IO_URDF_H

#include "io/path.h"
#include "io/xml.h"
#include "rattleback/load.h"

/* The document of a <robot> file into an empty spec. */
rb_status rb_io_urdf_read(rb_xml_doc *doc, const rb_io_search *search, const rb_load_opts *opts,
                          rb_spec *spec, rb_error *err);

#endif
