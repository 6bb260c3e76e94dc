#!/usr/bin/env python3
"""Measures how true timestamps and schedule of `aiperf` are, beside a busy machine and beside AIPerf 0.13.

    bench/fidelity.py [--aiperf target/release/aiperf] [--streams 100,500,1000] [--rates 200,1000,5000,poisson:1000]
                      [--seconds 10] [--busy] [--peer /path/to/aiperf-0.13]

Prints Markdown tables. The measuring itself is `aiperf calibrate`'s; see docs/calibrate.md and bench/README.md.
"""

import argparse
import contextlib
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from compare import mock_server, table, timed

HERE = Path(__file__).resolve().parent
TOKENS = 100
# As `aiperf calibrate` asks of its server.
SERVER = ["--ttft", "100", "--itl", "10", "--jitter", "0.2", "--tokens", str(TOKENS)]


@contextlib.contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """So many processes that want a core each."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def calibrate(aiperf: Path, arguments: argparse.Namespace) -> list[dict]:
    """The rows of a calibration over the loads asked for."""
    command = [
        *[aiperf, "calibrate", "--all", "--no-store", "--output", "json", "--limit", "3600"],
        *["--streams", arguments.streams, "--rates", arguments.rates],
        *["--seconds", str(arguments.seconds), "--tokens", str(TOKENS)],
    ]
    done = subprocess.run([*arguments.prefix.split(), *command], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["rows"]


def pair(spread: dict, digits: int = 3) -> str:
    return f"{spread['p50']:.{digits}f} / {spread['p99']:.{digits}f}"


def stream_row(title: str, row: dict) -> list[str]:
    first, last, itl = row["first_token_lag_ms"], row["last_token_lag_ms"], row["itl_error_ms"]
    return [
        title,
        str(row["load"]["streams"]),
        f"{row['events_per_s']:,.0f}",
        pair(first["reported"]),
        pair(first["user"]),
        pair(last["reported"]),
        pair(last["user"]),
        f"{itl['p99']:.4f}",
        f"{row['kernel_share']:.0%}",
        f"{row['bounded_share']:.0%}",
    ]


def rate_row(title: str, row: dict) -> list[str]:
    (arrival, rate), schedule = next(iter(row["load"].items())), row["schedule"]
    lag = schedule["send_lag_ms"]
    return [
        title,
        f"{rate:g} {arrival}",
        f"{schedule['achieved_rate']:.2f}",
        f"{pair(lag)} / {lag['max']:.3f}",
        f"{schedule['drift_ms']:+.4f}",
        f"{schedule['gap_cv']:.3f}",
        str(row["requests"]),
    ]


def percentile(values: list[float], share: float) -> float:
    """The nearest rank."""
    return sorted(values)[max(math.ceil(share * len(values)), 1) - 1]


def tokenizer(cache: Path) -> str:
    """A tokenizer of one token per byte in a Hugging Face cache; its name. AIPerf wants one though it counts nothing here,
    and would download its built-in one."""
    commit = "0" * 40
    model = cache / "models--local--bytes"
    folder = model / "snapshots" / commit
    folder.mkdir(parents=True)
    (model / "refs").mkdir()
    (model / "refs/main").write_text(commit)
    code = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = [chr(byte) for byte in code] + [chr(256 + index) for index in range(256 - len(code))]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    model = {"type": "BPE", "vocab": {letter: index for index, letter in enumerate(letters)}, "merges": []}
    parts = {"version": "1.0", "added_tokens": [], "pre_tokenizer": level, "decoder": level, "model": model}
    (folder / "tokenizer.json").write_text(json.dumps(parts))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    return "local/bytes"


def peer_row(aiperf: Path, peer: Path, streams: int, seconds: float) -> list[str]:
    """AIPerf 0.13 on the same load. Its records hold wall times and latencies; the server's log ties its clock to that."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        log, prompt = folder / "log.jsonl", folder / "prompt.jsonl"
        prompt.write_text('{"text":"calibrate"}\n')
        name = tokenizer(folder / "cache")
        rounds = max(math.ceil(seconds / 1.1), 1)
        with mock_server(aiperf, *SERVER, "--log", str(log)) as url:
            timed([
                *[peer, "profile", "--model", "m", "--url", url, "--streaming", "--endpoint-type", "chat", "--ui", "none"],
                *["--tokenizer", name, "--use-server-token-count", "--custom-dataset-type", "single_turn"],
                *["--input-file", prompt, "--artifact-dir", folder / "peer"],
                *["--concurrency", str(streams), "--request-count", str(streams * rounds)],
            ], HF_HUB_CACHE=str(folder / "cache"), HF_HUB_OFFLINE="1")
        truth = {line["request_id"]: line for line in map(json.loads, log.read_text().splitlines())}
        first, last, itl = [], [], []
        for record in map(json.loads, (folder / "peer/profile_export.jsonl").read_text().splitlines()):
            written = truth.get(record["metadata"]["x_request_id"])
            if not written or record.get("error"):
                continue
            metric = {tag: value["value"] * 1e6 for tag, value in record["metrics"].items() if value["unit"] == "ms"
                      and not isinstance(value["value"], list)}
            wall = written["wall_ns"] - written["received_ns"]
            start, events = record["metadata"]["request_start_ns"], written["events_ns"]
            first.append((start + metric["time_to_first_token"] - events[0] - wall) / 1e6)
            last.append((start + metric["request_latency"] - events[-1] - wall) / 1e6)
            itl.append(abs(last[-1] - first[-1]) / (len(events) - 1))

    def spread(values: list[float]) -> str:
        return f"{percentile(values, 0.5):.3f} / {percentile(values, 0.99):.3f}"

    row = ["AIPerf 0.13", str(streams), "", "", spread(first), "", spread(last)]
    return [*row, f"{percentile(itl, 0.99):.4f}", "0%", ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--aiperf", type=Path, default=HERE.parent / "target/release/aiperf")
    parser.add_argument("--streams", default="100,500,1000")
    parser.add_argument("--rates", default="200,1000,5000,poisson:1000")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of each load")
    parser.add_argument("--busy", action="store_true", help="also with a busy loop on every core")
    parser.add_argument("--peer", type=Path, action="append", default=[], help="an AIPerf 0.13 to measure too")
    parser.add_argument("--prefix", default="", help="command in front of calibrate, such as `chrt -r 10`")
    arguments = parser.parse_args()
    if not arguments.aiperf.exists():
        parser.error(f"{arguments.aiperf} is not there: cargo build --release, or name the binary with --aiperf")
    aiperf = arguments.aiperf.resolve()
    cores = os.cpu_count() or 1
    print(f"{platform.machine()}, {cores} CPUs, Linux {platform.release()}, load {os.getloadavg()[0]:.1f}\n")

    measured = [(f"{arguments.prefix} aiperf".strip(), calibrate(aiperf, arguments))]
    if arguments.busy:
        with busy_loops(cores):
            measured.append((f"{arguments.prefix} aiperf, busy".strip(), calibrate(aiperf, arguments)))
    rows = [stream_row(title, row) for title, rows in measured for row in rows if "streams" in row["load"]]
    for peer in arguments.peer:
        for streams in map(int, arguments.streams.split(",")):
            rows.append(peer_row(aiperf, peer, streams, arguments.seconds))
    lags = [f"{token} token, {stamp}" for token in ["first", "last"] for stamp in ["reported", "user"]]
    table(["ms, p50 / p99", "streams", "events/s", *lags, "ITL error p99", "kernel", "bounded"], rows)
    rows = [rate_row(title, row) for title, rows in measured for row in rows if "streams" not in row["load"]]
    table(["ms", "rate", "achieved", "send lag p50 / p99 / max", "drift", "gap CV", "requests"], rows)


if __name__ == "__main__":
    main()
