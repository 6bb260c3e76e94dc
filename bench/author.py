#!/usr/bin/env python3
"""How long an author waits: from `aiperf plugins new` to a passing `aiperf plugins test`, for each category.

Dependencies are built first, by a package that is not counted; after that nothing is asked of a network. What is counted is the
whole of `new`, `cargo build --release` and `test`. Prints a Markdown table.
"""

import argparse
import os
import pathlib
import subprocess
import tempfile
import time

CATEGORIES = ["endpoint", "dataset", "timing", "metric", "exporter", "gpu_collector"]
ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aiperf", type=pathlib.Path, default=TARGET / "release" / "aiperf", help="the binary [%(default)s]")
    binary = parser.parse_args().aiperf.resolve()
    with tempfile.TemporaryDirectory(prefix="aiperf-author-") as folder:
        author = Author(binary, pathlib.Path(folder))
        author.journey("metric", "first-one")
        print("| category | new, s | build, s | test, s | in all, s |\n| --- | ---: | ---: | ---: | ---: |")
        for category in CATEGORIES:
            times = author.journey(category, "acme-" + category.replace("_", "-"))
            print(f"| {category} | " + " | ".join(f"{one:.2f}" for one in [*times, sum(times)]) + " |", flush=True)


class Author:
    """Works in a folder; all packages share one target folder, as in a workspace."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.environment = {**os.environ, "HOME": str(folder), "CARGO_TARGET_DIR": str(folder / "target")}
        # HOME is another one: what cargo has downloaded and what rustup has installed stays in use.
        home = pathlib.Path.home()
        for name, place in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")]:
            self.environment.setdefault(name, str(home / place))

    def journey(self, category, name):
        package = self.folder / name
        new = self.run(self.folder, self.binary, "plugins", "new", category, name)
        lock = package / "Cargo.lock"
        lock.write_bytes((ROOT / "examples/vendor-inference/Cargo.lock").read_bytes())
        build = self.run(package, "cargo", "build", "--quiet", "--offline", "--release")
        built = (self.folder / "target/release").glob(f"*{name.replace('-', '_')}.*")
        library = next(path for path in built if path.suffix in (".so", ".dylib", ".dll"))
        (package / "target/release").mkdir(parents=True)
        os.link(library, package / "target/release" / library.name)
        test = self.run(package, self.binary, "plugins", "test", "registry.yaml")
        return new, build, test

    def run(self, folder, *words):
        start = time.monotonic()
        done = subprocess.run(words, cwd=folder, env=self.environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, words))}:\n{done.stdout}{done.stderr}")
        return time.monotonic() - start


if __name__ == "__main__":
    main()
