# pandas.sh - columns of pandas, in Python; see hosts.sh.
name='pandas in Python'
prepare() { frames; }
ask() { ask_frames pandas "$@"; }
