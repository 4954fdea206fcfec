#!/usr/bin/env python3
"""Call the scorer of training loops very often, and print the memory of the process at each tenth of the calls.

    reward.py [--calls N] [--threads N]

Each call scores a caption of its own with words that no other has, so what is kept of words would show. It fails if the memory
after the last call is more than 2 MB above that after a tenth of them.
"""
import argparse
import pathlib
import sys
import time

from capeval.reward import Reward


def memory():
    """The resident memory of this process in MB."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=10**7)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    references = {image: [f"a dog runs near house {image}", f"the dog ran to {image} houses"] for image in range(100)}
    reward = Reward(references, {"cider-d": 1.0, "bleu-4": 0.5, "rouge-l": 0.5}, threads=given.threads)
    sizes, begin = [], time.perf_counter()
    for call in range(given.calls):
        reward.score([call % 100], [f"a dog runs past word{call} near house {call % 100}"])
        if (call + 1) % (given.calls // 10) == 0:
            sizes.append(memory())
            print(f"{call + 1:,} calls: {sizes[-1]:.1f} MB, {(time.perf_counter() - begin) / (call + 1) * 1e6:.1f} µs a call", flush=True)
    sys.exit(sizes[-1] > sizes[0] + 2)


if __name__ == "__main__":
    main()
