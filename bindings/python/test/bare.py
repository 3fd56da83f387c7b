"""bare.py [MODULE...] - runs the tests in modules that need only the standard library, in a Python
installation with only petal-bloom. Prints TAP."""

import importlib
import sys
import traceback

number = failed = 0
for name in sys.argv[1:]:
    module = importlib.import_module(name)
    for test in [value for key, value in vars(module).items() if key.startswith("test_")]:
        number += 1
        try:
            test()
            print(f"ok {number} - bare: {name}: {test.__name__}")
        except BaseException:
            failed += 1
            print(f"not ok {number} - bare: {name}: {test.__name__}")
            print("# " + traceback.format_exc().replace("\n", "\n# "))
print(f"1..{number}")
sys.exit(failed > 0)
