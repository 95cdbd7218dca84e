#include "json.h"

#include "rattleback/io.h"

#define TABLE_INDENT 2

/* ---- separators and keys -----------------------------------------------------------------------
 */

static void open_member(json *j, const char *key)
{
    if (j->table) {
        if (key) fprintf(j->out, "%*s%s", TABLE_INDENT * (j->depth - 1), "", key);
        return;
    }
    if (j->begun[j->depth]) putc(',', j->out);
    j->begun[j->depth] = 1;
    if (!key) return;
    rb_json_put_string(j->out, key);
    putc(':', j->out);
}

static void descend(json *j, const char *key, char bracket)
{
    open_member(j, key);
    if (!j->table) putc(bracket, j->out);
    if (j->table && key) putc('\n', j->out);
    j->begun[++j->depth] = 0;
}

static void ascend(json *j, char bracket)
{
    j->depth--;
    if (!j->table) putc(bracket, j->out);
    if (j->depth == 0) {
        putc('\n', j->out);
        j->begun[0] = 0;
    }
}

void json_begin(json *j, const char *key)
{
    descend(j, key, '{');
}

void json_end(json *j)
{
    ascend(j, '}');
}

void json_begin_list(json *j, const char *key)
{
    descend(j, key, '[');
}

void json_end_list(json *j)
{
    ascend(j, ']');
}

/* ---- values ------------------------------------------------------------------------------------
 */

static void put_number(json *j, double x)
{
    if (j->table)
        fprintf(j->out, " %12.6g", x);
    else
        rb_json_put_number(j->out, x);
}

static void end_value(json *j)
{
    if (j->table) putc('\n', j->out);
}

void json_text(json *j, const char *key, const char *text)
{
    open_member(j, key);
    if (j->table) putc(' ', j->out);
    rb_json_put_string(j->out, text);
    end_value(j);
}

void json_int(json *j, const char *key, int value)
{
    open_member(j, key);
    fprintf(j->out, j->table ? " %d" : "%d", value);
    end_value(j);
}

void json_number(json *j, const char *key, double x)
{
    open_member(j, key);
    put_number(j, x);
    end_value(j);
}

void json_null(json *j, const char *key)
{
    open_member(j, key);
    fputs(j->table ? " none" : "null", j->out);
    end_value(j);
}

static void put_row(json *j, const double *x, int n)
{
    if (!j->table) putc('[', j->out);
    for (int i = 0; i < n; i++) {
        if (i && !j->table) putc(',', j->out);
        put_number(j, x[i]);
    }
    if (!j->table) putc(']', j->out);
}

void json_vector(json *j, const char *key, const double *x, int n)
{
    open_member(j, key);
    put_row(j, x, n);
    end_value(j);
}

void json_matrix(json *j, const char *key, const double *A, int rows, int cols)
{
    open_member(j, key);
    putc(j->table ? '\n' : '[', j->out);
    for (int i = 0; i < rows; i++) {
        if (i && !j->table) putc(',', j->out);
        put_row(j, A + (size_t)i * (size_t)cols, cols);
        end_value(j);
    }
    if (!j->table) putc(']', j->out);
}
