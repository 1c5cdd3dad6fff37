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
          $(if $(MARCH),-march=$(MARCH)) \
          $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
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
                              bench/callgrind_$(if $(DEPS_VALGRIND),missing,present).c,$(wildcard bench/*.c)) \
                 $(slots_src) $(labs_src) $(sections_src)
test_src       = $(wildcard tests/test_*.c)
test_sh        = $(wildcard tests/test_*.sh)

objects  = $(patsubst %.c,$(B)/%.o,$(1))
lib_obj  = $(call objects,$(engine_src) $(aggregator_src) $(loader_src)) $(B)/builtins.o
cmd_obj  = $(filter-out $(B)/bench/main.o,$(call objects,$(bench_src))) \
           $(addprefix $(B)/,slots_families.o labs.o sections.o template_text.o)
tests    = $(patsubst tests/%.c,$(B)/tests/%,$(test_src))
plugins  = $(patsubst aggregators/%.c,$(B)/plugins/%.so,$(aggregator_src)) \
           $(patsubst aggregators/examples/%.c,$(B)/plugins/%.so,$(wildcard aggregators/examples/*.c)) \
           $(patsubst tests/plugins/%.c,$(B)/plugins/%.so,$(wildcard tests/plugins/*.c))
CXX      = $(if $(filter clang,$(CC)),clang++,g++)
CXXFLAGS = $(filter-out -std=%,$(CFLAGS)) -std=c++17
peers    = $(patsubst bench/peers/%.cc,$(B)/peers/%.so,$(wildcard bench/peers/*.cc))

all: $(B)/aggbench ## build build/aggbench
	@$(if $(SAN),:,ln -sfn $(VARIANT)/aggbench build/aggbench)

help: ## this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## /make \1	/p' Makefile | expand -t 18

deps: build/deps.mk ## install what is missing (apt-get; elsewhere: name it and stop)

ifeq ($(filter help clean,$(MAKECMDGOALS)),)
include build/deps.mk
endif

build/deps.mk: .ci/deps
	@mkdir -p build
	@sh .ci/deps > $@.new || { rm -f $@.new; exit 1; }
	@mv $@.new $@

# Short lines instead of whole commands; `make V=1` shows them.
Q   = $(if $(V),,@)
say = @$(if $(V),:,echo "  $(1)")

# As many jobs as processors, unless the caller said otherwise (the command line wins); a make below another one takes
# its share of that one's jobs.
ifeq ($(MAKELEVEL)$(filter -j% --jobs%,$(MAKEFLAGS)),0)
MAKEFLAGS += --jobs=$(shell nproc 2>/dev/null || echo 1)
endif

# gcc joins the loads of a cell's key and count into one of 16 bytes, which stalls when 8 of them were just stored: on
# rows that repeat their key it costs a factor of two, and would be taken for a property of the strategy.
flags_aggregators = -fno-tree-slp-vectorize
# The tests themselves are compiled more often than they run long; but one measures a loop of its own.
flags_tests = -O0
$(B)/tests/test_overhead.o: flags_tests =

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
                                -DAGB_COMMIT='"$(file <$(B)/commit)"'

# The commit that every report names; changes when the tree does, whichever file it was.
$(B)/commit: FORCE
	@mkdir -p $(@D)
	@git -c safe.directory='*' describe --always --dirty >$@.new 2>/dev/null || echo unknown >$@.new
	@cmp -s $@.new $@ || mv $@.new $@
$(B)/bench/machine.o: $(B)/commit

# A plug-in that is to be compared gets the flags of the built-in ones.
plugin_flags = $(OPT)$(if $(MARCH), -march=$(MARCH)) $(flags_aggregators)
$(B)/bench/cmd_new.o: DEFINES = -DAGB_PLUGIN_FLAGS='"$(plugin_flags)"'

$(B)/bench/cmd_manual.o: DEFINES = -DAGB_DATE='"$(shell git log -1 --format=%cs -- bench 2>/dev/null)"'

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

# $(call listed,KIND,NAME OF THE LIST,SOURCES): each source defines `const agb_KIND agb_KIND_<file stem>`.
listed = @{ printf '/* Made by the Makefile from $(firstword $(dir $(3))). */\n\#include "$(1).h"\n'; \
            $(call list,$(1),$(3)); } | \
         sed 's/agb_builtin_$(1)s/$(2)/' > $@

$(B)/slots_families.c: $(B)/sources Makefile
	$(call listed,slots,agb_slots_families,$(slots_src))
$(B)/labs.c: $(B)/sources Makefile
	$(call listed,lab,agb_labs,$(labs_src))
$(B)/sections.c: $(B)/sources Makefile
	$(call listed,section,agb_sections,$(sections_src))

# The text that `aggbench new` writes.
$(B)/template_text.c: aggregators/template.c Makefile
	@mkdir -p $(@D)
	@{ printf '/* Made by the Makefile from $<. */\nextern const char agb_template_text[];\n'; \
	   printf 'const char agb_template_text[] =\n'; sed 's/[\\"]/\\&/g; s/.*/    "&\\n"/' $<; printf '    ;\n'; } > $@

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

$(B)/plugins/%.so: aggregators/examples/%.c Makefile
	@mkdir -p $(@D)
	$(call say,plug-in $@)
	$(Q)$(CC) $(CFLAGS) $(flags_aggregators) -shared -Iengine -Iaggregators $< -Wl,-z,defs -o $@

$(B)/plugins/%.so: tests/plugins/%.c Makefile
	@mkdir -p $(@D)
	$(call say,plug-in $@)
	$(Q)$(CC) $(CFLAGS) -shared -Iengine -Iaggregators $< -Wl,-z,defs -o $@

$(B)/tests/pmu/init: $(B)/tests/pmu/init.o $(cmd_obj) $(B)/libaggbench.a
	$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

$(B)/plugins/%.so: aggregators/examples/%.rs Makefile
	@mkdir -p $(@D)
	$(call say,plug-in $@)
	$(Q)if command -v rustc >/dev/null; then MAKEFLAGS= rustc -O -C panic=abort --crate-type cdylib $< -o $@; \
	else echo "  left out $@: rustc is not there"; fi

# Those in other languages, where their compilers and libraries are there.
foreign = $(peers) $(patsubst aggregators/examples/%.rs,$(B)/plugins/%.so,$(wildcard aggregators/examples/*.rs))

plugins: all $(plugins) $(foreign) ## every aggregator also as a plug-in, and those in C++ and Rust, which are verified
	@BUILD=$(B) sh tests/run plugins

# ---- what is installed ----
# The name of the shared library ends in what must be equal for a program to run with it: see AGB_VERSION.
VERSION := $(shell sed -n 's/.*define AGB_VERSION "\(.*\)"/\1/p' engine/aggbench.h)
PREFIX  = /usr/local
LIB     = lib
soname  = libaggbench.so.$(VERSION)
headers = $(addprefix engine/,aggbench.h aggregator.h loader.h status.h)

# Exported is what an installed header declares, and nothing else.
$(B)/libaggbench.map: $(headers) Makefile
	@mkdir -p $(@D)
	@{ printf 'AGGBENCH_$(VERSION) {\nglobal:\n'; \
	   sed -n '/^static/d; s/^[a-z][a-z_0-9 *]*[ *]\(agb_[a-z_0-9]*\)(.*/    \1;/p' $(headers) | sort -u; \
	   printf 'local:\n    *;\n};\n'; } > $@

$(B)/$(soname): $(lib_obj) $(B)/libaggbench.map $(B)/sources
	$(call say,link $@)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-soname,$(soname),--version-script=$(B)/libaggbench.map,-z,defs,--as-needed \
	    -Wl,-Bsymbolic-functions $(lib_obj) $(LDLIBS) -o $@

# Its prefix follows from where it is, so that an installed tree can be moved.
# Written anew each time, for LIB may be another one; removed first, for `sudo make install` may have written it.
$(B)/aggbench.pc: build/deps.mk FORCE
	@rm -f $@
	@{ printf '%s\n' 'prefix=$${pcfiledir}/$(shell realpath -ms --relative-to=/$(LIB)/pkgconfig /)' \
	   'libdir=$${prefix}/$(LIB)' 'includedir=$${prefix}/include' 'plugin_flags=$(plugin_flags) -shared -fPIC' '' \
	   'Name: aggbench' 'Description: GROUP BY counts through strategies that can be swapped' 'Version: $(VERSION)' \
	   'Requires.private: $(DEPS_MODULES)' 'Libs: -L$${libdir} -laggbench' 'Libs.private: -pthread -ldl -lm' \
	   'Cflags: -I$${includedir}/aggbench'; } > $@

$(B)/aggbench.1: $(B)/aggbench
	@rm -f $@ && $< manual > $@
$(B)/completion.%: $(B)/aggbench
	@rm -f $@ && $< completion $* > $@

# SOURCE:PLACE:MODE of all that install puts there, but one link.
doc       = share/doc/aggbench
examples  = $(wildcard aggregators/examples/* engine/examples/* bench/peers/*.cc bench/peers/*.hpp)
to        = $(foreach file,$(1),$(file):$(2)/$(notdir $(file)):644)
installed = $(B)/aggbench:bin/aggbench:755 $(B)/$(soname):$(LIB)/$(soname):755 \
            $(call to,$(B)/libaggbench.a,$(LIB)) $(call to,$(B)/aggbench.pc,$(LIB)/pkgconfig) \
            $(call to,$(headers) aggregators/linear_table.h,include/aggbench) \
            $(call to,$(B)/aggbench.1,share/man/man1) \
            $(B)/completion.bash:share/bash-completion/completions/aggbench:644 \
            $(B)/completion.zsh:share/zsh/site-functions/_aggbench:644 $(call to,aggregators/README.md LICENSE,$(doc)) \
            $(call to,$(examples),$(doc)/examples)
installable = $(foreach file,$(installed),$(firstword $(subst :, ,$(file))))

install: $(installable) ## the command, the library, headers, manual; PREFIX=/usr/local DESTDIR= LIB=lib
	@for file in $(installed); do \
	    place=$${file#*:}; mode=$${place##*:}; place=$${place%:*}; \
	    install -D -m "$$mode" "$${file%%:*}" "$(DESTDIR)$(PREFIX)/$$place" || exit 1; \
	done
	@ln -sf $(soname) '$(DESTDIR)$(PREFIX)/$(LIB)/libaggbench.so'
	@echo 'installed under $(DESTDIR)$(PREFIX)'

uninstall: ## remove what install put there
	@[ -d '$(DESTDIR)$(PREFIX)' ] || exit 0; cd '$(DESTDIR)$(PREFIX)' && rm -f $(LIB)/libaggbench.so \
	    $(foreach file,$(installed),$(word 2,$(subst :, ,$(file)))) && \
	    for folder in include/aggbench $(doc)/examples $(doc); do \
	        [ ! -d $$folder ] || rmdir --ignore-fail-on-non-empty $$folder; \
	    done

# ---- what people run ----
pivot: all ## the published experiment; DATA=path runs it on real files, ROWS=n on fewer generated rows
	@build/aggbench pivot $(or $(DATA),$(if $(ROWS),synth:hits$(comma)rows=$(ROWS))) $(ARGS)

# The engines and hash maps of others, on the same column: bench/peers/compare.mjs says how, ARGS=--help the options.
# SOURCE (anything that aggbench reads), ROUNDS, PAGES, OUTPUT (JSON); ROWS instead of SOURCE: generated hits.
peers_args = --aggbench $(B)/aggbench $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(OUTPUT),--output '$(OUTPUT)')

# One whose compiler or library is not there is left out, and that is said.
$(B)/peers/%.so: bench/peers/%.cc bench/peers/map_aggregator.hpp Makefile
	@mkdir -p $(@D)
	$(call say,plug-in $@)
	$(Q)if why=$$($(CXX) $(filter-out -M%,$(CXXFLAGS)) -Iengine -E $< -o /dev/null 2>&1); then \
	    $(CXX) $(CXXFLAGS) -shared -Iengine $< -Wl,-z,defs $(PEER_LIBS) -o $@; \
	else echo "  left out $@: $$(echo "$$why" | head -n 1)"; fi

$(B)/peers/absl_flat_hash_map.so: PEER_LIBS = $(shell pkg-config --libs absl_flat_hash_map absl_hash)

build/peers:
	@sh bench/peers/install $@

peers: all build/peers ## DuckDB, Polars and C++ hash maps beside ours; ROWS=n PAGES=huge OUTPUT=file
	@$(MAKE) --no-print-directory $(peers)
	@node bench/peers/compare.mjs $(peers_args) --plugins $(B)/peers $(if $(PAGES),--pages $(PAGES)) \
	    $(if $(SOURCE),--source '$(SOURCE)',$(if $(ROWS),--source synth:hits$(comma)rows=$(ROWS))) $(ARGS)

peers-load: all build/peers ## loading speed beside DuckDB's; ROWS=n ROUNDS=n OUTPUT=file
	@node bench/peers/load.mjs $(peers_args) $(if $(ROWS),--rows $(ROWS)) $(ARGS)

# What takes long or needs the network to be complete: part of `make check`, not of every `make test`.
slow_tests = labs load_memory peers report_page simulate valgrind versions
# What another compiler or a sanitizer adds nothing to: scripts, sources, and what is mostly other programs' work.
once       = fetch headers layers peers pmu_boot report_page
# What TSan looks at.
threaded   = conformance conformance_wide adaptive embed pool counters perf tsv csv jsonl text text_workers head synth
wanted     = $(if $(T),$(filter $(T:%=$(B)/tests/test_%),$(tests)),$(tests))

test: all $(wanted) $(plugins) $(installable) ## build and run the tests; T=name runs one
	@BUILD=$(B) LATER='plugins $(if $(SAN),,$(slow_tests)) $(WITHOUT)' sh tests/run $(T)

# The other compiler and its fuzzer.
build/check-deps: .ci/deps
	@mkdir -p build
	@sh .ci/deps check >/dev/null && touch $@

check: build/check-deps ## the tests under sanitizers, and with the other compiler; some fuzzing
	$(MAKE) --no-print-directory test T='$(slow_tests)'
	$(MAKE) --no-print-directory plugins
	$(MAKE) --no-print-directory test SAN=address,undefined WITHOUT='$(once)'
	$(MAKE) --no-print-directory test SAN=thread T='$(threaded)'
	$(MAKE) --no-print-directory test CC=$(if $(filter clang,$(CC)),gcc,clang) WITHOUT='$(once)'
	AGB_FUZZ_SEED=1 $(MAKE) --no-print-directory fuzz SECONDS=3

# Hostile bytes for everything that reads what others wrote: tests/fuzz says how.
fuzz_formats = parquet tsv csv jsonl agb raw schema where
$(B)/fuzzer: $(call objects,$(wildcard tests/fuzz/*.c)) $(B)/libaggbench.a
	$(call say,link $@)
	$(Q)$(CC) $(subst fuzzer-no-link,fuzzer,$(LDFLAGS)) $^ $(LDLIBS) -o $@

fuzz: all build/check-deps ## fuzz what reads files (needs clang); FORMAT=name SECONDS=n of each
	@$(MAKE) --no-print-directory fuzz-run CC=clang SAN=fuzzer-no-link,address,undefined \
	    FUZZ='build/aggbench build/fuzz $(or $(SECONDS),600) $(or $(FORMAT),$(fuzz_formats))'

fuzz-run: $(B)/fuzzer
	@sh tests/fuzz/run $< $(FUZZ)

baseline: all $(B)/tests/test_simulate ## write tests/instructions.baseline anew, when its figures were meant to change
	@AGB_RENEW_BASELINE=1 BUILD=$(B) $(B)/tests/test_simulate

test-pmu: ## the counters on a real kernel with an emulated PMU (qemu; fetches packages into build/pmu)
	+@tests/pmu/boot.sh

clean: ## remove build/
	rm -rf build

.PHONY: FORCE all help install uninstall deps plugins pivot peers peers-load build/peers test check fuzz fuzz-run \
        baseline test-pmu clean
.DELETE_ON_ERROR:
.SECONDARY:
-include $(shell find $(B) -name '*.d' 2>/dev/null)
