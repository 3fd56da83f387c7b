# build.sh - installs what bindings/python/needs lists in build/interop, in a venv: $python_tools is
# its Python. Sourced, not run, after tests/interop/lib/packages.sh, at the top of the tree.
python_folder=python-$(built_of bindings/python/needs)
python_tools=$interop/$python_folder/bin/python

python_install() { install "$python_folder" 'what bindings/python/needs lists' python_venv; }
python_venv() {
    python3 -m venv . &&
        bin/python -m pip install --disable-pip-version-check -r "$top/bindings/python/needs"
}
