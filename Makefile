# Heddle. `make help` lists the targets. Everything is built below build/; nothing is installed but by
# `make deps` and `make install`. `make V=1` shows whole commands.

VERSION := 0.1.0
MODE   ?= release
ifeq ($(origin CC),default)
CC     := gcc
endif
B      := build/$(notdir $(CC))-$(MODE)
MODULE := base ptx emu emu/* determinism determinism/* model session library

WARN := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
CFLAGS.release := -O2 -g1 # functions and lines, for profilers; variables are in a debug build
CFLAGS.debug   := -O0 -g
# by clang: of the same objects the tests are linked and the fuzzers; what a sanitizer reports needs lines only
# AddressSanitizer sees an access by a null pointer, or behind what it points to; no need to ask before each.
SANITIZE := -fsanitize=address,undefined -fno-sanitize=null,object-size -fno-sanitize-recover=all
CFLAGS.san     := -O1 -gline-tables-only $(SANITIZE) -DARENA_BLOCK=64
CFLAGS.tsan    := -O0 -gline-tables-only -fsanitize=thread # by clang, too: in two thirds of gcc's time. The tests run for a second.
# `make check` compares bits of clang's vector code with those of gcc's. In this mode clang compiles what computes results
# and what is seen of a program's stack; the other objects are those of the release build by gcc.
CFLAGS.bits    := $(CFLAGS.release)
O := $(if $(filter bits,$(MODE)),build/gcc-release,$B)
# gcc for x86-64 would begin structs of a hundred bytes with `rep stos`, which takes longer than what is done with them.
INLINE := vector_loop:512:noalign,libcall:-1:noalign
INLINE := $(addsuffix =$(INLINE),-mmemset-strategy -mmemcpy-strategy)
INLINE := $(shell $(CC) -Werror $(INLINE) -E -x c /dev/null >/dev/null 2>&1 && echo $(INLINE))
ALL_CFLAGS = -std=c11 -fPIC -ffp-contract=off $(INLINE) -DHEDDLE_VERSION='"$(VERSION)"' $(WARN) -I. -Iinclude $(CFLAGS.$(MODE)) $(CFLAGS)
TEST_WARN  := -Wall -Wextra

LIB_LIBS := -lpcre2-8 -lzstd -lpthread -lm
SUITE_LIBS := -lz -lm
CUDA_LIBS := -llz4
CRITERION := -lcriterion # tests/support/runner.c has some of its functions
CLI_LIBS := -lsqlite3 -ljansson -lfyaml -lgsl -lgslcblas $(SUITE_LIBS) $(CUDA_LIBS) $(LIB_LIBS)

# emu/*/simd_*.c are compiled for each host instruction set; the best one is chosen at run time.
# Builds of `make check` have fewer: clang's AVX2 code is in the build with sanitizers, its AVX-512 code, where the host has that,
# in the one for bits. ThreadSanitizer sees the same accesses in each.
OPS := $(wildcard emu/*/simd_*.c)
ISAS := portable
ifeq ($(shell uname -m),x86_64)
ISAS.release := avx2 avx512
ISAS.debug   := avx2 avx512
ISAS.san     := avx2
ISAS.bits    := $(if $(shell grep -wm1 avx512vl /proc/cpuinfo 2>/dev/null),avx512,avx2)
ISAS += $(ISAS.$(MODE))
endif
ISA.avx2   := -mavx2 -mfma -mf16c -mbmi -mbmi2 -mlzcnt -mpopcnt
ISA.avx512 := -march=x86-64-v4 -mprefer-vector-width=512
OPS_FLAGS := -fno-strict-aliasing -fno-trapping-math -fno-math-errno -Wno-psabi
ifneq ($(findstring clang,$(CC)),)
OPS_FLAGS += -Wno-pass-failed # it says where it makes no vector code
endif
OPS_FLAGS.release := -O3
MAIN  := $(wildcard emu/*.c emu/*/*.c determinism/*.c determinism/*/*.c) # what computes results
LIB   := $(patsubst %.c,$B/%.o,$(filter-out $(OPS),$(MAIN))) \
         $(patsubst %.c,$O/%.o,$(filter-out $(MAIN),$(wildcard $(addsuffix /*.c,$(MODULE))))) \
         $(foreach isa,$(ISAS),$(patsubst %.c,$B/%.$(isa).o,$(OPS))) $O/emu/gpus.o
ifeq ($(MODE) $(shell grep -wm1 -o avx2 /proc/cpuinfo 2>/dev/null),san avx2)
UNSEEN := $(patsubst %.c,build/clang-bits/%.portable.o,$(OPS)) # not by sanitizers: see below
LIB := $(filter-out $(OPS:%.c=$B/%.portable.o),$(LIB)) $(UNSEEN)
endif
CLI   := $(patsubst %.c,$O/%.o,$(filter-out cli/run_program.c,$(wildcard cli/*.c))) $B/cli/run_program.o \
         $O/cli/page_text.o $O/cli/reproduce_text.o
CALIBRATE := $(patsubst %.c,$O/%.o,$(wildcard calibrate/*.c))
CUDA  := $(patsubst %.c,$B/%.o,$(wildcard cuda/*.c))
RUNTIME := $(patsubst %.c,$B/%.o,$(wildcard cuda/runtime/*.c))
SUITE := $(patsubst %.c,$O/%.o,$(filter-out suites/main.c,$(wildcard suites/*.c)))
TEST  := $(patsubst %.c,$B/%.o,$(wildcard $(foreach d,support oracles unit order race cuda cli estimate,tests/$d/*.c))) $(patsubst %,$B/tests/hardware/%.o,bits kernels)
# Those whose results may depend on the compiler: what vector code computes, and what is seen of a program's stack.
BITS_TEST := $(filter $(addprefix $B/tests/,support/% oracles/% hardware/% unit/emu_% order/emu_% estimate/emu_counts.o unit/fp.o \
                 unit/property.o cuda/program.o),$(TEST))
DIFF  := $(patsubst %.c,$B/%.o,$(wildcard tests/ptxas/*.c))
BENCH := $(patsubst %.c,$B/%.o,$(wildcard tests/bench/*.c))
CORPUS := build/corpus/*.ptx
PROGRAMS := $(patsubst tests/programs/%.cu,build/programs/%,$(wildcard tests/programs/*.cu))

# Where `make install` puts things, below DESTDIR.
PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
LIBDIR  ?= $(PREFIX)/lib
INCDIR  ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
SONAME  := libheddle.so.0

# $(call say,CC,FILE) in front of a command shows these two words in place of the command; V=1: the command.
say = $(if $(filter 1,$(V)),,@echo '$(1) $(2)'; )

.DEFAULT_GOAL := all
.PHONY: all mpi install-mpi deps demo install check-install test test-documents programs check format-check tidy layers sizes check-clang check-same check-san check-tsan check-fuzz check-fuzz-emu check-fuzz-others \
        bench claims communication accuracy screenshots uplot measured timing weights fuzz fuzz-ptx fuzz-emu fuzz-trace fuzz-job fuzz-files \
        ptxas-diff man hardware litmus broken broken-gpu regs compare-ptx corpus format clean help

# Several goals of one call come one after the other where one of them starts a make of its own: both would build the same.
STARTS_MAKE := demo test check check-install check-clang check-same check-san check-tsan check-fuzz fuzz ptxas-diff
in_turn = $(if $(word 2,$1),$(eval $(word 2,$1): | $(word 1,$1))$(call in_turn,$(wordlist 2,$(words $1),$1)))
ifneq ($(filter $(STARTS_MAKE),$(MAKECMDGOALS)),)
$(call in_turn,$(MAKECMDGOALS))
endif

CUDART := $(addprefix $B/libcudart.so.,13 12 11.0)
CUDART_STATIC := $(patsubst $B/libcudart.so.%,$B/static-%/libcudart_static.a,$(CUDART))
all: heddle $B/libheddle.a $(CUDART) $(CUDART_STATIC) $B/heddle-suite ## build ./heddle, libcudart.so.13, .12 and .11.0, libcuda.so.1 and heddle-suite

heddle: $B/heddle
	@cp $< $@.new && mv $@.new $@
$B/heddle: $(CLI) $(CALIBRATE) $(SUITE) $(CUDA) $B/internal.a
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(CLI_LIBS)
# The ranks of an MPI job as workers of a sweep; nothing else needs MPI.
MPI := $(patsubst %.c,$B/%.o,$(wildcard cli/mpi/*.c))
MPICC ?= mpicc
mpi_flags = $(patsubst -I%,-isystem %,$(shell $(MPICC) --showme:compile 2>/dev/null))
mpi_libs = $(shell $(MPICC) --showme:link 2>/dev/null)
HAS_MPI := $(shell command -v $(MPICC) 2>/dev/null)
$B/cli/mpi/%.o: ALL_CFLAGS += $(mpi_flags)
$B/heddle-mpi: $(MPI) $(filter-out %/main.o,$(CLI)) $(CALIBRATE) $(SUITE) $(CUDA) $B/internal.a | $B/heddle
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(mpi_libs) $(CLI_LIBS)
$B/tests/bench/sweep_sleep: $B/tests/bench/sweep_sleep.o $(MPI) $(filter-out %/main.o %/sweep_processes.o,$(CLI)) $(CALIBRATE) \
        $(SUITE) $(CUDA) $B/internal.a | $B/heddle
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(mpi_libs) $(CLI_LIBS)
	@ln -sf ../../heddle $B/tests/bench/heddle
# For programs of this tree, which use more than the public interface.
$B/internal.a: $(LIB)
	@rm -f $@
	$(call say,AR,$@)ar rcs $@ $^
# For others: one object in which only the public names are global, so that a program may use any other name itself.
$B/libheddle.a: $(LIB)
	@rm -f $@
	$(call say,AR,$@)ld -r -o $B/libheddle.o $^ && \
	    objcopy --wildcard --keep-global-symbol='heddle_*' $B/libheddle.o && ar rcs $@ $B/libheddle.o
$B/$(SONAME): $(LIB) library/heddle.map
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=library/heddle.map -o $@ $(LIB) $(LIB_LIBS)
# What compilers made of tests/corpus.
build/corpus/unpacked: tests/corpus/ptx.tar.gz
	@rm -rf $(@D) && mkdir -p $(@D) && tar -xzf $< -C $(@D) && touch $@
# The driver API as a library for C programs, and the workloads as such a program. It has a heap of its own (cuda/heap.h),
# but where a sanitizer is to see what is allocated.
HEAP := $(if $(filter release debug bits,$(MODE)),malloc calloc realloc aligned_alloc strdup free qsort mmap munmap)
$B/libcuda.so.1: $(CUDA) $B/cuda/interposed/system_calls.o $B/internal.a cuda/libcuda.map cuda/older.ld
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -shared -Wl,-z,nodelete -Wl,-soname,libcuda.so.1 -Wl,--version-script=cuda/libcuda.map -o $@ \
	    $(CUDA) $B/cuda/interposed/system_calls.o cuda/older.ld $B/internal.a $(foreach f,$(HEAP),-Wl,--defsym,$f=heap_$f) $(CUDA_LIBS) $(LIB_LIBS)
# The runtime API is a program on it.
$B/libcudart.so.13: $(RUNTIME) $B/libcuda.so.1 cuda/runtime/libcudart.map cuda/runtime/per_thread.ld
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -shared -Wl,-soname,libcudart.so.13 -Wl,--version-script=cuda/runtime/libcudart.map -o $@ \
	    $(RUNTIME) cuda/runtime/per_thread.ld $B/libcuda.so.1 -Wl,-rpath,'$$ORIGIN'
# The same sources with the structures of older versions: of each the newest, which reads what its others wrote.
define runtime_rule
$B/cudart-$(1)/%.o: cuda/runtime/%.c Makefile
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)$$(CC) $$(ALL_CFLAGS) -DCUDART_VERSION=$(2) -MMD -MP -c -o $$@ $$<
$B/libcudart.so.$(1): $(patsubst cuda/runtime/%.c,$B/cudart-$(1)/%.o,$(wildcard cuda/runtime/*.c)) $B/libcuda.so.1 \
        cuda/runtime/libcudart.map cuda/runtime/per_thread.ld cuda/runtime/older.ld
	@sed 's/libcudart.so.13/libcudart.so.$(1)/' cuda/runtime/libcudart.map > $B/cudart-$(1)/map
	$$(call say,LD,$$@)$$(CC) $$(ALL_CFLAGS) -shared -Wl,-soname,libcudart.so.$(1) -Wl,--version-script=$B/cudart-$(1)/map -o $$@ \
	    $$(filter %.o %.ld,$$^) $B/libcuda.so.1 -Wl,-rpath,'$$$$ORIGIN'
-include $(patsubst cuda/runtime/%.c,$B/cudart-$(1)/%.d,$(wildcard cuda/runtime/*.c))
endef
# For links that name the static runtime, a folder for -L: the name stands for the shared one beside the folder.
$B/static-%/libcudart_static.a: $B/libcudart.so.%
	@mkdir -p $(@D)
	$(call say,LINK,$@)echo 'INPUT(../$(<F))' > $@
$(eval $(call runtime_rule,12,12090))
$(eval $(call runtime_rule,11.0,11080))
$B/heddle-suite: $O/suites/main.o $(SUITE) $B/libcuda.so.1
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(SUITE_LIBS) -Wl,-rpath,'$$ORIGIN'
$B/tests/run: $(TEST) $(CALIBRATE) $(SUITE) $(RUNTIME) $(CUDA) $B/internal.a | build/corpus/unpacked
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(CRITERION) $(CLI_LIBS)
$B/tests/run-bits: $(BITS_TEST:$B/%=build/gcc-release/%) $(CALIBRATE) $(SUITE) $(RUNTIME) $(CUDA) $B/internal.a | build/corpus/unpacked
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(CRITERION) $(CLI_LIBS)
$B/tests/threads: tests/threads/threads.c $B/libcudart.so.13
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -o $@ $< $B/libcudart.so.13 $B/libcuda.so.1 -lpthread -Wl,-rpath,'$$ORIGIN/..'
$B/tests/threads_library: tests/threads/library.c include/heddle.h $B/libheddle.a
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -o $@ $< $B/libheddle.a $(LIB_LIBS)
# CUDA programs that the tests run.
$(PROGRAMS): build/programs/%: tests/programs/%.cu $(addprefix tests/programs/,self.cuh build.sh make.sh) | $B/libcudart.so.13
	@mkdir -p $(@D)
	@CC='$(CC)' tests/programs/make.sh $< $@ $B
$B/tests/bench/frontend: $B/tests/bench/frontend.o $B/internal.a
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIB_LIBS)
$B/tests/bench/emulator: $(addprefix $B/tests/bench/,emulator.o kernels.o native.o) $B/internal.a
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIB_LIBS)
$B/tests/bench/units: $B/tests/bench/units.o $B/internal.a
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIB_LIBS)
$B/tests/bench/orders: $(addprefix $B/tests/bench/,orders.o kernels.o native.o) $(SUITE) $(CUDA) $B/internal.a
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(SUITE_LIBS) $(CUDA_LIBS) $(LIB_LIBS)
$B/tests/bench/calls: $B/tests/bench/calls.o $(RUNTIME) $(CUDA) $B/internal.a
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(CUDA_LIBS) $(LIB_LIBS)
$B/tests/bench/broken: $B/tests/bench/broken.o $B/tests/support/broken.o $B/internal.a
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIB_LIBS)
$B/tests/bench/broken-gpu: tests/bench/broken_gpu.c $B/libcuda.so.1
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -o $@ $^
$B/tests/bench/native.o: ALL_CFLAGS += -O3 -march=native
$B/tests/hardware/record: $(patsubst %,$B/tests/hardware/%.o,record bits kernels) $B/tests/support/forms.o $B/internal.a
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIB_LIBS) -ldl
$B/tests/hardware/record_litmus: $(patsubst %,$B/tests/hardware/%.o,record_litmus litmus) $B/tests/support/random_litmus.o $B/internal.a
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIB_LIBS) -ldl
hardware: $B/tests/hardware/record $B/tests/hardware/record_litmus ## programs that record what a GPU gives (docs/hardware.md)
$B/ptxas-diff: $(DIFF) $B/internal.a
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIB_LIBS)
$(TEST): WARN := $(TEST_WARN)
# Most tests compute little themselves: without optimisation they are compiled in a third of the time. (Two run less in a
# build without it.)
$(filter-out $(addprefix $B/tests/,support/% oracles/% unit/fp.o unit/property.o unit/emu_async.o estimate/emu_counts.o order/example_order.o order/host_threads.o order/speculation.o),$(TEST)): \
        CFLAGS.release := -O0 -g1
ifeq ($(MODE),san)
# The library says to libFuzzer which ways it takes. What computes little is compiled without optimisation: in a fifth
# of the time. Of vector code the sanitizers see the variant for AVX2; the portable one, of the same source, is there for
# results to be compared with, and is that of the build for bits. In vector code bad addresses are seen when they are used: questions
# about each pointer before that take a third of the time to compile, and leave no loop a vector loop.
ifneq ($(UNSEEN),)
$(UNSEEN) &: FORCE
	@$(MAKE) --no-print-directory MODE=bits $(UNSEEN)
FORCE:
.PHONY: FORCE
endif
$(filter-out $(UNSEEN),$(LIB)): ALL_CFLAGS += -fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp
# Without reduction of addresses in loops (LSR) vector code is compiled in 0.6 of the time, and runs as fast within 3 %.
# (emu/gpus.o needs a program, whose link does not take this.)
$(filter-out %/emu/gpus.o $(UNSEEN),$(LIB)): ALL_CFLAGS += -mllvm -disable-lsr
$B/tests/fuzz/%.o: ALL_CFLAGS += -fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp
$(filter %.avx2.o,$(LIB)): CFLAGS.san += -fno-sanitize=pointer-overflow,alignment
$(CLI) $(CALIBRATE) $(CUDA) $(RUNTIME) $(TEST): CFLAGS.san := -O0 $(filter-out -O1,$(CFLAGS.san))
# UndefinedBehaviorSanitizer takes as long as all else to compile tests: it sees them call functions of headers for floats alone.
$(filter-out %/unit/fp.o,$(TEST)): CFLAGS.san += -fno-sanitize=undefined
endif
$B/cuda/%.o $B/cudart-%.o: ALL_CFLAGS += -fno-optimize-sibling-calls # calls of the API stay on the stack: cuda/caller.c
$B/cli/run_program.o: ALL_CFLAGS += -DHEDDLE_BUILD='"$B"'
$B/emu/%.o: ALL_CFLAGS += $(OPS_FLAGS)
$B/emu/device/device.o: ALL_CFLAGS += $(if $(filter avx2,$(ISAS)),,-DWITHOUT_AVX2) $(if $(filter avx512,$(ISAS)),,-DWITHOUT_AVX512)
define ops_rule
$B/emu/%.$(1).o: emu/%.c Makefile
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)$$(CC) $$(ALL_CFLAGS) $$(OPS_FLAGS.$$(MODE)) -DISA=$(1) $$(ISA.$(1)) -MMD -MP -c -o $$@ $$<
endef
$(foreach isa,$(ISAS),$(eval $(call ops_rule,$(isa))))
$B/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
$B/suites/ptx.o: $(wildcard suites/ptx/*.ptx) # taken in by the assembler
# The table of GPUs is compiled from their files, by the readers that the program has.
GPU_FILES := $(sort $(wildcard model/gpus/*.yaml)) $(wildcard model/counters/*.yaml model/timing/*.yaml)
GPU_READERS := $(patsubst %.c,$B/%.o,tools/compile_gpus.c $(wildcard base/*.c) $(addprefix model/,counter_fit_file.c \
               config.c gpgpusim.c gpu_file.c key_table.c machine.c plain_yaml.c timing_file.c))
$B/tools/compile_gpus: $(GPU_READERS)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ -lm
$B/emu/gpus.c: $B/tools/compile_gpus $(GPU_FILES)
	@mkdir -p $(@D)
	$(call say,GEN,$@)$< $(GPU_FILES) > $@.new && mv $@.new $@
$B/emu/gpus.o: $B/emu/gpus.c
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# The page of `heddle report` as text in the program.
PAGE := $(wildcard cli/page/report.*)
UPLOT := $(addprefix third_party/uplot/,uPlot.iife.min.js uPlot.min.css LICENSE)
$B/cli/page_text.c: $(PAGE) $(UPLOT) tools/text-to-c.sh
	@mkdir -p $(@D)
	$(call say,GEN,$@){ tools/text-to-c.sh cli/page.h page $(PAGE) && tools/text-to-c.sh cli/page.h uplot $(UPLOT); } >$@.new && mv $@.new $@
$B/cli/page_text.o: $B/cli/page_text.c cli/page.h
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# The list of `heddle reproduce`, and recorded verdicts.
REPRODUCE := cli/reproduce/items.yaml cli/reproduce/recorded.csv
$B/cli/reproduce_text.c: $(REPRODUCE) tools/text-to-c.sh
	@mkdir -p $(@D)
	$(call say,GEN,$@)tools/text-to-c.sh cli/reproduce.h reproduce $(REPRODUCE) >$@.new && mv $@.new $@
$B/cli/reproduce_text.o: $B/cli/reproduce_text.c cli/reproduce.h
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -c -o $@ $<
-include $(MPI:.o=.d) $(LIB:.o=.d) $B/tools/compile_gpus.d $(CLI:.o=.d) $(CALIBRATE:.o=.d) $(CUDA:.o=.d) $(RUNTIME:.o=.d) $(SUITE:.o=.d) $(TEST:.o=.d) $(DIFF:.o=.d) $(BENCH:.o=.d)

mpi: heddle                     ## build ./heddle-mpi, which runs sweeps on a cluster (needs Open MPI)
	@tools/deps.sh build mpi
	@$(MAKE) --no-print-directory $B/heddle-mpi
	@cp $B/heddle-mpi heddle-mpi.new && mv heddle-mpi.new heddle-mpi
install-mpi: $B/heddle-mpi      ## install heddle-mpi, beside what `make install` installs
	install -d '$(DESTDIR)$(BINDIR)'
	install -m 755 $B/heddle-mpi '$(DESTDIR)$(BINDIR)/heddle-mpi'

deps:                           ## install what is missing (Debian packages)
	@tools/deps.sh build

demo:                           ## build, read the checked-in PTX, run the workloads
	@tools/deps.sh build
	@$(MAKE) -j2 --no-print-directory all build/corpus/unpacked
	@tools/demo.sh

# Manual pages, which the program writes.
$B/written/docs/man/heddle.1: $B/heddle
	@mkdir -p $B/written && $< help --write $B/written
install: heddle $B/written/docs/man/heddle.1 $B/libheddle.a $B/$(SONAME) $(CUDART) $(CUDART_STATIC) $B/heddle-suite ## install below PREFIX (/usr/local), DESTDIR in front
	install -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(DATADIR)/man/man1' '$(DESTDIR)$(DATADIR)/bash-completion/completions' \
	    '$(DESTDIR)$(LIBDIR)/pkgconfig' '$(DESTDIR)$(LIBDIR)/heddle' \
	    '$(DESTDIR)$(INCDIR)' '$(DESTDIR)$(DATADIR)/heddle/ptx' '$(DESTDIR)$(DATADIR)/doc/heddle'
	install -m 755 $B/heddle '$(DESTDIR)$(BINDIR)/heddle'
	install -m 644 $B/libheddle.a '$(DESTDIR)$(LIBDIR)'
	install -m 644 $B/$(SONAME) '$(DESTDIR)$(LIBDIR)/libheddle.so.$(VERSION)'
	ln -sf libheddle.so.$(VERSION) '$(DESTDIR)$(LIBDIR)/$(SONAME)'
	ln -sf $(SONAME) '$(DESTDIR)$(LIBDIR)/libheddle.so'
	install -m 644 $B/libcuda.so.1 $(CUDART) '$(DESTDIR)$(LIBDIR)/heddle'
	install -m 755 $B/heddle-suite '$(DESTDIR)$(LIBDIR)/heddle'
	ln -sf libcuda.so.1 '$(DESTDIR)$(LIBDIR)/heddle/libcuda.so'
	cd $B && cp -r --parents $(CUDART_STATIC:$B/%=%) '$(abspath $(DESTDIR)$(LIBDIR))/heddle'
	ln -sf libcudart.so.13 '$(DESTDIR)$(LIBDIR)/heddle/libcudart.so'
	install -m 644 include/heddle.h '$(DESTDIR)$(INCDIR)'
	install -d '$(DESTDIR)$(INCDIR)/heddle'
	install -m 644 include/heddle/device_io.h '$(DESTDIR)$(INCDIR)/heddle'
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCDIR@|$(INCDIR)|; s|@VERSION@|$(VERSION)|' library/heddle.pc.in \
	    > '$(DESTDIR)$(LIBDIR)/pkgconfig/heddle.pc'
	install -m 644 suites/ptx/*.ptx '$(DESTDIR)$(DATADIR)/heddle/ptx'
	install -d '$(DESTDIR)$(DATADIR)/doc/heddle/docs/guide' '$(DESTDIR)$(DATADIR)/doc/heddle/examples'
	install -m 644 README.md CHANGELOG.md LICENSE '$(DESTDIR)$(DATADIR)/doc/heddle'
	install -m 644 third_party/uplot/LICENSE '$(DESTDIR)$(DATADIR)/doc/heddle/LICENSE.uplot'
	install -m 644 docs/*.md docs/sweep.slurm '$(DESTDIR)$(DATADIR)/doc/heddle/docs'
	install -m 644 docs/guide/*.cu docs/guide/*.ptx '$(DESTDIR)$(DATADIR)/doc/heddle/docs/guide'
	install -m 644 examples/*.c '$(DESTDIR)$(DATADIR)/doc/heddle/examples'
	install -m 644 $B/written/docs/man/*.1 '$(DESTDIR)$(DATADIR)/man/man1'
	install -m 644 completion/heddle.bash '$(DESTDIR)$(DATADIR)/bash-completion/completions/heddle'

check-install: $B/heddle-suite  ## install into a temporary folder, build programs against it and run them
	MAKE='$(MAKE)' CC='$(CC)' tests/install.sh $B/heddle-suite

test:                           ## build and run every test; T='isa/*' runs some of them
	@tools/deps.sh build test
	@$(MAKE) -j2 --no-print-directory all $B/tests/run programs $(if $(HAS_MPI),mpi)
	@NICE=5 tools/beside.sh '$(MAKE) --no-print-directory test-documents' tests/run.sh $B/tests/run $(if $T,--filter '$T')

test-documents: # tests beside those of tests/run: what is checked in, documents, examples, an installation
	tests/corpus/generate.sh --check
	suites/generate.sh --check
	tests/programs/objects.sh --check
	tools/counts-doc.sh --check
	tools/cuda-doc.sh --check
	tools/communication.sh --check
	tools/litmus-doc.sh --check
	tests/generate.sh --check
	docs/guide/generate.sh --check
	HEDDLE='$B/heddle' tests/docs.sh
	CC='$(CC)' tests/examples.sh $B
	@$(MAKE) --no-print-directory check-install

programs: $(PROGRAMS)           ## the CUDA programs of the tests, into build/programs
check:                          ## what a change must pass: format, tidy, layers, sizes, clang, same bits, sanitizers, fuzz
	@tools/deps.sh build test check
	@$(MAKE) -j2 --no-print-directory --output-sync format-check layers sizes
	@tools/beside.sh tools/tidy.sh $(MAKE) --no-print-directory check-clang check-same check-san check-tsan check-fuzz

format-check:
	files=$$(git ls-files '*.c' '*.h' ':!tests/corpus') && clang-format --dry-run -Werror $$files
layers:
	tools/layers.sh
	tools/where-is.sh
sizes:
	tools/size.sh
tidy:
	NODES=40000 tools/tidy.sh
check-clang: # what clang makes of vector code; ./heddle stays what it is
	$(MAKE) -j2 CC=gcc CFLAGS=-Werror $(addprefix build/gcc-release/,heddle heddle-suite tests/run) # objects of these are in the next build
	$(MAKE) -j2 CC=clang CFLAGS=-Werror MODE=bits $(addprefix build/clang-bits/,heddle heddle-suite libcudart.so.13 tests/run-bits) \
	    $(if $(HAS_MPI),$(patsubst %.c,build/clang-bits/%.o,$(wildcard cli/mpi/*.c)))
	HEDDLE=build/clang-bits/heddle HEDDLE_PROGRAMS=60 HEDDLE_NATIVE=1 tests/run.sh build/clang-bits/tests/run-bits \
	    --filter '@(@(emu_@(atomic|counts|cvt|float|int|matrix|memory|texture*|video|warp)|fp|property)/*|program/that_*)'
check-same: # the same bytes by gcc with -O3 and clang with -O1 and -O2, and of the optimised builds with 1 and 4 host threads
	$(MAKE) -j2 CC=clang CFLAGS=-Werror MODE=san build/clang-san/heddle
	$(MAKE) -j2 CC=gcc CFLAGS=-Werror build/gcc-release/heddle
	$(MAKE) -j2 CC=clang CFLAGS=-Werror MODE=bits build/clang-bits/heddle
	tools/same-bits.sh $(addsuffix /heddle,build/clang-san build/gcc-release build/clang-bits)
# Left out with sanitizers: what computes for long and touches no memory in ways that others do not. `make check-san SAN_TESTS='*/*'`
# runs all. First groups that search, count or compare numbers, then tests.
SAN_LEFT := litmus race_litmus late_loads laws random_laws imbalance sensitivity timing_fit claims speculation fp uniform limits emu_rounds emu_phases
SAN_LEFT := $(addsuffix /*,$(SAN_LEFT))
# check-same runs the workloads with sanitizers; results_do_not_depend_on_the_number_of_host_threads with several threads
SAN_LEFT += $(addprefix suites/,every_workload_passes plain_accesses_under_locks_pass_in_random_orders numbers_choose_the_graph)
SAN_LEFT += suites_orders/workloads_pass_in_any_order dab/gives_one_result_by_every_rule dab/gives_one_result_for_every_seed
# many seeds of what the other tests of the group run once
SAN_LEFT += $(addprefix random_order/,keeps_what_fences_promise a_plain_read_does_not_go_back_behind_a_strong_one \
                shows_that_a_fence_is_missing buffers_stores keeps_stores_ahead_of_a_fence_ahead)
SAN_LEFT += emu_atomic/counters_of_many_ctas check_search/finds_what_seeds_find
# processes that are killed, and the same outputs once more: other tests of the groups run each command
SAN_LEFT += reproduce/outputs_do_not_depend_on_jobs_or_kills sweep/kills_lose_nothing_and_repeat_nothing check/jobs_change_nothing
# waiting for millions of rounds, large inputs that are to be quick, and large grids: smaller ones are in the same groups
SAN_LEFT += emu_async/try_wait_gives_up_when_nothing_else_can_go_on emu_core/what_waits_for_a_slow_cta_is_bounded \
            emu_yield/so_do_they_under_random emu_faults/*clock* emu_faults/counting_in_memory_is_no_deadlock \
            live/many_registers_through_many_blocks_are_quick live/a_long_ladder_is_quick live/a_long_block_is_quick \
            timing_dab/atomics_at_the_end_of_long_warps_and_of_large_grids_are_flushed \
            $(addprefix timing/,what_is_cut_at_a_barrier_has_ended traces_are_of_warps_that_run_alone a_sample_of_sms_stands_for_all)
# fits, whose numbers are compared: calibrate/weights_are_found_again makes one
SAN_LEFT += calibrate/the_shipped_launches_are_estimated_so_well calibrate/a_missing_gnuplot_is_said
# the same estimates again and again, for a changed number of a GPU: gpus/* reads the numbers, estimate/* estimates
SAN_LEFT += estimate_keys/each_changes_an_estimate
# what nvcc makes is read, from files, in the other tests of the groups
SAN_LEFT += fatbin/gives_the_text_that_nvcc_put_in linker/takes_what_nvcc_makes
empty :=
SAN_TESTS := !($(subst $(empty) $(empty),|,$(strip $(SAN_LEFT))))
check-san: # by clang, whose sanitizers look at pointers, too, and which then has run nearly all tests
	$(MAKE) -j2 CC=clang CFLAGS=-Werror MODE=san build/clang-san/heddle build/clang-san/tests/run
	HEDDLE=build/clang-san/heddle HEDDLE_PROGRAMS=40 \
	    LSAN_OPTIONS=suppressions=$(CURDIR)/tests/lsan.supp:print_suppressions=0 \
	    tests/run.sh build/clang-san/tests/run --filter '$(SAN_TESTS)'
	build/clang-san/heddle ptx print --verify $(CORPUS) tests/corpus/hand/*.ptx
check-tsan: # threads that use the C library, each a device of its own; eight that call the driver and the runtime; estimates
	$(MAKE) -j2 CC=clang MODE=tsan build/clang-tsan/heddle build/clang-tsan/tests/threads_library build/clang-tsan/tests/threads
	TSAN_OPTIONS=halt_on_error=1 build/clang-tsan/heddle estimate suite:euler:small
	TSAN_OPTIONS=halt_on_error=1 build/clang-tsan/tests/threads_library
	TSAN_OPTIONS=halt_on_error=1 build/clang-tsan/tests/threads
	TSAN_OPTIONS=halt_on_error=1 HEDDLE_ORDER=random build/clang-tsan/tests/threads
check-fuzz: # the emulator for 14 seconds, and the others beside it
	@$(MAKE) -j2 --no-print-directory CC=clang CFLAGS=-Werror MODE=san $(FUZZERS)
	@$(MAKE) -j2 --no-print-directory --output-sync check-fuzz-emu check-fuzz-others
check-fuzz-emu: # 7 seconds of these for the recorded inputs
	@$(MAKE) --no-print-directory fuzz-emu SECONDS=14
check-fuzz-others:
	@$(MAKE) --no-print-directory fuzz-ptx SECONDS=6
	@$(MAKE) --no-print-directory fuzz-trace SECONDS=4
	@$(MAKE) --no-print-directory fuzz-files SECONDS=3

bench: $(addprefix $B/,$(addprefix tests/bench/,frontend emulator units orders calls) heddle) | build/corpus/unpacked ## speed of the front end, the emulator, orders and checks
	@$< $(CORPUS)
	@$B/tests/bench/emulator suites/ptx/bench.ptx
	@$B/tests/bench/units
	@$B/tests/bench/orders
	@$B/heddle bench --beside tests/bench/micro.txt
	@$B/tests/bench/calls
	@tests/bench/estimates.sh $B/heddle small
	@tests/bench/estimates.sh $B/heddle medium 1
	@tests/bench/checks.sh $B/heddle
ifneq ($(HAS_MPI),)
	@$(MAKE) --no-print-directory $B/tests/bench/sweep_sleep
	@tests/bench/sweep_mpi.sh $B/tests/bench/sweep_sleep
	@tests/bench/sweep_mpi.sh $B/tests/bench/sweep_sleep 3 100000 0
endif
	@tests/bench/calibrate.sh $B/heddle

# Kills while a sweep of 2,000 cells runs, of its processes and of the ranks of an MPI job, rank 0 and mpirun too.
KILLS ?= 100
.PHONY: chaos
chaos: heddle $B/tests/run $(if $(HAS_MPI),mpi) ## kill a sweep and its ranks KILLS=100 times: every cell is there once
	HEDDLE_KILLS=$(KILLS) $B/tests/run --filter 'sweep*/kills_lose_nothing_and_repeat_nothing'

measured: all ## estimates of cycles against those of a detailed simulator and of a GPU; needs nvcc
	tests/measured.sh ./heddle
timing: heddle ## fit the timing model's numbers to measured cycles again (model/timing); needs nvcc
	tools/timing.sh ./heddle
weights: heddle ## fit the weights of counters to the hardware's cycles again (model/counters)
	./heddle calibrate calibrate/data/gv100.csv --gpu gv100 --output model/counters/gv100.yaml
claims: heddle                  ## run the figures of the papers on GPUDet and DAB again, and write docs/claims.md
	./heddle reproduce --output $B/reproduce || [ $$? = 4 ]
	@mkdir -p docs/figures
	@cp $B/reproduce/claims.md docs/ && cp $B/reproduce/figures/*.svg docs/figures/ && \
		cp $B/reproduce/claims.csv cli/reproduce/recorded.csv

SECONDS ?= 3600
FUZZ := build/fuzz
FUZZERS := $(addprefix build/clang-san/tests/fuzz/fuzz_,ptx emu trace)
fuzz:                           ## fuzz the front end, the emulator and the reader of traces, for SECONDS (3600) in all
	@tools/deps.sh build check
	@$(MAKE) -j2 --no-print-directory CC=clang CFLAGS=-Werror MODE=san $(FUZZERS)
	@$(MAKE) --no-print-directory fuzz-ptx fuzz-emu fuzz-trace SECONDS=$$(($(SECONDS) / 3))
# libFuzzer starts from what was recorded, and from what it found before.
fuzz-trace: build/clang-san/heddle
fuzz-ptx fuzz-emu: build/corpus/unpacked
fuzz-ptx fuzz-emu fuzz-trace: fuzz-%:
	@mkdir -p $(FUZZ)/$*/found $(FUZZ)/$*/seeds
	tools/fuzz-seeds.sh $* $(FUZZ)/$*/seeds
	cd $(FUZZ)/$* && $(CURDIR)/build/clang-san/tests/fuzz/fuzz_$* -max_total_time=$(SECONDS) -timeout=20 \
	    -rss_limit_mb=4096 -max_len=12288 -print_final_stats=1 -dict=$(CURDIR)/tests/fuzz/ptx.dict \
	    found seeds > log 2>&1 || { tail -40 log; exit 1; }; tail -12 log
$(FUZZERS): %: %.o build/clang-san/internal.a
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIB_LIBS)
build/clang-san/tests/fuzz/fuzz_emu: $(addprefix build/clang-san/tests/,fuzz/kernel.o support/forms.o)
-include $(wildcard build/clang-san/tests/fuzz/*.d)

JOB_READER := $(addprefix cli/,job.c job_file.c job_fields.c job_steps.c yaml.c pattern.c compare.c)
fuzz-job:                       ## fuzz the reader of job files for SECONDS, starting from docs/job-files.md
	@tools/deps.sh build check
	@mkdir -p $(FUZZ)/job/found $(FUZZ)/job/seeds
	sed -n '/^```yaml/,/^```/p' docs/job-files.md | grep -v '```' > $(FUZZ)/job/seeds/example
	@$(MAKE) -j2 --no-print-directory CC=clang CFLAGS=-Werror MODE=san build/clang-san/internal.a
	clang -std=c11 -O1 -g -ffp-contract=off -I. -Iinclude -fsanitize=fuzzer,address,undefined \
	    -fno-sanitize-recover=all -o $(FUZZ)/fuzz_job tests/fuzz/fuzz_job.c $(JOB_READER) \
	    build/clang-san/internal.a -lfyaml $(LIB_LIBS)
	cd $(FUZZ)/job && ../fuzz_job -max_total_time=$(SECONDS) -timeout=10 -rss_limit_mb=4096 -max_len=2048 \
	    -detect_leaks=0 -print_final_stats=1 found seeds > log 2>&1 \
	    || { tail -40 log; exit 1; }; tail -12 log # libfyaml leaks a little on some errors

fuzz-files:                     ## fuzz the calls of files by kernels (docs/files.md) for SECONDS
	@mkdir -p $(FUZZ)/files/found
	clang -std=c11 -O1 -g -I. -Iinclude -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	    -o $(FUZZ)/fuzz_files tests/fuzz/fuzz_files.c emu/device/files.c base/buf.c base/decimal.c
	cd $(FUZZ)/files && ../fuzz_files -max_total_time=$(SECONDS) -timeout=10 -rss_limit_mb=1024 -max_len=512 \
	    -print_final_stats=1 found > log 2>&1 || { tail -40 log; exit 1; }; tail -8 log

ptxas-diff:                     ## mutate good modules and compare the verdicts with those of ptxas
	@command -v ptxas >/dev/null || { echo "skipped: ptxas is not installed"; exit 0; }; \
	 $(MAKE) --no-print-directory $B/ptxas-diff build/corpus/unpacked && \
	 $B/ptxas-diff --count $(or $(COUNT),5000) --seed $(or $(SEED),1) build/corpus tests/corpus/hand

man: $B/written/docs/man/heddle.1 ## write docs/reference.md, the completion of bash and (below build/) manual pages from the tables of options
	cp $B/written/docs/reference.md docs/ && cp $B/written/completion/heddle.bash completion/

uplot:                          ## get the newest uPlot 1.6 by npm, for third_party/uplot
	@tools/uplot.sh
screenshots: heddle             ## make the pictures of the report in docs/guide with headless Chromium
	@tools/screenshots.sh

communication: heddle           ## write the table of docs/communication.md
	@tools/communication.sh

accuracy: heddle                ## write the table of counts in docs/bench.md (needs nvcc)
	@tools/accuracy.sh

litmus: heddle                  ## write the tables of litmus tests in docs/orders.md
	@tools/litmus-doc.sh

broken: $B/tests/bench/broken   ## write the table of broken programs in docs/orders.md
	@tests/broken/table.sh $<

broken-gpu: $B/tests/bench/broken-gpu ## build the program that counts their wrong results on a GPU

regs: heddle build/corpus/unpacked ## compare the estimate of registers with ptxas -v
	@tests/regs.sh

compare-ptx:                    ## compile the checked-in PTX again and compare (needs nvcc 13 and clang 14)
	tests/corpus/generate.sh --compare
	suites/generate.sh --compare
	tests/generate.sh --compare
	docs/guide/generate.sh --compare
corpus:                         ## regenerate the checked-in PTX (needs nvcc 13 and clang 14)
	tests/corpus/generate.sh --checked-in

format:                         ## format the sources
	clang-format -i $$(git ls-files '*.c' '*.h' ':!tests/corpus')
clean:                          ## remove what was built
	rm -rf build heddle heddle-mpi
help:                           ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14
