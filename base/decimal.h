/* base/decimal.h: reads and prints numbers with a decimal point, independent of the process's locale: the libraries run inside
 * programs that may have called setlocale().
 *
 *     double x = decimal_read("1.5", &end);          // as strtod() in the locale "C"
 *     void *before = decimal_begin();       // from here on printf() and the like print "1.5" in this thread,
 *     decimal_end(before);                           // up to here
 */
#ifndef HEDDLE_BASE_DECIMAL_H
#define HEDDLE_BASE_DECIMAL_H

double decimal_read(const char *text, char **end);
float decimal_read_float(const char *text, char **end);

void *decimal_begin(void); /* returns the thread's previous locale, for decimal_end() */
void decimal_end(void *before);

#endif
