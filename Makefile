# Heddle. `make help` lists the targets.

MODULE := base ptx
MODE   ?= release
B      := build/$(MODE)
V      := 0.1.0

CC ?= gcc
WARN := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
CFLAGS.release := -O2 -g
CFLAGS.debug   := -O0 -g
CFLAGS.san     := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -DARENA_BLOCK=64
ALL_CFLAGS = -std=c11 -ffp-contract=off -fno-strict-aliasing -DHEDDLE_VERSION='"$(V)"' $(WARN) -I. $(CFLAGS.$(MODE)) $(CFLAGS)

LIB_LIBS := -lpcre2-8 -lpthread
CLI_LIBS := -ljansson $(LIB_LIBS)

LIB  := $(patsubst %.c,$B/%.o,heddle.c $(wildcard $(addsuffix /*.c,$(MODULE))))
CLI  := $(patsubst %.c,$B/%.o,$(wildcard cli/*.c))
TEST := $(patsubst %.c,$B/%.o,$(wildcard tests/*.c))

.DEFAULT_GOAL := all
all: heddle                         ## build ./heddle

heddle: $B/heddle
	@cp $< $@
$B/heddle: $(CLI) $B/libheddle.a
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(CLI_LIBS)
$B/libheddle.a: $(LIB)
	@rm -f $@
	ar rcs $@ $^
$B/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
-include $(LIB:.o=.d) $(CLI:.o=.d) $(TEST:.o=.d)

$B/tests/run: $(TEST) $B/libheddle.a
	$(CC) $(ALL_CFLAGS) -o $@ $^ -lcriterion $(CLI_LIBS)
$(TEST): WARN := -Wall -Wextra
test: $B/tests/run                  ## run the tests; T='isa/*' runs some of them
	$< $(if $T,--filter '$T')
