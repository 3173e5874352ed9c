/* cli/terminal.h: colours on standard output, and a progress line on standard error.
 *
 *     if (terminal_colours()) terminal_bar(TERMINAL_BLUE, '#', 12);     // else plain text, as in a pipe
 *
 *     struct steps s;
 *     steps_begin(&s, "runs");
 *     for (size_t i = 0; i < n; i++) steps_tell(&s, i, n), work();      // "\r3 of 10 runs, 4 s, about 9 s left"
 *     steps_end(&s);
 *
 * Colours are used with --color=always; or, without --color=never, if standard output is a terminal, TERM is not "dumb", and
 * the environment variable NO_COLOR is not set (https://no-color.org). Each colour of a bar also has a character of its own. */
#ifndef HEDDLE_CLI_TERMINAL_H
#define HEDDLE_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Numbers in the 256-colour palette of terminals, nearest to the colours of the page of `heddle report`. */
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

/* The row --color in the option table of commands that print colours (cli/command.h); main() handles the option. */
#define TERMINAL_COLOUR_HELP                                                                       \
    "Colours and bars in text: auto where standard output is a terminal and NO_COLOR is not set."
#define COLOUR_OPTION                                                                              \
    {                                                                                              \
        .name = "color", .argument = "auto|always|never", .standard = "auto",                      \
        .help = TERMINAL_COLOUR_HELP, .id = 1                                                      \
    }
/* Sets the choice: "auto", "always" or "never". false: another value. */
bool terminal_colour_option(const char *value);
bool terminal_colours(void);
/* Prints `count` times the character, with the colour as background. */
void terminal_bar(enum terminal_colour colour, char mark, int count);
/* Text printed between these calls has the colour, if colours are used. */
void terminal_begin(enum terminal_colour colour);
void terminal_end(void);

/* Prints a sparkline of `count` characters; each height is in proportion to the greatest value. Block characters if the
 * locale is UTF-8, else ASCII. */
void terminal_spark(const double *values, size_t count);

struct steps {
    const char *unit; /* "runs" */
    double began, printed;
    bool wanted, shown;
};
void steps_begin(struct steps *s, const char *unit);
/* Says that `done` of `all` have ended. Prints the line from the second second on, at most five times per second. */
void steps_tell(struct steps *s, size_t done, size_t all);
void steps_end(struct steps *s); /* removes the line */
/* Appends the text of the line after so many seconds. */
void steps_text(struct buf *b, const char *unit, size_t done, size_t all, double seconds);

#endif
