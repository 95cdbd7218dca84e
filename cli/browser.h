/* Headless Chromium and ffmpeg, where they are installed. */
#ifndef RATTLEBACK_CLI_BROWSER_H
#define RATTLEBACK_CLI_BROWSER_H

/* A picture of this size of a page opened with `fragment` (#time=..): 1, or 0 after a sentence that
 * says what is missing. */
int browser_picture(const char *page, const char *fragment, int width, int height, const char *png);

/* The film of a replay page, fps frames a second. */
int browser_film(const char *page, const char *fragment, int width, int height, double fps,
                 const char *mp4);

/* Opens a file with what the desktop opens pages with: 1, or 0 after a sentence. */
int browser_open(const char *page);

#endif
