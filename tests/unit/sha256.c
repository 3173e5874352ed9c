/* SHA-256 against the examples of FIPS 180-2, appendix B, and of the NIST's test vectors. */
#include <criterion/criterion.h>

#include "base/sha256.h"

#include <string.h>

static void expect(const char *text, size_t repeat, const char *want)
{
    struct sha256 s;
    uint8_t digest[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1];
    sha256_begin(&s);
    for (size_t i = 0; i < repeat; i++) sha256_add(&s, text, strlen(text));
    sha256_end(&s, digest);
    sha256_hex(digest, 2 * SHA256_BYTES, hex);
    cr_expect_str_eq(hex, want, "%s", text);
}

Test(sha256, published_digests)
{
    expect("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
           "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    expect("a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}
