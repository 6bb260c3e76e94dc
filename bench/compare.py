#!/usr/bin/env python3
"""Measures what a user pays for `aiperf`: time to the first request, and CPU per request next to wrk.

    bench/compare.py [--aiperf target/release/aiperf] [--runs 15] [--pairs 5] [--seconds 5]

Prints Markdown tables. Needs Python and, for the second table, wrk. See bench/README.md.
"""

import argparse
import contextlib
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONCURRENCY = 64
TOKENS = 16
# Without a tokenizer, prompts come from a file and token counts from the server.
NO_TOKENIZER = ["--tokenizer", "none", "--use-server-token-count"]


@dataclass
class Load:
    """What a client did and what it cost."""

    requests: int
    seconds: float
    cpu_seconds: float

    @property
    def rate(self) -> float:
        return self.requests / self.seconds

    @property
    def cpu_per_request(self) -> float:
        """In microseconds."""
        return self.cpu_seconds / self.requests * 1e6


@contextlib.contextmanager
def mock_server(aiperf: Path, *flags: str) -> Iterator[str]:
    """A mock server as a process of its own; its address."""
    command = [aiperf, "mock-server", "--exit-with-stdin", *flags]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server.stdout.readline().removeprefix("listening on ").strip()
        finally:
            server.stdin.close()
            server.wait()


def timed(command: list, **environment: str) -> tuple[str, float]:
    """Runs a command; its output and the CPU seconds that it and its threads used."""
    with tempfile.TemporaryFile("w+") as output:
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=os.environ | environment)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if child.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {child.returncode}:\n{text}")
    return text, usage.ru_utime + usage.ru_stime


def profile(aiperf: Path, url: str, folder: Path, *flags: str) -> list:
    return [
        *[aiperf, "profile", "--url", url, "--model", "m", "--streaming", "--ui", "none"],
        *["--artifact-dir", folder, "--random-seed", "1", *flags],
    ]


def first_request(aiperf: Path, folder: Path, flags: list[str]) -> float:
    """Milliseconds from starting the process to the moment its first request has been read by the server."""
    log = folder / "log.jsonl"
    with mock_server(aiperf, "--log", str(log)) as url:
        command = profile(aiperf, url, folder / "first", *flags)
        start = time.monotonic_ns()
        timed(command)
    # The log is of the same clock, that of the machine.
    received = [json.loads(line)["received_ns"] for line in log.read_text().splitlines()]
    return (min(received) - start) / 1e6


def run_aiperf(aiperf: Path, url: str, folder: Path, seconds: float, flags: list[str]) -> Load:
    load = ["--concurrency", str(CONCURRENCY), "--benchmark-duration", str(seconds)]
    _, cpu = timed(profile(aiperf, url, folder / "load", *load, *flags))
    summary = json.loads((folder / "load/profile_export_aiperf.json").read_text())
    requests = summary["request_count"]["avg"]
    if "error_request_count" in summary:
        raise SystemExit(f"requests failed: {summary['error_summary']}")
    return Load(int(requests), requests / summary["request_throughput"]["avg"], cpu)


def run_wrk(url: str, body: Path, seconds: float) -> Load:
    command = ["wrk", "-t1", f"-c{CONCURRENCY}", f"-d{seconds:g}s", "-s", HERE / "post.lua"]
    text, cpu = timed([*command, f"{url}/v1/chat/completions"], BODY=str(body))
    if "Non-2xx" in text or "Socket errors" in text:
        raise SystemExit(f"requests of wrk failed:\n{text}")
    requests = int(re.search(r"(\d+) requests in", text).group(1))
    return Load(requests, requests / float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1)), cpu)


def table(columns: list[str], rows: list[list[str]]) -> None:
    for cells in [columns, ["---"] + ["---:"] * (len(columns) - 1), *rows]:
        print("| " + " | ".join(cells) + " |")
    print()


def spread(values: list[float], digits: int) -> list[str]:
    """Median, least and greatest."""
    return [f"{pick(values):,.{digits}f}" for pick in (statistics.median, min, max)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--aiperf", type=Path, default=HERE.parent / "target/release/aiperf")
    parser.add_argument("--runs", type=int, default=15, help="starts per tokenizer")
    parser.add_argument("--pairs", type=int, default=5, help="alternated runs of aiperf and wrk")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of one of them")
    arguments = parser.parse_args()
    if not arguments.aiperf.exists():
        parser.error(f"{arguments.aiperf} is not there: cargo build --release, or name the binary with --aiperf")
    aiperf = arguments.aiperf.resolve()
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, Linux {platform.release()}\n")

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prompt = folder / "prompt.jsonl"
        prompt.write_text(json.dumps({"text": "word " * 32, "output_length": TOKENS}) + "\n")
        from_file = ["--input-file", str(prompt), "--custom-dataset-type", "single_turn"]

        rows = []
        for title, flags in [
            ("`builtin`, 100 prompts of 550 tokens", ["--tokenizer", "builtin", "--num-prompts", "100"]),
            ("`none`, prompts from a file", [*NO_TOKENIZER, *from_file]),
        ]:
            starts = [first_request(aiperf, folder, [*flags, "--request-count", "10"]) for _ in range(arguments.runs)]
            rows.append([title, *spread(starts, 1)])
        table(["exec to first request, ms", "median", "min", "max"], rows)

        if not shutil.which("wrk"):
            raise SystemExit("no wrk on this machine (Debian: apt-get install wrk): no comparison")
        clients: dict[str, list[Load]] = {"aiperf, counts of the server": [], "aiperf, `builtin` counts": [], "wrk": []}
        # With time between tokens, however little, each event is a write of its own, and streams take turns.
        with mock_server(aiperf, "--tokens", str(TOKENS), "--itl", "0.0001") as url:
            # The very body that aiperf sends, for wrk.
            timed(profile(aiperf, url, folder / "body", *NO_TOKENIZER, *from_file, "--request-count", "1"))
            body = folder / "body.json"
            inputs = json.loads((folder / "body/inputs.json").read_text())
            body.write_text(json.dumps(inputs["data"][0]["payloads"][0], separators=(",", ":")))
            for _ in range(arguments.pairs):
                for client, loads in clients.items():
                    if client == "wrk":
                        loads.append(run_wrk(url, body, arguments.seconds))
                    else:
                        tokenizer = ["--tokenizer", "builtin"] if "builtin" in client else NO_TOKENIZER
                        loads.append(run_aiperf(aiperf, url, folder, arguments.seconds, [*tokenizer, *from_file]))
        rows = [
            [client, *spread([load.rate for load in loads], 0), *spread([load.cpu_per_request for load in loads], 1)]
            for client, loads in clients.items()
        ]
        head = f"{TOKENS}-token streams, concurrency {CONCURRENCY}"
        table([head, "requests/s", "min", "max", "CPU µs/request", "min", "max"], rows)


if __name__ == "__main__":
    main()
