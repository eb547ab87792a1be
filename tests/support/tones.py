"""Recordings of tones, for data sets of signals."""
import math

import numpy as np

WINDOW = 128


def tone(cycles, samples=4 * WINDOW, phase=0.0, size=1.0):
    """About so many cycles in each window; no window is like another."""
    t = np.arange(samples)
    return (size * np.sin(2 * math.pi * (cycles + 0.137) * t / WINDOW + phase)).astype("<f4")


def tones(each=20):
    """Two classes: slow and fast tones of any phase, a recording a phase."""
    return {f"{name}/{i:03}.f32": tone(cycles, phase=i).tobytes()
            for name, cycles in (("slow", 5), ("fast", 25)) for i in range(each)}
