/* Qhull without its output: these print in io_r.c, which is left out. Hulls are read from its
 * facets (src/io/hull.c). */
#include <libqhull_r/qhull_ra.h>

void qh_fprintf(qhT *qh, FILE *fp, int msgcode, const char *fmt, ...)
{
    (void)qh, (void)fp, (void)msgcode, (void)fmt;
}

void qh_produce_output(qhT *qh)
{
    (void)qh;
}

void qh_prepare_output(qhT *qh)
{
    (void)qh;
}

void qh_copyfilename(qhT *qh, char *filename, int size, const char *source, int length)
{
    (void)qh, (void)filename, (void)size, (void)source, (void)length;
}

char *qh_skipfilename(qhT *qh, char *filename)
{
    (void)qh;
    return filename;
}

void qh_setfeasible(qhT *qh, int dim)
{
    (void)qh, (void)dim;
}

void qh_printridge(qhT *qh, FILE *fp, ridgeT *ridge)
{
    (void)qh, (void)fp, (void)ridge;
}

void qh_printfacet(qhT *qh, FILE *fp, facetT *facet)
{
    (void)qh, (void)fp, (void)facet;
}

void qh_printpoint(qhT *qh, FILE *fp, const char *string, pointT *point)
{
    (void)qh, (void)fp, (void)string, (void)point;
}

void qh_printpointid(qhT *qh, FILE *fp, const char *string, int dim, pointT *point, int id)
{
    (void)qh, (void)fp, (void)string, (void)dim, (void)point, (void)id;
}

void qh_printvertex(qhT *qh, FILE *fp, vertexT *vertex)
{
    (void)qh, (void)fp, (void)vertex;
}

void qh_printvertexlist(qhT *qh, FILE *fp, const char *string, facetT *facetlist, setT *facets,
                        boolT printall)
{
    (void)qh, (void)fp, (void)string, (void)facetlist, (void)facets, (void)printall;
}

void qh_printafacet(qhT *qh, FILE *fp, qh_PRINT format, facetT *facet, boolT printall)
{
    (void)qh, (void)fp, (void)format, (void)facet, (void)printall;
}

void qh_printbegin(qhT *qh, FILE *fp, qh_PRINT format, facetT *facetlist, setT *facets,
                   boolT printall)
{
    (void)qh, (void)fp, (void)format, (void)facetlist, (void)facets, (void)printall;
}

void qh_printend(qhT *qh, FILE *fp, qh_PRINT format, facetT *facetlist, setT *facets,
                 boolT printall)
{
    (void)qh, (void)fp, (void)format, (void)facetlist, (void)facets, (void)printall;
}

void qh_printneighborhood(qhT *qh, FILE *fp, qh_PRINT format, facetT *facetA, facetT *facetB,
                          boolT printall)
{
    (void)qh, (void)fp, (void)format, (void)facetA, (void)facetB, (void)printall;
}
