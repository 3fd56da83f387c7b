# numpy.sh - columns of numpy, in Python; see hosts.sh.
name='numpy in Python'
prepare() { frames; }
ask() { ask_frames numpy "$@"; }
