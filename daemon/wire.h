/* SPDX-License-Identifier: BSD-2-Clause */
/* wire - puts the rooms together and runs them; the only place with state of the whole process */
#ifndef WIRE_H
#define WIRE_H

#include "config.h"

/**
 * wire_run() - Be a node until told to stop
 * @cfg:	its config, checked
 *
 * Opens the store, the listeners and the loops, then joins the cluster. SIGTERM and SIGINT drain
 * within http.stop_timeout; a second one ends at once.
 *
 * Return: the exit status: 0 after a stop, 1 failed, 2 no usable join secret.
 */
int wire_run(struct config *cfg);

#endif
