/* base/decimal.h: numbers as text with a decimal point, whatever locale the process has: the libraries run inside programs
 * that may have called setlocale().
 *
 *     double x = decimal_read("1.5", &end);          // as strtod() in the locale "C"
 *     void *before = decimal_begin();       // printf() and its like write "1.5" from here on, in this thread,
 *     decimal_end(before);                           // to here
 */
#ifndef HEDDLE_BASE_DECIMAL_H
#define HEDDLE_BASE_DECIMAL_H

double decimal_read(const char *text, char **end);
float decimal_read_float(const char *text, char **end);

void *decimal_begin(void); /* the locale before, for decimal_end() */
void decimal_end(void *before);

#endif
