"""Run `uir` command lines in one process, which imports the compiler once.

    python serve_uir.py DESCRIPTOR

Requests come as lines of JSON on stdin, `{"folder": ..., "arguments": [...]}`, and `{"status": S}`
goes to the descriptor after each. The command works in the folder and writes to this process's
stdout and stderr, as it would in a process of its own.
"""

import gc
import json
import os
import sys
import traceback

from uir.cli import main


def status_of(arguments: list[str]) -> int:
    """Run `uir ARGUMENTS`; the exit status that Python would give its process."""
    sys.argv = ["uir", *arguments]
    try:
        main()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def serve(descriptor: int) -> None:
    """Answer requests until stdin ends."""
    home = os.getcwd()
    for line in sys.stdin:
        request = json.loads(line)
        os.chdir(request["folder"])
        status = status_of(request["arguments"])
        sys.stdout.flush()
        sys.stderr.flush()
        os.chdir(home)
        os.write(descriptor, json.dumps({"status": status}).encode() + b"\n")
        # The command switches the collector off, since its own process is short.
        gc.collect()
        gc.freeze()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
