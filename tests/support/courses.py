"""Small sequences with classes: courses of two numbers over some steps, as tables."""
import numpy as np

CLASSES = ["falls", "rises", "turns"]
LABELLED = {"sequence": "id", "time": "t", "task": "classification", "target": "class"}


def course(name, random):
    """Steps of two numbers: the first one goes where the name says, the second one is noise."""
    at = np.linspace(0, 1, int(random.integers(5, 25)))
    first = {"rises": at, "falls": 1 - at, "turns": np.abs(2 * at - 1)}[name]
    noise = random.uniform(-1, 1, len(at))
    return np.round(np.stack([first + 0.05 * noise, noise], 1), 4)


def runs(each, seed):
    """[(class, steps)], so many of each class."""
    random = np.random.default_rng(seed)
    return [(name, course(name, random)) for _ in range(each) for name in CLASSES]


def table(made):
    """They as a CSV file with the columns of LABELLED, a and b."""
    rows = [f"{i},{t},{a},{b},{name}" for i, (name, steps) in enumerate(made) for t, (a, b) in enumerate(steps)]
    return ("id,t,a,b,class\n" + "\n".join(rows) + "\n").encode()
