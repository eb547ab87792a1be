"""Small pictures and archives of them, for data sets."""
import io
import tarfile
import zipfile

import numpy as np
from PIL import Image


def png(array, **options):
    out = io.BytesIO()
    Image.fromarray(array).save(out, "PNG", **options)
    return out.getvalue()


def zip_of(entries):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return out.getvalue()


def tar_of(entries, mode="w:gz"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, content in entries.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def pictures(classes, per_class=12, side=16, seed=0):
    """{"class/n.png": bytes}: each class has a level of grey of its own."""
    rng = np.random.default_rng(seed)
    entries = {}
    for k, name in enumerate(classes):
        for i in range(per_class):
            level = 40 + 170 * k // max(1, len(classes) - 1)
            array = rng.integers(0, 30, (side, side), dtype=np.uint8) + np.uint8(level)
            entries[f"{name}/{i}.png"] = png(array)
    return entries
