# The daily commands. CMake does the work: CMakeLists.txt, CMakePresets.json.
.PHONY: help run test test-python-long wheel bench fuzz docs format clean

help:
	@echo "make run      build; every solver on the stored problems; robots; the papers' experiments"
	@echo "make test     all tests: release and sanitizer builds, sources, documents, consumer"
	@echo "make wheel    dist/rattleback-*.whl: the Python package with its libraries"
	@echo "make test-python-long   its long tests: wheel in two Pythons, Ray, notebooks, memory"
	@echo "make bench    measure beside other solvers and engines, write bench/results"
	@echo "make fuzz     fuzz the readers, FUZZ_SECONDS (60) each"
	@echo "make docs     check the links and run the snippets of the documents"
	@echo "make format   clang-format"
	@echo "make clean    remove build/"
	@echo "run, test, bench, fuzz and docs first install missing Debian packages (tools/install-deps)."

run:
	@tools/install-deps run
	@cmake --preset release -DBUILD_TESTING=OFF >/dev/null
	@cmake --build --preset release --target rattleback_cli
	@build/release/bin/rattleback bench demo
	@build/release/bin/rattleback reproduce all --out build/reproduced

test:
	@tools/install-deps test
	@tools/run-tests

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
	@ctest --preset release -R '^check\.(links|snippets)$$'

format:
	@tools/format

clean:
	rm -rf build
