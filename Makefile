# SPDX-License-Identifier: BSD-2-Clause
# make: build everything into build/. `make help` lists the rest.

O ?= build
all:

include tools/build/flags.mk

# ---- rooms: each library, its sources, and what it may use (see Documentation/architecture.rst)

LIB_SRC_smap    := $(wildcard smap/*.c)
LIB_SRC_core    := $(filter-out daemon/main.c daemon/wire.c,$(wildcard daemon/*.c))
LIB_SRC_loop    := $(wildcard daemon/loop/*.c)
LIB_SRC_http    := $(wildcard daemon/http/*.c)
LIB_SRC_steer   := $(wildcard daemon/steer/*.c)
LIB_SRC_store   := $(wildcard daemon/store/*.c)
LIB_SRC_cluster := $(wildcard daemon/cluster/*.c)
LIB_SRC_jobs    := $(wildcard daemon/jobs/*.c)
LIB_SRC_api     := $(wildcard daemon/api/*.c)
LIBS := smap core loop http steer store cluster jobs api

USES_smap    := smap
USES_core    := core smap
USES_loop    := loop $(USES_core)
USES_http    := http $(USES_loop)
USES_steer   := steer $(USES_http)
USES_store   := store $(USES_loop)
USES_cluster := cluster $(USES_http)
USES_jobs    := jobs store cluster $(USES_http)
USES_api     := api jobs store cluster steer $(USES_http)

EXT := -ljson-c -lxxhash -lsodium -lcurl -llmdb -lcrypto -lisal -lmsgpackc -lsystemd -lm

include tools/build/rules.mk
$(foreach l,$(LIBS),$(eval $(call library,$(l),$(LIB_SRC_$(l)))))

# ---- programs

PROGRAMS := pagewired pagewire pagewire-bench
$(eval $(call program,pagewired,daemon/main.c daemon/wire.c,$(USES_api),$(EXT)))
$(eval $(call program,pagewire,$(wildcard tools/pagewire/*.c),,-ljson-c -lcurl))
$(eval $(call program,pagewire-bench,$(wildcard tools/pagewire-bench/*.c),smap,-ljson-c -lxxhash -lsodium))

all: $(PROGRAMS:%=$(O)/%) man

# ---- man pages: the tables of options and keys come from the programs themselves

MAN := $(patsubst man/%.rst,$(O)/man/%,$(wildcard man/*.8.rst man/*.1.rst))
man: $(MAN)
$(O)/man/pagewired.8: $(O)/man/config-keys.rst
$(O)/man/pagewire.1: $(O)/man/pagewire-commands.rst
$(O)/man/config-keys.rst: $(O)/pagewired
	@mkdir -p $(@D)
	$(call say,GEN) $< --help=rst > $@
$(O)/man/pagewire-commands.rst: $(O)/pagewire
	@mkdir -p $(@D)
	$(call say,GEN) $< help --rst > $@
$(O)/man/%: man/%.rst
	@mkdir -p $(@D)
	@cp $< $(@D)/
	$(call say,MAN) cd $(@D) && rst2man $(<F) > $(@F)

# ---- tests

UNIT_ROOMS := $(LIBS)
UNIT_SRC := $(foreach r,$(UNIT_ROOMS),$(wildcard selftests/unit/$(r)/test_*.c))
UNIT := $(foreach s,$(UNIT_SRC),$(O)/$(s:.c=))
$(foreach r,$(UNIT_ROOMS),$(foreach s,$(wildcard selftests/unit/$(r)/test_*.c),\
  $(eval $(call test_program,unit,$(r),$(s),$(USES_$(r)),-lcunit $(EXT)))))

FUZZ_SRC := $(foreach r,$(LIBS),$(wildcard selftests/fuzz/$(r)/fuzz_*.c))
FUZZ := $(foreach s,$(FUZZ_SRC),$(O)/$(s:.c=))
$(foreach r,$(LIBS),$(foreach s,$(wildcard selftests/fuzz/$(r)/fuzz_*.c),\
  $(eval $(call test_program,fuzz,$(r),$(s),$(USES_$(r)),-fsanitize=fuzzer $(EXT)))))

unit-programs: $(UNIT)
fuzz-programs: $(FUZZ)

RING ?=
check: install-deps
	@selftests/run.sh $(RING)

lint: $(O)/pagewired
	@tools/build/lint.sh

install-deps:
	@tools/install-deps

run: install-deps
	@$(MAKE) --no-print-directory -j$$(nproc) all
	@tools/make-run

stop:
	@tools/local-cluster down

clean:
	rm -rf $(O)

help:
	@echo 'make            build into $(O)/'
	@echo 'make run        install what is missing, build, start a local cluster, try it (as root)'
	@echo 'make stop       end that cluster'
	@echo 'make check      install what is missing, build, run every test ring'
	@echo '                RING=unit|fuzz|net|client: one ring; LONG=1: loops in full'
	@echo 'make lint       include direction, sizes, undocumented functions, format, cppcheck'
	@echo 'make clean      remove $(O)/'

.PHONY: all man unit-programs fuzz-programs check lint install-deps run stop clean help
.DEFAULT_GOAL := all
