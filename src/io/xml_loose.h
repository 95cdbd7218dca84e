/* What XML forbids and other readers of models pass over. */
#ifndef RATTLEBACK_SRC_IO_XML_LOOSE_H
#define RATTLEBACK_SRC_IO_XML_LOOSE_H

#include <stddef.h>

/* The same document as XML has it: blanks between attributes that touch (a="1"b="2"), &amp; and
 * &lt; for an ampersand that begins no entity and a bracket within a value; blanks for text
 * before the first bracket. Line numbers do not change. Returns the number of bytes; out NULL:
 * counts them only. */
size_t rb_xml_loosen(const char *bytes, size_t size, char *out);

#endif
