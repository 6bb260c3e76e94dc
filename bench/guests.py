#!/usr/bin/env python3
"""Measures what plugins of others cost a run: CPU per request with ten metrics, and timestamps beside a hostile component.

    bench/guests.py [--aiperf target/release/aiperf] [--pairs 7] [--seconds 4] [--streams 100,500]

Builds the plugins first (a compiler for wasm32-unknown-unknown is needed: see the README of the repository), then prints
Markdown tables. See bench/README.md.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from compare import NO_TOKENIZER, TOKENS, mock_server, profile, run_aiperf, table
from fidelity import SERVER, percentile

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TEN = [f"ten_{number}" for number in range(10)]
# What a hostile metric does with each batch of records.
FAULTS = {
    "spins until it is stopped": "spin_in_record",
    "takes all memory it gets": "hog_in_record",
    "panics": "panic_in_record",
    "recurses without end": "overflow_in_record",
}


def cargo(*words: str) -> str:
    command = ["cargo", *words]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def target() -> Path:
    return Path(json.loads(cargo("metadata", "--format-version", "1", "--no-deps"))["target_directory"])


def component(package: str) -> Path:
    folder = str(target() / "guests")
    return Path(cargo("run", "--quiet", "--release", "--locked", "-p", "aiperf-guests", "--", package, folder))


def library(package: str) -> Path:
    folder = target() / "bench"
    cargo("build", "--quiet", "--release", "--locked", "-p", package, "--target-dir", str(folder))
    name = package.replace("-", "_")
    return next(path for path in (folder / "release").iterdir() if path.stem.removeprefix("lib") == name and
                path.suffix in {".so", ".dylib", ".dll"})


def installed(aiperf: Path, folder: Path, package: str, code: Path, entries: dict[str, dict[str, str]]) -> Path:
    """A package as it is installed, so that a core module has become a component; entries by category, each with the rest of
    its declaration."""
    folder.mkdir()
    form = "wasm" if code.suffix == ".wasm" else "library"
    shutil.copy(code, folder / code.name)
    lines = ['schema_version: "1.0"', "packages:"]
    lines.append(f'  {package}: {{ version: 1.0.0, api: ">=1.0, <2", {form}: {code.name} }}')
    for category, named in entries.items():
        lines.append(f"{category}:")
        lines += [f"  {name}: {{ package: {package}{more} }}" for name, more in named.items()]
    file = folder / "registry.yaml"
    file.write_text("\n".join(lines) + "\n")
    home = folder / "home"
    command = [aiperf, "plugins", "install", str(file)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"XDG_DATA_HOME": str(home)})
    return home / "aiperf/plugins" / package / "registry.yaml"


def ten_metrics(aiperf: Path, folder: Path, code: Path) -> list[str]:
    """The flags that run all ten."""
    tags = {name: f", metadata: {{ tags: [{name}] }}" for name in TEN}
    file = installed(aiperf, folder, "ten", code, {"metric": tags})
    return ["--plugin-registry", str(file), "--metric", *TEN]


def hostile(aiperf: Path, folder: Path, code: Path) -> list[str]:
    """The flags that run the hostile metric; what it does is another."""
    tags = ", metadata: { tags: [hostile_value, hostile_list, hostile_total] }, on_error: skip"
    entries = {
        "endpoint": {"hostile": ""},
        "dataset": {"hostile": ""},
        "dataset_sampler": {"sequential": ", priority: -1"},
        "timing": {"hostile": ""},
        "arrival_pattern": {"gamma": ", priority: -1"},
        "metric": {"hostile": tags},
        "exporter": {"hostile": ""},
        "gpu_collector": {"hostile": ""},
    }
    file = installed(aiperf, folder, "hostile", code, entries)
    return ["--plugin-registry", str(file), "--metric", "hostile", "--wasm-timeout", "0.2", "--wasm-memory", "64"]


def costs(aiperf: Path, folder: Path, arguments: argparse.Namespace) -> None:
    """CPU per request without plugins, with ten metrics as a library, and as a component."""
    prompt = folder / "prompt.jsonl"
    prompt.write_text(json.dumps({"text": "word " * 32, "output_length": TOKENS}) + "\n")
    base = [*NO_TOKENIZER, "--input-file", str(prompt), "--custom-dataset-type", "single_turn"]
    kinds = {
        "none": [],
        "ten metrics, native": ten_metrics(aiperf, folder / "native", library("aiperf-bench-metrics")),
        "ten metrics, components": ten_metrics(aiperf, folder / "wasm", component("aiperf-bench-metrics")),
    }
    spent: dict[str, list[float]] = {kind: [] for kind in kinds}
    with mock_server(aiperf, "--tokens", str(TOKENS), "--itl", "0.0001") as url:
        # Compiles the component and keeps its code.
        for flags in kinds.values():
            run_aiperf(aiperf, url, folder, 0.5, [*base, *flags])
        for _ in range(arguments.pairs):
            for kind, flags in kinds.items():
                spent[kind].append(run_aiperf(aiperf, url, folder, arguments.seconds, [*base, *flags]).cpu_per_request)
    rows = []
    for kind, values in spent.items():
        more = [(value / without - 1) * 100 for value, without in zip(values, spent["none"])]
        rows.append([kind, f"{statistics.median(values):.1f}", f"{min(values):.1f}", f"{statistics.median(more):+.1f}%"])
    table([f"plugins, {TOKENS}-token streams", "CPU µs/request", "min", "against none, median of pairs"], rows)


def lags(aiperf: Path, folder: Path, streams: int, flags: list[str], seconds: float) -> list[str]:
    """Lags of the first token in ms, by the reported stamp and by the user's, and how the run judges itself."""
    rounds = max(round(seconds / 1.1), 1)
    load = ["--concurrency", str(streams), "--request-count", str(streams * rounds), "--export-http-trace"]
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        log = Path(scratch) / "log.jsonl"
        with mock_server(aiperf, *SERVER, "--log", str(log)) as url:
            command = profile(aiperf, url, Path(scratch), *load, *NO_TOKENIZER, *flags)
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                raise SystemExit(done.stdout + done.stderr)
        truth = {line["request_id"]: line for line in map(json.loads, log.read_text().splitlines())}
        reported, user = [], []
        for record in map(json.loads, (Path(scratch) / "profile_export.jsonl").read_text().splitlines()):
            stamp = record["trace_data"]["monotonic_ns"]["first_content"]
            written = truth[record["metadata"]["x_request_id"]]["events_ns"][0]
            reported.append((stamp.get("kernel", stamp["user"]) - written) / 1e6)
            user.append((stamp["user"] - written) / 1e6)
        summary = json.loads((Path(scratch) / "profile_export_aiperf.json").read_text())
    skipped = sum(package["skipped"] for package in summary["packages"] if package["name"] == "hostile")
    pairs = [f"{percentile(values, 0.5):.3f} / {percentile(values, 0.99):.3f}" for values in (reported, user)]
    return [str(streams), *pairs, summary["validity"]["verdict"], str(len(reported)), str(skipped)]


def beside_hostile(aiperf: Path, folder: Path, arguments: argparse.Namespace) -> None:
    prompt = folder / "one.jsonl"
    prompt.write_text('{"text":"word"}\n')
    base = ["--input-file", str(prompt), "--custom-dataset-type", "single_turn"]
    flags = hostile(aiperf, folder / "hostile", component("aiperf-hostile-plugin"))
    rows = []
    for streams in map(int, arguments.streams.split(",")):
        guests = {"none": base}
        guests |= {title: [*base, *flags, "--plugin-opt", f"metric/hostile.do={fault}"] for title, fault in FAULTS.items()}
        for title, own in guests.items():
            rows.append([title, *lags(aiperf, folder, streams, own, arguments.seconds)])
    head = ["a component that", "streams", "first token, reported", "first token, user", "verdict", "requests", "failed calls"]
    table(head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--aiperf", type=Path, default=ROOT / "target/release/aiperf")
    parser.add_argument("--pairs", type=int, default=7, help="alternated runs of each kind")
    parser.add_argument("--seconds", type=float, default=4.0, help="length of each run")
    parser.add_argument("--streams", default="100,500")
    arguments = parser.parse_args()
    if not arguments.aiperf.exists():
        parser.error(f"{arguments.aiperf} is not there: cargo build --release, or name the binary with --aiperf")
    aiperf = arguments.aiperf.resolve()
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, Linux {platform.release()}, load {os.getloadavg()[0]:.1f}\n")
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_CACHE_HOME"] = f"{name}/cache"
        costs(aiperf, Path(name), arguments)
        beside_hostile(aiperf, Path(name), arguments)


if __name__ == "__main__":
    main()
