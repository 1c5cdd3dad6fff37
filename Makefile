# aggbench: one non-recursive makefile. Sources are found by wildcard; aggregators, loaders and slot tables register
# themselves by being there. Every variant (CC, MARCH, SAN) has a build folder of its own.

CC      = gcc
# valgrind 3.19 gives up on the newer debug format that clang writes.
OPT     = -O2 -g$(if $(findstring clang,$(CC)),dwarf-4)
# x86-64-v3 (AVX2) where this processor has it, else the compiler's default; `make MARCH=native` to go further.
MARCH   ?= $(if $(shell grep -m1 -w avx2 /proc/cpuinfo 2>/dev/null),x86-64-v3)
SAN     =
VARIANT = $(CC)$(if $(MARCH),-$(MARCH))$(if $(SAN),-$(subst $(comma),-,$(SAN)))
comma   = ,
B       = build/$(VARIANT)

CFLAGS  = $(OPT)
override CFLAGS += -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -fPIC -pthread -MMD -MP \
          $(if $(MARCH),-march=$(MARCH)) $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
LDFLAGS = $(if $(SAN),-fsanitize=$(SAN)) -pthread
LDLIBS  = $(DEPS_LIBS) -ldl -lm

engine_src     = $(wildcard engine/*.c)
aggregator_src = $(wildcard aggregators/*.c)
loader_src     = $(wildcard loaders/*.c loaders/*/*.c)
slots_src      = $(wildcard bench/slots/*.c)
labs_src       = $(wildcard bench/labs/*.c)
sections_src   = $(wildcard bench/sections/*.c)
# libpfm4 and valgrind's headers are optional: one of two files provides the same functions.
bench_src      = $(filter-out bench/pfm_$(if $(DEPS_PFM),missing,present).c \
                              bench/callgrind_$(if $(DEPS_VALGRIND),missing,present).c,$(wildcard bench/*.c)) $(slots_src) $(labs_src) \
                 $(sections_src)
test_src       = $(wildcard tests/test_*.c)
test_sh        = $(wildcard tests/test_*.sh)

objects  = $(patsubst %.c,$(B)/%.o,$(1))
lib_obj  = $(call objects,$(engine_src) $(aggregator_src) $(loader_src)) $(B)/builtins.o
cmd_obj  = $(filter-out $(B)/bench/main.o,$(call objects,$(bench_src))) $(B)/slots_families.o $(B)/labs.o $(B)/sections.o
tests    = $(patsubst tests/%.c,$(B)/tests/%,$(test_src))
plugins  = $(patsubst aggregators/%.c,$(B)/plugins/%.so,$(aggregator_src)) \
           $(patsubst tests/plugins/%.c,$(B)/plugins/%.so,$(wildcard tests/plugins/*.c))

all: $(B)/aggbench ## build build/aggbench
	@$(if $(SAN),:,ln -sfn $(VARIANT)/aggbench build/aggbench)

help: ## this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## /make \1	/p' Makefile | expand -t 18

deps: build/deps.mk ## install what is missing (apt-get; elsewhere: name it and stop)

ifeq ($(filter help clean,$(MAKECMDGOALS)),)
-include build/deps.mk
endif

build/deps.mk: .ci/deps
	@mkdir -p build
	@sh .ci/deps > $@.new || { rm -f $@.new; exit 1; }
	@mv $@.new $@

# Short lines instead of whole commands; `make V=1` shows them.
Q   = $(if $(V),,@)
say = @$(if $(V),:,echo "  $(1)")

# As many jobs as processors, unless the caller said otherwise.
ifeq ($(filter -j% --jobs%,$(MAKEFLAGS)),)
MAKEFLAGS += --jobs=$(shell nproc 2>/dev/null || echo 1)
endif

# gcc joins the loads of a cell's key and count into one of 16 bytes, which stalls when 8 of them were just stored: on
# rows that repeat their key it costs a factor of two, and would be taken for a property of the strategy.
flags_aggregators = -fno-tree-slp-vectorize
# The tests themselves are compiled more often than they run long.
flags_tests = -O0

# ---- objects: each folder sees only what it may include ----
inc_engine      = -Iengine
inc_aggregators = -Iengine -Iaggregators
inc_loaders     = -Iengine -Iloaders
inc_bench       = -Iengine -Ibench
inc_tests       = -Iengine -Iaggregators -Iloaders -Ibench -Itests
folder          = $(firstword $(subst /, ,$(1)))

$(B)/%.o: %.c build/deps.mk Makefile
	@mkdir -p $(@D)
	$(call say,cc $<)
	$(Q)$(CC) $(CFLAGS) $(DEPS_CFLAGS) $(inc_$(call folder,$*)) $(flags_$(call folder,$*)) $(DEFINES) -c $< -o $@

$(B)/bench/machine.o: DEFINES = -DAGB_FLAGS='"$(OPT)$(if $(MARCH), -march=$(MARCH))$(if $(SAN), -fsanitize=$(SAN))"' \
                                -DAGB_COMMIT='"$(shell git describe --always --dirty 2>/dev/null)"'

# ---- generated lists ----
names = $(basename $(notdir $(1)))
list  = $(foreach n,$(call names,$(2)),printf 'extern const agb_$(1) agb_$(1)_$(n);\n';) \
        printf 'const agb_$(1) *const agb_builtin_$(1)s[] = {\n'; \
        $(foreach n,$(call names,$(2)),printf '    &agb_$(1)_$(n),\n';) printf '    0\n};\n'

# The sources that there are; changes when one is added or removed, so that what is gone is not built in any more.
$(B)/sources: FORCE
	@mkdir -p $(@D)
	@echo '$(engine_src) $(aggregator_src) $(loader_src) $(bench_src)' | cmp -s - $@ || \
	 echo '$(engine_src) $(aggregator_src) $(loader_src) $(bench_src)' > $@

$(B)/builtins.c: $(B)/sources Makefile
	@mkdir -p $(@D)
	@{ printf '/* Made by the Makefile from aggregators and loaders. */\n#include "loader.h"\n'; \
	   $(call list,aggregator,$(aggregator_src)); $(call list,loader,$(wildcard loaders/*.c)); } > $@

$(B)/slots_families.c: $(B)/sources Makefile
	@mkdir -p $(@D)
	@{ printf '/* Made by the Makefile from bench/slots. */\n#include "slots.h"\n'; \
	   $(call list,slots,$(slots_src)); } | sed 's/agb_builtin_slotss/agb_slots_families/' > $@

$(B)/labs.c: $(B)/sources Makefile
	@mkdir -p $(@D)
	@{ printf '/* Made by the Makefile from bench/labs. */\n#include "lab.h"\n'; \
	   $(call list,lab,$(labs_src)); } | sed 's/agb_builtin_labs/agb_labs/' > $@

$(B)/sections.c: $(B)/sources Makefile
	@mkdir -p $(@D)
	@{ printf '/* Made by the Makefile from bench/sections. */\n#include "section.h"\n'; \
	   $(call list,section,$(sections_src)); } | sed 's/agb_builtin_sections/agb_sections/' > $@

$(B)/%.o: $(B)/%.c build/deps.mk Makefile
	$(Q)$(CC) $(CFLAGS) -Iengine -Ibench -c $< -o $@

# ---- programs ----
$(B)/libaggbench.a: $(lib_obj) $(B)/sources
	@rm -f $@
	$(Q)ar rcs $@ $(lib_obj)

$(B)/aggbench: $(B)/bench/main.o $(cmd_obj) $(B)/libaggbench.a
	$(call say,link $@)
	$(Q)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

$(tests): $(B)/tests/%: $(B)/tests/%.o $(cmd_obj) $(B)/libaggbench.a
	$(call say,link $@)
	$(Q)$(CC) $(LDFLAGS) $^ $(LDLIBS) $(DEPS_TEST_LIBS) -o $@

$(B)/plugins/%.so: aggregators/%.c Makefile
	@mkdir -p $(@D)
	$(call say,plug-in $@)
	$(Q)$(CC) $(CFLAGS) $(flags_aggregators) -shared -Iengine -Iaggregators $< -Wl,-z,defs -o $@

$(B)/plugins/%.so: tests/plugins/%.c Makefile
	@mkdir -p $(@D)
	$(call say,plug-in $@)
	$(Q)$(CC) $(CFLAGS) -shared -Iengine -Iaggregators $< -Wl,-z,defs -o $@

$(B)/tests/pmu/init: $(B)/tests/pmu/init.o $(cmd_obj) $(B)/libaggbench.a
	$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

plugins: $(plugins) ## every aggregator also as a plug-in

# ---- what people run ----
pivot: all ## the published experiment; DATA=path runs it on real files
	@build/aggbench pivot $(DATA) $(ARGS)

# The engines and hash maps of others, on the same column: bench/peers/compare.mjs says how, ARGS=--help the options.
# SOURCE (anything that aggbench reads), ROUNDS, PAGES, OUTPUT (JSON); ROWS instead of SOURCE: generated hits.
CXX      = $(if $(filter clang,$(CC)),clang++,g++)
CXXFLAGS = $(filter-out -std=%,$(CFLAGS)) -std=c++17
peers    = $(patsubst bench/peers/%.cc,$(B)/peers/%.so,$(wildcard bench/peers/*.cc))
peers_args = --aggbench $(B)/aggbench $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(OUTPUT),--output '$(OUTPUT)')

# One whose library could not be had is left out; the report says why.
$(B)/peers/%.so: bench/peers/%.cc bench/peers/map_aggregator.hpp Makefile | build/peers
	@mkdir -p $(@D)
	$(call say,plug-in $@)
	$(Q)grep -qsw '^$*' build/peers/missing || $(CXX) $(CXXFLAGS) -shared -Iengine $< -Wl,-z,defs $(PEER_LIBS) -o $@

$(B)/peers/absl_flat_hash_map.so: PEER_LIBS = $(shell pkg-config --libs absl_flat_hash_map absl_hash)

build/peers:
	@sh bench/peers/install $@

peers: all build/peers $(peers) ## DuckDB, Polars and C++ hash maps beside ours; ROWS=n PAGES=huge OUTPUT=file
	@node bench/peers/compare.mjs $(peers_args) --plugins $(B)/peers $(if $(PAGES),--pages $(PAGES)) \
	    $(if $(SOURCE),--source '$(SOURCE)',$(if $(ROWS),--source synth:hits$(comma)rows=$(ROWS))) $(ARGS)

peers-load: all build/peers ## loading speed beside DuckDB's; ROWS=n ROUNDS=n OUTPUT=file
	@node bench/peers/load.mjs $(peers_args) $(if $(ROWS),--rows $(ROWS)) $(ARGS)

# What takes long or needs the network to be complete: part of `make check`, not of every `make test`.
slow_tests = peers simulate

test: all $(tests) $(plugins) ## build and run the tests; T=name runs one
	@BUILD=$(B) LATER='$(if $(SAN),,$(slow_tests))' sh tests/run $(T)

check: ## the tests under ASan+UBSan, then the threaded ones under TSan, then with the other compiler
	$(MAKE) --no-print-directory test T='$(slow_tests)'
	$(MAKE) --no-print-directory test SAN=address,undefined
	$(MAKE) --no-print-directory test SAN=thread T='conformance conformance_wide pool counters perf tsv csv jsonl text synth'
	$(MAKE) --no-print-directory test CC=$(if $(filter clang,$(CC)),gcc,clang)

baseline: all $(B)/tests/test_simulate ## write tests/instructions.baseline anew, when its figures were meant to change
	@AGB_RENEW_BASELINE=1 BUILD=$(B) $(B)/tests/test_simulate

test-pmu: ## the counters on a real kernel with an emulated PMU (qemu; fetches packages into build/pmu)
	+@tests/pmu/boot.sh

clean: ## remove build/
	rm -rf build

.PHONY: FORCE all help deps plugins pivot peers peers-load build/peers test check baseline test-pmu clean
.DELETE_ON_ERROR:
.SECONDARY:
-include $(shell find $(B) -name '*.d' 2>/dev/null)
