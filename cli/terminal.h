/* cli/terminal.h: colours on standard output, and a line on standard error that says how far a command is.
 *
 *     if (terminal_colours()) terminal_bar(TERMINAL_BLUE, '#', 12);     // else plain text, as in a pipe
 *
 *     struct steps s;
 *     steps_begin(&s, "runs");
 *     for (size_t i = 0; i < n; i++) steps_tell(&s, i, n), work();      // "\r3 of 10 runs, 4 s, about 9 s left"
 *     steps_end(&s);
 *
 * Colours: --color=always or never; else where standard output is a terminal, TERM is not "dumb", and the environment
 * variable NO_COLOR is not set (https://no-color.org). Each bar also has a character of its own for each colour. */
#ifndef HEDDLE_CLI_TERMINAL_H
#define HEDDLE_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Numbers of the 256 colours of terminals, the nearest to those of the page of `heddle report`. */
enum terminal_colour {
    TERMINAL_BLUE = 25,
    TERMINAL_SKY = 74,
    TERMINAL_GREEN = 72,
    TERMINAL_YELLOW = 186,
    TERMINAL_ORANGE = 214,
    TERMINAL_RED = 160,
    TERMINAL_PURPLE = 89,
    TERMINAL_PINK = 175,
    TERMINAL_GREY = 250
};

/* Of commands that print colours: a row of their table of options (cli/command.h), which main() takes out. */
#define TERMINAL_COLOUR_HELP                                                                       \
    "Colours and bars in text: auto where standard output is a terminal and NO_COLOR is not set."
#define COLOUR_OPTION                                                                              \
    {                                                                                              \
        .name = "color", .argument = "auto|always|never", .standard = "auto",                      \
        .help = TERMINAL_COLOUR_HELP, .id = 1                                                      \
    }
/* "auto", "always", "never". false: it is none of these. */
bool terminal_colour_option(const char *value);
bool terminal_colours(void);
/* `count` times the character, on the colour. */
void terminal_bar(enum terminal_colour colour, char mark, int count);
/* What is printed in between has the colour, if there are colours. */
void terminal_begin(enum terminal_colour colour);
void terminal_end(void);

/* A line of `count` characters, each as high as its value is of the greatest: blocks where the locale is UTF-8, else
 * characters of ASCII. */
void terminal_spark(const double *values, size_t count);

struct steps {
    const char *unit; /* "runs" */
    double began, printed;
    bool wanted, shown;
};
void steps_begin(struct steps *s, const char *unit);
/* `done` of `all` have ended. Written from the second second on, five times a second at most. */
void steps_tell(struct steps *s, size_t done, size_t all);
void steps_end(struct steps *s); /* wipes the line */
/* The line, after so many seconds. */
void steps_text(struct buf *b, const char *unit, size_t done, size_t all, double seconds);

#endif
