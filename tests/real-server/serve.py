#!/usr/bin/env python3
"""Serves a model with the HTTP server of llama.cpp on a free port of this machine.

    serve.py MODEL.gguf [PORT]

Prints its address once it listens, and ends when its standard input does.
"""

import argparse
import sys

from xllamacpp import CommonParams, Server

SLOTS = 8
TOKENS_PER_SLOT = 2048


def settings(model: str, port: int) -> CommonParams:
    params = CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * TOKENS_PER_SLOT
    # The load generator runs on the same machine.
    params.cpuparams.n_threads = 1
    params.warmup = False
    params.endpoint_metrics = True
    return params


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("port", nargs="?", type=int, default=0)
    arguments = parser.parse_args()
    server = Server(settings(arguments.model, arguments.port))
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
