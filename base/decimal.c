#define _GNU_SOURCE /* strtod_l */
#include "base/decimal.h"

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>

static locale_t plain;
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void make(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) abort();
}

static locale_t plain_locale(void)
{
    (void)pthread_once(&made, make);
    return plain;
}

double decimal_read(const char *text, char **end)
{
    return strtod_l(text, end, plain_locale());
}

float decimal_read_float(const char *text, char **end)
{
    return strtof_l(text, end, plain_locale());
}

void *decimal_begin(void)
{
    return uselocale(plain_locale());
}

void decimal_end(void *before)
{
    (void)uselocale((locale_t)before);
}
