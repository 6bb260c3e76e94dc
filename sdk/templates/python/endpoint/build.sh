#!/bin/sh
# Builds the component, {{crate}}.wasm, beside this file. Needs componentize-py 0.25: pip install componentize-py==0.25.1
set -eu
cd "$(dirname "$0")"
componentize-py -d {{wit}} -w endpoint-plugin componentize --stub-wasi -p . -p {{sdk}} app -o {{crate}}.wasm
