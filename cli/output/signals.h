/* signals.h - stopping cleanly: commands that hold unsaved work catch SIGINT, SIGTERM and SIGHUP,
 * once. */
#ifndef PETAL_CLI_SIGNALS_H
#define PETAL_CLI_SIGNALS_H

/* From here on the first of these signals only asks to stop; a second one ends the process
 * immediately.
 * Signals that were ignored when the tool was started (nohup) stay ignored. */
void catch_stop_signals(void);

/* The signal that asked to stop, or 0. */
int stop_signal(void);

/* Becomes readable when stop_signal() does, for poll(); -1 if signals are not caught. */
int stop_descriptor(void);

#endif
