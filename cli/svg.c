#include "svg.h"

#include <errno.h>
#include <string.h>

int svg_open(svg *s, const char *path, double width, double height, const char *title)
{
    *s = (svg){ 0 };
    snprintf(s->path, sizeof s->path, "%s", path);
    s->out = fopen(path, "w");
    if (!s->out) {
        fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(errno));
        return 0;
    }
    fprintf(s->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
            "viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" font-size=\"11\">\n",
            width, height, width, height);
    fprintf(s->out, "<title>%s</title>\n", title);
    svg_rect(s, 0.0, 0.0, width, height, "fill=\"#fff\"");
    return 1;
}

int svg_close(svg *s)
{
    fputs("</svg>\n", s->out);
    int failed = fflush(s->out) != 0 || ferror(s->out);
    if (fclose(s->out) != 0) failed = 1;
    if (failed) fprintf(stderr, "%s: not everything could be written\n", s->path);
    return !failed;
}

void svg_line(svg *s, double x1, double y1, double x2, double y2, const char *style)
{
    fprintf(s->out, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" %s/>\n", x1, y1, x2, y2,
            style);
}

void svg_rect(svg *s, double x, double y, double width, double height, const char *style)
{
    fprintf(s->out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" %s/>\n", x, y,
            width, height, style);
}

void svg_circle(svg *s, double x, double y, double radius, const char *style)
{
    fprintf(s->out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" %s/>\n", x, y, radius, style);
}

static void put_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else
            putc(*text, out);
    }
}

void svg_text(svg *s, double x, double y, svg_anchor anchor, const char *style, const char *text)
{
    static const char *const words[] = { "start", "middle", "end" };
    fprintf(s->out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\" %s>", x, y, words[anchor],
            style);
    put_text(s->out, text);
    fputs("</text>\n", s->out);
}

void svg_begin_line(svg *s, const char *style)
{
    fprintf(s->out, "<polyline fill=\"none\" %s points=\"", style);
    s->points = 0;
}

void svg_point(svg *s, double x, double y)
{
    enum { IN_A_ROW = 8 };
    fprintf(s->out, "%s%.2f,%.2f", s->points++ % IN_A_ROW ? " " : "\n", x, y);
}

void svg_end_line(svg *s)
{
    fputs("\"/>\n", s->out);
}

void svg_begin_clip(svg *s, int id, double x, double y, double width, double height)
{
    fprintf(s->out,
            "<clipPath id=\"c%d\"><rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>"
            "</clipPath>\n<g clip-path=\"url(#c%d)\">\n",
            id, x, y, width, height, id);
}

void svg_end_clip(svg *s)
{
    fputs("</g>\n", s->out);
}
