# arrow.sh - columns of Arrow, in Python; see hosts.sh.
name='Arrow in Python'
prepare() { frames; }
ask() { ask_frames arrow "$@"; }
