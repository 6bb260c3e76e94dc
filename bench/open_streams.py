#!/usr/bin/env python3
"""Measures what open streams cost `aiperf` in memory, and whether all of them come to their end.

    bench/open_streams.py [--aiperf target/release/aiperf] [--streams 1,1000,10000] [--tokens 100] [--itl 200]

Prints a Markdown table. See bench/README.md.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

from compare import mock_server, table

HERE = Path(__file__).resolve().parent
# What the issue allows: for the process, and for each stream.
ALLOWED_MIB, ALLOWED_KB = 100e6 / 2**20, 20.0


def peak_rss(pid: int) -> int:
    """The most memory that a process has had so far, in bytes; 0 if it has gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    lines = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(lines[0].split()[1]) * 1024 if lines else 0


def measure(aiperf: Path, url: str, streams: int, folder: Path) -> tuple[int, dict]:
    """Opens so many streams at once; the memory at its peak and the summary."""
    prompts = folder / "prompts.jsonl"
    prompts.write_text(json.dumps({"text": "word " * 32}) + "\n")
    command = [
        *[aiperf, "profile", "--url", url, "--model", "m", "--streaming", "--ui", "none", "--random-seed", "1"],
        *["--tokenizer", "none", "--use-server-token-count", "--input-file", prompts],
        *["--custom-dataset-type", "single_turn", "--artifact-dir", folder],
        *["--concurrency", str(streams), "--request-count", str(streams)],
    ]
    peak = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as client:
        while client.poll() is None:
            peak = max(peak, peak_rss(client.pid))
            time.sleep(0.02)
    if client.returncode != 0:
        raise SystemExit(f"aiperf ended with {client.returncode}")
    return peak, json.loads((folder / "profile_export_aiperf.json").read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--aiperf", type=Path, default=HERE.parent / "target/release/aiperf")
    parser.add_argument("--streams", default="1,1000,10000")
    parser.add_argument("--tokens", type=int, default=100)
    parser.add_argument("--itl", type=float, default=200, help="milliseconds")
    arguments = parser.parse_args()
    aiperf = arguments.aiperf.resolve()
    rows, base = [], None
    flags = ["--ttft", "500", "--jitter", "0.2", "--tokens", str(arguments.tokens), "--itl", str(arguments.itl)]
    for streams in map(int, arguments.streams.split(",")):
        with tempfile.TemporaryDirectory() as folder, mock_server(aiperf, *flags) as url:
            peak, summary = measure(aiperf, url, streams, Path(folder))
        base = peak if base is None else base
    

        def value(name: str, of: str = "avg") -> float:
            return (summary.get(name) or {}).get(of) or 0

        rows.append(
            [
                f"{streams:,}",
                f"{value('effective_concurrency', 'max'):,.0f}",
                f"{value('error_request_count'):.0f}",
                f"{peak / 2**20:.0f}",
                f"{(peak - base) / max(streams - 1, 1) / 1000:.1f}",
                f"{ALLOWED_MIB + streams * ALLOWED_KB / 1000 / 1.048576:.0f}",
            ]
        )
    titles = ["streams", "at once", "failed", "peak MiB", "kB per stream", "allowed MiB"]
    table(titles, rows)


if __name__ == "__main__":
    main()
