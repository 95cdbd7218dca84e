#include <unistd.h>

#include "report.h"

enum { BAR_WIDTH = 30 };

void progress_show(double share, int count)
{
    if (!isatty(STDERR_FILENO)) return;
    if (share < 0.0) {
        fprintf(stderr, "\r\033[K%d problems", count);
    } else {
        int full = (int)(share * BAR_WIDTH);
        fprintf(stderr, "\r\033[K[%.*s%*s] %3.0f %%  %d problems", full,
                "##############################", BAR_WIDTH - full, "", share * 100.0, count);
    }
    fflush(stderr);
}

void progress_clear(void)
{
    if (!isatty(STDERR_FILENO)) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
}

void report_error(const rb_error *err)
{
    progress_clear();
    if (err->line)
        fprintf(stderr, "%s:%d: %s\n", err->file, err->line, err->text);
    else
        fprintf(stderr, "%s: %s\n", err->file, err->text);
}
