"""gateway.py FOLDER [WORKERS] - tests the example gateway in nginx, and prints TAP. The gateway
must block by address and by token, follow changes to its list under load, and keep the old list if
the new one is broken.

FOLDER must contain example/gateway and petal.lua, and the petal command must be in PATH."""
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

FOLDER, WORKERS = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 4
EVERY = 1.0  # gateway.lua
LATE = 2.0  # additional time for a busy machine
count, failed = 0, 0


def ok(what, good, *more):
    global count, failed
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {what}", flush=True)
    if not good:
        for line in map(str, more):
            print("# " + line[:2000].replace("\n", "\n# "))


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


PORT = free_port()


def configure():
    """Runs the example with a port and a folder of its own, and with the worker's id in every
    response."""
    text = (FOLDER / "nginx.conf").read_text()
    text = text.replace("127.0.0.1:8080", f"{PORT} reuseport")
    text = re.sub("worker_processes 4;", f"worker_processes {WORKERS};", text)
    text = text.replace("location / {", "location / { add_header Worker $pid always;")
    if os.getuid() == 0:
        text = "user root;\n" + text  # so that the workers can enter this folder
    else:  # nginx's default folders belong to root
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        folders = " ".join(f"{kind}_temp_path {kind};" for kind in kinds)
        text = text.replace("http {", "http { " + folders)
    (FOLDER / "nginx.conf").write_text(text)


def nginx(*words):
    words = ["nginx", "-p", FOLDER, "-e", "error.log", "-c", "nginx.conf", *words]
    return subprocess.run(words, capture_output=True, text=True)


def build(name, lines):
    """Builds a list from these lines, and returns its path."""
    path = FOLDER / name
    text = "".join(f"{line}\n" for line in lines)
    subprocess.run(["petal", "build", "--force", "-p", "0.0001%", "-o", path], input=text, text=True, check=True)
    return path


def replace(lines):
    build("new.petal", lines).rename(FOLDER / "blocklist.petal")


class Client:
    """A connection, which stays with the same worker."""

    def __init__(self, address="127.0.0.1"):
        self.connection = http.client.HTTPConnection(
            "127.0.0.1", PORT, timeout=30, source_address=(address, 0)
        )

    def ask(self, token=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.connection.request("GET", "/", headers=headers)
        answer = self.connection.getresponse()
        answer.read()
        return answer.status, int(answer.getheader("Worker"))


def status(token=None, address="127.0.0.1"):
    return Client(address).ask(token)[0]


def every_worker():
    """Returns one client per worker."""
    clients = {}
    for _ in range(1000):
        client = Client()
        clients.setdefault(client.ask()[1], client)
        if len(clients) == WORKERS:
            return clients
    raise AssertionError(f"only {len(clients)} workers answer")


def log():
    return (FOLDER / "error.log").read_text()


def children(master):
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has ended
            continue
        if int(words[1]) == master and words[0] != "Z":
            found.append(int(stat.parent.name))
    return sorted(found)


class Load:
    """Sends requests from several threads, and records the time, worker, token and status of each
    request."""

    def __init__(self, tokens):
        self.tokens, self.answers, self.errors, self.done = tokens, [], [], False
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(2 * WORKERS)]
        for thread in self.threads:
            thread.start()

    def run(self, first):
        client = None
        for i in range(first, 10**9):
            if self.done:
                return
            try:
                if client is None or i % 20 == 0:
                    client = Client()
                token, asked = self.tokens[i % len(self.tokens)], time.monotonic()
                answer, worker = client.ask(token)
                self.answers.append((asked, worker, token, answer))
            except Exception as error:  # if a request fails, the test fails
                self.errors.append(repr(error))
                client = None

    def stop(self):
        self.done = True
        for thread in self.threads:
            thread.join()


def answers_at_start():
    ok("an address and a token are blocked, others are not",
       [status(), status("fine"), status("old"), status(address="127.0.0.5"), status("fine", "127.0.0.5"),
        status(address="127.0.0.6")] == [200, 200, 403, 403, 403, 200])
    clients = every_worker()
    ok(f"all {WORKERS} workers block", all(client.ask("old")[0] == 403 for client in clients.values()))
    shared = True
    for pid in clients:
        text = Path(f"/proc/{pid}/smaps").read_text()
        part = text.split("blocklist.petal\n", 1)
        shared = shared and len(part) == 2 and re.search(r"Private_Dirty: +0 kB", part[1].split("VmFlags")[0])
    ok("the list is mapped, and no worker has pages of its own", shared)


def replaced_under_load():
    load = Load(["old", "new", "fine"])
    time.sleep(1)
    replace(["token new"])
    moved = time.monotonic()
    time.sleep(EVERY + LATE + 1)
    load.stop()
    ok(f"{len(load.answers)} requests, and none failed", len(load.answers) > 500 and not load.errors, load.errors[:5])
    expected_before = {"old": 403, "new": 200, "fine": 200}
    expected_after = {"old": 200, "new": 403, "fine": 200}
    early = [one for one in load.answers if one[0] < moved - LATE]
    wrong = [one for one in early if one[3] != expected_before[one[2]]]
    ok("before mv, all answers are the old list's", not wrong, wrong[:5])
    late = [one for one in load.answers if one[0] > moved + EVERY + LATE]
    wrong = [one for one in late if one[3] != expected_after[one[2]]]
    ok("a second later, all answers are the new list's", late and not wrong, len(late), wrong[:5])
    seen = {one[1] for one in late}
    ok("every worker answered by then", len(seen) == WORKERS, seen)
    first = {}
    for asked, worker, token, answer in sorted(load.answers):
        if answer == expected_after[token] != expected_before[token]:
            first.setdefault(worker, asked - moved)
    print(f"# counted: nginx: {len(load.answers)} requests; workers had the new list after "
          + ", ".join(f"{seconds:.2f}" for seconds in sorted(first.values())) + " s")
    mixed = [one for one in load.answers if one[2] == "fine" and one[3] != 200]
    ok("what is on no list was never blocked", not mixed, mixed[:5])


def replaced_often():
    replace(["token always"])
    time.sleep(EVERY + LATE)
    load = Load(["always", "fine"])
    for i in range(30):
        replace(["token always", *(f"token t{j}" for j in range(i * 100))])
        time.sleep(0.1)
    load.stop()
    wrong = [one for one in load.answers if one[3] != (403 if one[2] == "always" else 200)]
    ok(f"30 replacements during {len(load.answers)} requests: none failed, none wrong",
       len(load.answers) > 500 and not load.errors and not wrong, load.errors[:5], wrong[:5])


def broken_replacement():
    replace(["token kept"])
    time.sleep(EVERY + 0.2)
    clients = every_worker()
    for client in clients.values():
        client.ask("kept")
    before = len(log().splitlines())
    whole = (FOLDER / "blocklist.petal").read_bytes()
    (FOLDER / "new.petal").write_bytes(whole[:-10])
    (FOLDER / "new.petal").rename(FOLDER / "blocklist.petal")
    good = True
    for _ in range(8):
        time.sleep(EVERY / 2)
        for client in clients.values():
            good = good and client.ask("kept")[0] == 403 and client.ask("fine")[0] == 200
    ok("a truncated list changes nothing", good)
    lines = log().splitlines()[before:]
    ok("each worker logged one line, with the file and why",
       len(lines) == WORKERS and all("blocklist.petal: truncated: " in line for line in lines), log())
    reloaded = nginx("-s", "reload")
    time.sleep(1)
    ok("a reload with it is refused, and the workers stay",
       status("kept") == 403 and set(every_worker()) == set(clients), reloaded.stderr, log())
    replace(["token repaired"])
    time.sleep(EVERY + 0.2)
    ok("the next good list is picked up",
       all((client.ask("repaired")[0], client.ask("kept")[0]) == (403, 200) for client in clients.values()))


def killed_worker(master):
    victims = children(master)
    os.kill(victims[0], signal.SIGKILL)
    for _ in range(100):
        time.sleep(0.1)
        if len(children(master)) == WORKERS and victims[0] not in children(master):
            break
    time.sleep(0.2)
    new = set(children(master)) - set(victims)
    clients = every_worker()
    ok("a worker that died is replaced, and the new one has the list of now",
       new <= set(clients) and len(new) == 1 and
       all(client.ask("repaired")[0] == 403 and client.ask("old")[0] == 200 for client in clients.values()))


def main():
    configure()
    build("blocklist.petal", ["ip 127.0.0.5", "token old"])
    started = nginx()
    ok("nginx starts", started.returncode == 0, started.stderr)
    if started.returncode:
        print(f"1..{count}")
        return 1
    for _ in range(100):
        if (FOLDER / "nginx.pid").exists() and (FOLDER / "nginx.pid").read_text().strip():
            break
        time.sleep(0.05)
    master = int((FOLDER / "nginx.pid").read_text())
    try:
        answers_at_start()
        replaced_under_load()
        replaced_often()
        broken_replacement()
        killed_worker(master)
        strange = [line for line in log().splitlines() if re.search(r" \[(warn|error|crit|emerg)\] ", line)
                   and "truncated: " not in line]
        ok("nothing else is in the log", not strange, *strange)
    finally:
        os.kill(master, signal.SIGQUIT)
        for _ in range(100):
            if not Path(f"/proc/{master}").exists():
                break
            time.sleep(0.1)
    (FOLDER / "blocklist.petal").write_text("no filter\n")
    refused = nginx()
    ok("with a broken list nginx does not start, and says why",
       refused.returncode != 0 and "blocklist.petal: not a filter" in refused.stderr + log(), refused.stderr)
    print(f"1..{count}")
    return failed > 0


sys.exit(main())
