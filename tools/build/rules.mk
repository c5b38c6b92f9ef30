# SPDX-License-Identifier: BSD-2-Clause
# Rules for objects, libraries, programs, tests and man pages.

say = $(if $(V),,@printf '  %-7s %s\n' $(1) $@;)

.DELETE_ON_ERROR:
.SECONDARY:

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC) $(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

# $(1) library, $(2) its sources
define library
$(O)/lib/$(1).a: $(patsubst %.c,$(O)/%.o,$(2))
	@mkdir -p $$(@D)
	@rm -f $$@
	$$(call say,AR) $$(AR) rcs $$@ $$^
endef

# $(1) program, $(2) its sources, $(3) libraries of ours, in link order, $(4) libraries of others
define program
$(O)/$(1): $(patsubst %.c,$(O)/%.o,$(2)) $(foreach l,$(3),$(O)/lib/$(l).a)
	@mkdir -p $$(@D)
	$$(call say,LINK) $$(CC) $$(CFLAGS) $$(LDFLAGS) $$^ $(4) -o $$@
endef

# $(1) ring, $(2) room, $(3) source, $(4) libraries of ours, $(5) libraries of others
define test_program
$(O)/selftests/$(1)/$(2)/$(notdir $(3:.c=)): $(O)/$(3:.c=.o) $(foreach l,$(4),$(O)/lib/$(l).a)
	$$(call say,LINK) $$(CC) $$(CFLAGS) $$(LDFLAGS) $$^ $(5) -o $$@
endef

-include $(shell find $(O) -name '*.d' 2>/dev/null)
