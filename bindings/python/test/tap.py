"""tap.py - a pytest plugin that prints one line of TAP per test."""

number = 0


def say(result, report, more=""):
    global number
    number += 1
    print(f"{result} {number} - {report.nodeid.split('/')[-1]}{more}", flush=True)


def pytest_runtest_logreport(report):
    if report.skipped:
        say("ok", report, f" # SKIP {report.longrepr[2].removeprefix('Skipped: ')}")
    elif report.failed:
        say("not ok", report)
        print("# " + report.longreprtext.replace("\n", "\n# "))
    elif report.when == "call":
        for line in report.capstdout.splitlines():
            if line.startswith("# counted: "):
                print(line)
        say("ok", report)


def pytest_collectreport(report):
    if report.failed:
        say("not ok", report)
        print("# " + report.longreprtext.replace("\n", "\n# "))
