/* Drawings as SVG files, in points from the upper left corner. */
#ifndef RATTLEBACK_CLI_SVG_H
#define RATTLEBACK_CLI_SVG_H

#include <stdio.h>

typedef struct svg {
    FILE *out;
    char path[4096];
    int points; /* of the line being drawn */
} svg;

typedef enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END } svg_anchor;

/* 1, or 0 after a sentence on stderr. */
int svg_open(svg *s, const char *path, double width, double height, const char *title);
int svg_close(svg *s);

/* style: attributes as SVG writes them, `stroke="#888"` */
void svg_line(svg *s, double x1, double y1, double x2, double y2, const char *style);
void svg_rect(svg *s, double x, double y, double width, double height, const char *style);
void svg_circle(svg *s, double x, double y, double radius, const char *style);
void svg_text(svg *s, double x, double y, svg_anchor anchor, const char *style, const char *text);

void svg_begin_line(svg *s, const char *style);
void svg_point(svg *s, double x, double y);
void svg_end_line(svg *s);

/* Between begin and end only this part of the drawing is shown. */
void svg_begin_clip(svg *s, int id, double x, double y, double width, double height);
void svg_end_clip(svg *s);

#endif
