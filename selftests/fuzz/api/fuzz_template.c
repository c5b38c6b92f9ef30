/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as a name template: what passes gives as many names as it says, none too long. */
#include <stdlib.h>
#include <string.h>

#include "api/template.h"

#define WALK 3000 /* names looked at, at most */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[TEMPLATE_LEN_MAX + 1], err[300], *text = malloc(size + 1);
	struct template t;
	uint64_t n = 0;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	if (!template_parse(text, &t, err, sizeof(err))) {
		while (n < WALK && template_next(&t, name)) {
			n++;
			if (strlen(name) > TEMPLATE_LEN_MAX)
				abort();
		}
		if (t.count > TEMPLATE_NAMES_MAX || (n < WALK && n != t.count))
			abort();
	}
	free(text);
	return 0;
}
