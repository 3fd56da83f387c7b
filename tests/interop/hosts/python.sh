# python.sh - queries the keys with the Python module; see hosts.sh.
name=Python
prepare() { python_package; }
ask() { PYTHONPATH=$TMPDIR/package/site python3 -B "$hosts/python.py" "$@"; }
