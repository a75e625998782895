"""The GIL, Ctrl-C, and processes that fork."""

import concurrent.futures
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import tessera
from support import assert_product, random


def test_gil_is_released():
    """Python runs while a product does."""
    a = np.ones((600, 600))
    ticks, stop = [], threading.Event()

    def count():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.perf_counter()
    tessera.gemm(a, a, kernel="cpu.naive")
    end = time.perf_counter()
    stop.set()
    thread.join()
    during = [t for t in ticks if start < t < end]
    assert len(during) >= 3


def test_many_threads_at_once():
    a, b = random(1, (64, 200)), random(2, (200, 64))
    expected = tessera.gemm(a, b)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for got in pool.map(lambda _: tessera.gemm(a, b), range(200)):
            assert np.array_equal(got, expected)


def product_in_child(queue):
    a, b = random(3, (100, 100)), random(4, (100, 100))
    queue.put(tessera.gemm(a, b))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_fork():
    a, b = random(3, (100, 100)), random(4, (100, 100))
    tessera.gemm(a, b)  # the pool's threads exist before the fork
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=product_in_child, args=(queue,))
    child.start()
    got = queue.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0
    assert_product(got, a, b)


LONG = """
import sys, numpy as np, tessera
a = np.ones((1500, 1500))
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    assert np.array_equal(tessera.gemm(a[:2], a)[0, :2], [1500, 1500])
    sys.exit(7)
"""
CALLS = {
    "gemm": "tessera.gemm(a, a, kernel='cpu.naive', out=np.empty_like(a))",
    "batch": "x = np.ones((300, 300, 300)); [tessera.matmul(x, x) for _ in range(1000)]",
    "verify": "[tessera.verify(a, a, a * 0 + 1500, method='full') for _ in range(1000)]",
}


@pytest.mark.parametrize("call", CALLS)
def test_keyboard_interrupt(call):
    child = subprocess.Popen(
        [sys.executable, "-c", LONG.format(call=CALLS[call])],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TESSERA_NUM_THREADS": "1"},
    )
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.3)
    start = time.monotonic()
    child.send_signal(signal.SIGINT)
    rest, _ = child.communicate(timeout=60)
    assert rest == "interrupted\n" and child.returncode == 7
    assert time.monotonic() - start < 20


def test_slices_are_short_whatever_the_shape(tmp_path):
    """Between two slices Ctrl-C is heard: rows alone do not cut one of few rows."""
    log = tmp_path / "calls"
    code = """
import numpy as np, tessera
a, b = (np.random.default_rng(s).standard_normal((128, 1 << 14)).astype(np.float32) for s in (1, 2))
c = tessera.gemm(a, b, trans_b=True, kernel="cpu.naive")
assert tessera.verify(a, b, c, trans_b=True)
"""
    environment = {**os.environ, "TESSERA_LOG": f"calls:{log}"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    calls = [json.loads(line) for line in log.read_text().splitlines()]
    sizes = [call["m"] * call["n"] for call in calls]
    assert sum(sizes) == 128 * 128
    assert sizes[0] <= 64 * 64  # the others follow the time that it took
    assert {call["k"] for call in calls} == {1 << 14}
