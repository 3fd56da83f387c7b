/* signals.h - stops cleanly: commands with unsaved work catch SIGINT, SIGTERM and SIGHUP once. */
#ifndef PETAL_CLI_SIGNALS_H
#define PETAL_CLI_SIGNALS_H

/* After this call, the first of these signals only requests a stop; a second one kills the process
 * immediately. Signals that were ignored when the tool started (nohup) stay ignored. */
void catch_stop_signals(void);

/* Returns the signal that requested a stop, or 0. */
int stop_signal(void);

/* Becomes readable when stop_signal() is nonzero, for poll(); -1 if signals are not caught. */
int stop_descriptor(void);

#endif
