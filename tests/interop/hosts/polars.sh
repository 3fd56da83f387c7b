# polars.sh - columns of Polars, in Python; see hosts.sh.
name='Polars in Python'
prepare() { frames; }
ask() { ask_frames polars "$@"; }
