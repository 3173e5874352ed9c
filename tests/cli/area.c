/* heddle area: sums of storage, against those in the papers. */
#include "tests/support/command.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

TestSuite(area, .init = command_set_up, .fini = command_tear_down, .timeout = 30);

static json_t *area_of(const char *words)
{
    char line[200];
    snprintf(line, sizeof line, "area --format=json %s", words);
    char *out = command_heddle(line, 0);
    json_t *d = json_loads(out, 0, NULL);
    cr_assert(d != NULL, "%s", out);
    free(out);
    return d;
}

/* Bytes of the parts of one SM or partition whose text has `what`; "" has them all. */
static double bytes_of(const json_t *d, const char *where, const char *what)
{
    double bits = 0;
    size_t i;
    json_t *p;
    json_array_foreach(json_object_get(d, "parts"), i,
                       p) if (strcmp(json_string_value(json_object_get(p, "where")), where) == 0 &&
                              strstr(json_string_value(json_object_get(p, "what")), what))
        bits += json_number_value(json_object_get(p, "entries")) *
                json_number_value(json_object_get(p, "bits"));
    return bits / 8;
}

static double total_of(const json_t *d, const char *where, const char *key)
{
    return json_number_value(
        json_object_get(json_object_get(json_object_get(d, "totals"), where), key));
}

/* DAB, section VI: "4 schedulers per SM, 64 entries per buffer and 9B per entry, [...] 2.3 KB per SM". IV-B: 32 entries
 * for each of 64 warps are "about 20 KB", which are 10 bytes an entry. IV-C: 16 times less with 4 schedulers. */
Test(area, buffers_of_dab_are_as_large_as_the_paper_says)
{
    json_t *d = area_of("dab:queue=l2 --gpu titanv");
    const double scheduler = bytes_of(d, "sm", "address and argument");
    cr_expect_float_eq(scheduler, 2304, 0, "%g", scheduler);
    cr_expect_float_eq(total_of(d, "sm", "units"), 80, 0);
    cr_expect_float_eq(total_of(d, "sm", "bits_each"), 8 * bytes_of(d, "sm", ""), 0);
    /* Where L2 keeps what waits, a partition only has 80 numbers up to 256. */
    cr_expect_float_eq(bytes_of(d, "partition", ""), 80 * 9 / 8., 0);
    json_decref(d);

    d = area_of("dab:level=warp:entries=32 --gpu titanv");
    const double warp = bytes_of(d, "sm", "address and argument") + bytes_of(d, "sm", "opcodes");
    cr_expect_float_eq(warp, 20480, 0, "%g", warp);
    json_decref(d);

    d = area_of("dab:entries=32 --gpu titanv");
    cr_expect_float_eq(18432 / bytes_of(d, "sm", "address and argument"), 16, 0);
    json_decref(d);
}

/* SMs that get no CTAs have nothing to send. */
Test(area, gated_sms_are_left_out)
{
    json_t *d = area_of("dab:sms=72:queue=l2 --gpu titanv");
    cr_expect_float_eq(total_of(d, "sm", "units"), 72, 0);
    cr_expect_float_eq(bytes_of(d, "partition", ""), 72 * 9 / 8., 0);
    json_decref(d);
}

/* Thesis, 4.3: "a 1024-bit Bloom filter only takes 6kB of storage per compute unit (assuming 48 wavefronts per unit)".
 * 5.2: a Z cache of 16 KB and 16 requests. 4.4.3: a request has an address of 33 bits (of 40, without those within 128
 * bytes), 32 colours, 32 depths, a mask of 128 bits, two bits of status. */
Test(area, filters_and_z_units_of_gpudet_are_as_large_as_the_thesis_says)
{
    json_t *d = area_of("gpudet --gpu gtx480");
    cr_expect_float_eq(bytes_of(d, "sm", ""), 6144, 0);
    cr_expect_float_eq(bytes_of(d, "partition", "lines of the Z cache"), 16384, 0);
    cr_expect_float_eq(bytes_of(d, "partition", "requests"), 16 * (33 + 1024 + 1024 + 128 + 2) / 8.,
                       0);
    /* 32 sets: tags of 33 - 5 bits, and two bits of status. */
    cr_expect_float_eq(bytes_of(d, "partition", "tags"), 128 * 30 / 8., 0);
    cr_expect_float_eq(total_of(d, "partition", "units"), 6, 0);
    json_decref(d);
    d = area_of("gpudet:commit=locks:bloom=256 --gpu gtx480");
    cr_expect_float_eq(bytes_of(d, "sm", ""), 1536, 0);
    cr_expect_float_eq(bytes_of(d, "partition", ""), 0, 0);
    json_decref(d);
}

Test(area, text_names_parts_and_wrong_words_are_refused)
{
    char *out = command_heddle("area gpudet --gpu gtx480", 0);
    cr_expect(strstr(out, "gpudet on gtx480") && strstr(out, "each of 15 SMs") &&
                  strstr(out, "        6144        48    1024  Bloom filters"),
              "%s", out);
    free(out);
    out = command_heddle("area native", 0);
    cr_expect(strstr(out, "\nnone\n"), "%s", out);
    free(out);
    free(command_heddle("area gpudte", 2));
    free(command_heddle("area", 2));
    free(command_heddle("area dab --gpu nothing", 2));
}
