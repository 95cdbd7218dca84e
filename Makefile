# The daily commands. CMake does the work: CMakeLists.txt, CMakePresets.json.
.PHONY: help wasm run build install test test-python-long wheel bench fuzz docs format clean test-viewer-long site

help:
	@echo "make run      build; solvers, a robot and the papers' experiments; a page with what came out"
	@echo "make build    the command alone: build/release/bin/rattleback, called by ./rattleback"
	@echo "make install  command, library and headers to PREFIX (/usr/local)"
	@echo "make test     all tests: release and sanitizer builds, sources, documents, consumer"
	@echo "make wasm     viewer/dist/rattleback.wasm: the engine of the viewer, for browsers and Node"
	@echo "make wheel    dist/rattleback-*.whl: the Python package with its libraries"
	@echo "make test-python-long   its long tests: wheel in two Pythons, Ray, notebooks, memory"
	@echo "make bench    measure beside other solvers and engines, write bench/results (an hour)"
	@echo "make fuzz     fuzz the readers, FUZZ_SECONDS (60) each"
	@echo "make docs     check links, equations, words, numbers and results of the documents, run their snippets"
	@echo "make site     build/site: playground, manual, theory, reference, results (Node.js)"
	@echo "make test-viewer-long   ten minutes of a live view, with flat memory"
	@echo "make format   clang-format"
	@echo "make clean    remove build/"
	@echo "run, test, bench, fuzz and docs first install missing Debian packages (tools/install-deps)."

run:
	@tools/install-deps run
	@tools/first-run

build:
	@tools/install-deps run
	@cmake --preset release -DBUILD_TESTING=OFF >/dev/null
	@cmake --build --preset release

PREFIX ?= /usr/local
install: build
	@cmake --install build/release --prefix "$(PREFIX)"

test:
	@tools/install-deps test
	@tools/run-tests

wasm:
	@tools/install-deps wasm
	@tools/make-wasm

wheel:
	@tools/install-deps wheel
	@tools/make-wheel

test-python-long:
	@tools/install-deps test
	@tools/run-python-long

bench:
	@tools/install-deps bench
	@bench/run

fuzz:
	@tools/install-deps fuzz
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz
	@tools/run-fuzz

docs:
	@tools/install-deps docs
	@cmake --preset release -DBUILD_TESTING=ON >/dev/null
	@cmake --build --preset release
	@ctest --preset release -R '^check\.(links|snippets|equations|words|glossary|manpage|results|page_numbers|sentences|messages|recipes|figures)$$'

site:
	@tools/install-deps site
	@tools/make-site

test-viewer-long:
	@tools/install-deps test
	@tools/test-viewer build/viewer-test build/release/bin/rattleback memory

format:
	@tools/format

clean:
	rm -rf build
