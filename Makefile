# Assay: one non-recursive Makefile. Out-of-tree builds in build/<mode>/; `make help` lists targets.

MODE ?= release
override MODE := $(strip $(MODE))
BUILD := build/$(MODE)
ifeq ($(origin CC),default)
CC := gcc
endif
AR := gcc-ar
PYTHON ?= /usr/bin/python3
# V=1 shows every command, SAY=1 a line for each file that is compiled.
Q := $(if $(V),,@)

HARDEN := -D_FORTIFY_SOURCE=2 -fstack-protector-strong
OPT_release := -O3 -g -fno-math-errno -fno-trapping-math -fopenmp-simd $(HARDEN)
OPT_debug   := -Og -g3 -fopenmp-simd
OPT_asan    := -O1 -g -fno-omit-frame-pointer -fopenmp-simd -fsanitize=address,undefined -fno-sanitize-recover=all
OPT_tsan    := -O1 -g -fopenmp-simd -fsanitize=thread
# NN_PLAIN_KERNELS leaves the vector tables out: they are float only, and they take minutes under clang.
OPT_f64     := -O2 -g -fopenmp-simd -DNN_REAL_DOUBLE -DNN_PLAIN_KERNELS
OPT_fuzz    := -DNN_PLAIN_KERNELS -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
OPT_cov     := -O0 -g -fopenmp-simd --coverage
OPT := $(OPT_$(MODE))
$(if $(OPT),,$(error unknown MODE '$(MODE)': release | debug | asan | tsan | f64 | cov | fuzz))
LINK_release := -Wl,-z,relro,-z,now

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
        -Wvla -Wundef -Wformat=2 -Wcast-qual
WERROR ?=
PACKAGES := libmicrohttpd jansson openblas libpq libarchive libjpeg libpng libwebp libwebpdemux \
            libseccomp libcurl zlib lua5.4
DEP_CFLAGS := $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null | sed 's/-I\/usr\/include\/postgresql/-isystem &/;s/-isystem -I/-isystem /')
LIBS = $(shell pkg-config --libs $(PACKAGES)) -lpthread -lm
CMOCKA_LIBS = $(shell pkg-config --libs cmocka)
CPPFLAGS += -I. -D_GNU_SOURCE $(DEP_CFLAGS)
# Rounding must agree between kernel variants and thread counts: no contraction anywhere.
ALL_CFLAGS = -std=c17 $(OPT) -ffp-contract=off -fPIE $(WARN) $(WERROR) $(CFLAGS)
ALL_LDFLAGS = -pie $(LINK_$(MODE)) $(LDFLAGS)

CORE_SRC   := $(sort $(shell find core -name '*.c'))
SERVER_SRC := $(filter-out server/main.c,$(sort $(shell find server -name '*.c')))
TEST_LIB   := $(sort $(shell find tests/support tests/ref tests/numeric/cases -name '*.c' 2>/dev/null))
CORE_TEST  := $(sort $(shell find tests/unit/core tests/numeric tests/learn -name 'test_*.c' 2>/dev/null))
SRV_TEST   := $(sort $(shell find tests/unit/server -name 'test_*.c' 2>/dev/null))
UNIT_SRC   := $(CORE_TEST) $(if $(filter f64,$(MODE)),,$(SRV_TEST))
FUZZ_SRC   := $(sort $(wildcard tests/fuzz/fuzz_*.c))
REPLAY_BIN := $(patsubst %.c,$(BUILD)/%,$(FUZZ_SRC))
UNIT_BIN   := $(patsubst %.c,$(BUILD)/%,$(UNIT_SRC)) $(REPLAY_BIN)
SRV_BIN    := $(patsubst %.c,$(BUILD)/%,$(SRV_TEST))
TIDY_STAMPS = $(patsubst %.c,$(BUILD)/tidy/%.ok,$(filter-out %_avx2.c %_avx512.c,$(CORE_SRC) $(SERVER_SRC)))
PYTEST = $(PYTHON) -m pytest -q -p no:cacheprovider
# a daemon of its own for each of two workers; a module's tests stay together
PYTEST_TWO = $(PYTEST) -n 2 --dist loadfile
objs = $(patsubst %.c,$(BUILD)/%.o,$(1))

# Kernels are compiled per instruction set and chosen at start (core/kernels/README.md).
ISA_AVX2   := -mavx2 -mfma -mf16c
ISA_AVX512 := -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c
# UBSan over fully inlined vector code takes minutes to compile and finds nothing there; ASan stays.
ISA_asan   := -fno-sanitize=undefined -g1
isa = $(if $(filter %_avx2.c %_avx512.c,$(1)),$(ISA_$(MODE))) $(if $(filter %_avx2.c,$(1)),$(ISA_AVX2))$(if $(filter %_avx512.c,$(1)),$(ISA_AVX512))

.DEFAULT_GOAL := all
all: $(BUILD)/assayd           ## build the daemon

$(BUILD)/.flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(CC) $(CPPFLAGS) $(ALL_CFLAGS)' | cmp -s - $@ || \
	 printf '%s\n' '$(CC) $(CPPFLAGS) $(ALL_CFLAGS)' > $@
$(BUILD)/%.o: %.c $(BUILD)/.flags
	@mkdir -p $(@D)
	$(if $(SAY),@echo 'compiling $<')
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(call isa,$<) -MMD -MP -c $< -o $@

# Files compiled into the binary: network templates (core), migrations and API description (server). core/base/embedded.h and server/base/embedded.h read the tables.
CORE_EMBED   := $(sort $(wildcard core/network/templates/*.json))
SERVER_EMBED := $(sort $(wildcard migrations/*.sql)) \
                $(if $(wildcard api-spec/openapi.yaml),$(BUILD)/openapi.json)
$(BUILD)/openapi.json: api-spec/openapi.yaml api-spec/to_json.py
	@mkdir -p $(@D)
	$(Q)$(PYTHON) api-spec/to_json.py $< > $@.new && mv $@.new $@
$(BUILD)/core_embedded.S: $(CORE_EMBED) Makefile core/base/embed.sh
	@mkdir -p $(@D)
	$(Q)core/base/embed.sh nn_embedded_table $(CORE_EMBED) > $@
$(BUILD)/server_embedded.S: $(SERVER_EMBED) Makefile core/base/embed.sh
	@mkdir -p $(@D)
	$(Q)core/base/embed.sh sv_embedded_table $(SERVER_EMBED) > $@
# The page, with Debian's chart library; plain and gzipped, so that serving it is a look-up.
DYGRAPHS ?= /usr/share/javascript/dygraphs
PAGE := $(sort $(shell find server/dashboard/page -type f))
PAGE_LIBRARY := $(DYGRAPHS)/dygraph.min.js $(DYGRAPHS)/dygraph.min.css
$(BUILD)/.page: FORCE
	@mkdir -p $(@D)
	@echo '$(PAGE) $(PAGE_LIBRARY)' | cmp -s - $@ || echo '$(PAGE) $(PAGE_LIBRARY)' > $@
$(BUILD)/page_embedded.S: $(PAGE) $(PAGE_LIBRARY) $(BUILD)/.page server/dashboard/pack.py
	$(Q)$(PYTHON) server/dashboard/pack.py server/dashboard/page $(PAGE_LIBRARY) > $@
# Identity of the core for checkpoints and attempts: sources, compiler and flags, not object files,
# which hold the directory they were built in.
CORE_HASHED := $(sort $(shell find core -name '*.[ch]') $(CORE_EMBED))
$(BUILD)/core_build_embedded.S: $(CORE_HASHED) $(BUILD)/.flags
	$(Q)id=$$({ cat $(CORE_HASHED) $(BUILD)/.flags; $(CC) --version; } | sha256sum | cut -c1-16); \
	 printf '    .section .rodata\n    .globl nn_core_build_id\nnn_core_build_id: .asciz "%s"\n    .section .note.GNU-stack,"",@progbits\n' $$id > $@
$(BUILD)/%_embedded.o: $(BUILD)/%_embedded.S
	$(Q)$(CC) -c $< -o $@

$(BUILD)/libcore.a: $(call objs,$(CORE_SRC)) $(BUILD)/core_embedded.o $(BUILD)/core_build_embedded.o
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
$(BUILD)/libserver.a: $(call objs,$(SERVER_SRC)) $(BUILD)/server_embedded.o $(BUILD)/page_embedded.o
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
$(BUILD)/libtest.a: $(call objs,$(TEST_LIB))
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
$(BUILD)/assayd: $(call objs,server/main.c) $(BUILD)/libserver.a $(BUILD)/libcore.a
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ $(LIBS) -o $@
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/libtest.a $(BUILD)/libserver.a $(BUILD)/libcore.a
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ $(LIBS) $(CMOCKA_LIBS) -o $@

# A fuzz target with a plain main: replays its corpus (tests/fuzz/corpus) in every mode.
$(BUILD)/tests/fuzz/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay.o $(BUILD)/libcore.a
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ $(LIBS) -o $@

deps:                          ## install Debian's packages for building, running and the demo
	@docker/install.sh build run demo
deps-test: deps
	@docker/install.sh test
run: deps                      ## build and start the daemon in the foreground
	@$(MAKE) -j2 SAY=1 all
	$(BUILD)/assayd
demo: deps                     ## build, start, run the demonstration jobs on real data
	@$(MAKE) -j2 SAY=1 all
	@tests/demo/demo.sh $(BUILD)/assayd
test: deps-test                ## everything that CI runs; ends with "N passed, N failed"
	@tests/all.sh

unit-build: $(UNIT_BIN)        ## their binaries, without running them
unit: $(UNIT_BIN)              ## unit, numeric and learn suites
	@tests/run.sh $(UNIT_BIN)
unit-server: $(SRV_BIN)        ## the server's unit tests alone (the ones with threads)
	@tests/run.sh $(SRV_BIN)
asan tsan f64 cov:             ## unit suites under sanitizers / in double / with coverage
	$(MAKE) MODE=$@ unit
api: all                       ## black-box tests against a real daemon and a real PostgreSQL
	@ASSAYD=$(CURDIR)/$(BUILD)/assayd $(PYTEST_TWO) tests/api
api-bad: all                   ## hostile requests only
	@ASSAYD=$(CURDIR)/$(BUILD)/assayd $(PYTEST_TWO) tests/api/test_bad_requests.py tests/api/test_http_matrix.py
browser: all                   ## the page in Debian's Chromium; pictures of it in build/browser/
	@ASSAYD=$(CURDIR)/$(BUILD)/assayd $(PYTEST_TWO) tests/browser
chaos: all                     ## kills and outages at random moments, then the invariants (long)
	@ASSAYD=$(CURDIR)/$(BUILD)/assayd $(PYTHON) tests/chaos/chaos.py
chaos-short: all               ## two kills of each kind
	@ASSAYD=$(CURDIR)/$(BUILD)/assayd $(PYTHON) tests/chaos/chaos.py --kills 2
accept: all                    ## the acceptance rows, one JSON line each (long; needs the peers)
	@ASSAYD=$(CURDIR)/$(BUILD)/assayd tests/accept/run.sh
mutants: all                   ## planted faults: each must be caught by the suite it names (long)
	@$(PYTHON) tests/mutants/run.py
lint:                          ## formatter, directions, sizes, drift, clang-tidy
	@tests/lint/run.sh
tidy: $(TIDY_STAMPS)
analyze:                       ## slower analysers: clang's, cppcheck and gcc -fanalyzer
	for f in $(CORE_SRC) $(SERVER_SRC); do clang-tidy-14 --quiet --checks='-*,clang-analyzer-*' $$f -- $(CPPFLAGS) -std=c17 2>/dev/null; done
	cppcheck --quiet --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 -I. $(CORE_SRC) $(SERVER_SRC)
	$(MAKE) MODE=debug CFLAGS=-fanalyzer all

# clang-tidy runs file by file and only again when the file or the rules changed.
$(BUILD)/tidy/%.ok: %.c .clang-tidy
	@mkdir -p $(@D)
	$(Q)clang-tidy-14 --quiet $< -- $(CPPFLAGS) -std=c17 -fopenmp-simd $(call isa,$<) 2>/dev/null && touch $@
print-cppflags:
	@echo $(CPPFLAGS)

# Fuzz targets: libFuzzer by clang; `fuzz-short` gives each a few seconds after replaying its corpus.
FUZZ_BIN := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(FUZZ_SRC))
FUZZ_SECONDS ?= 60
build/fuzz/%: tests/fuzz/%.c $(CORE_SRC) $(CORE_EMBED)
	@mkdir -p $(@D)
	$(Q)$(MAKE) --no-print-directory -j2 MODE=fuzz WERROR= CC=clang-14 AR=ar build/fuzz/libcore.a
	$(Q)clang-14 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all $(CPPFLAGS) -std=c17 $< build/fuzz/libcore.a $(LIBS) -o $@
fuzz: $(FUZZ_BIN)              ## FUZZ_SECONDS of libFuzzer a target (default 60)
	@tests/fuzz/run.sh $(FUZZ_SECONDS) $(FUZZ_BIN)
fuzz-short: $(FUZZ_BIN)        ## five seconds of libFuzzer a target
	@tests/fuzz/run.sh 5 $(FUZZ_BIN)

fmt:                           ## format every C file
	clang-format-14 -i $(shell git ls-files -co --exclude-standard '*.c' '*.h')
compile_commands.json: FORCE   ## for clangd and clang-tidy
	bear --output $@ -- $(MAKE) -B all $(UNIT_BIN)
clean:                         ## remove build/
	rm -rf build
help:                          ## this list
	@sed -n 's/^\([a-z][a-z0-9_. -]*\):.*## /\1\t/p' $(MAKEFILE_LIST)
FORCE:
.PHONY: all deps deps-test run demo test unit unit-build unit-server asan tsan f64 cov api api-bad browser chaos chaos-short accept \
        mutants lint tidy analyze print-cppflags fuzz fuzz-short fmt clean help FORCE
.SECONDARY:
.DELETE_ON_ERROR:
-include $(patsubst %.c,$(BUILD)/%.d,$(CORE_SRC) $(SERVER_SRC) server/main.c $(TEST_LIB) $(UNIT_SRC) $(FUZZ_SRC) tests/fuzz/replay.c \
         $(wildcard tests/accept/*.c tests/bench/*.c))
