#!/usr/bin/python3
"""The page (server/dashboard/page) keeps its policy: no markup from strings, no inline script or
style, nothing from elsewhere; modules are small; what index.html, imports and style name is there; each kind of layer
has the colour of a family."""
import pathlib
import re
import sys

PAGE = pathlib.Path("server/dashboard/page")
KINDS = pathlib.Path("core/layers/kinds_internal.h")
LIBRARY = {"lib/dygraph.min.js", "lib/dygraph.min.css"}
LINES = 250

# pattern, what it is; looked for in the text of the named kinds of file
RULES = [
    (r"\b(inner|outer)HTML\b|insertAdjacentHTML|document\.write|\bsrcdoc\b", "markup from a string", ".js"),
    (r"\beval\(|new Function\(|set(Timeout|Interval)\(\s*['\"`]", "a string run as a program", ".js"),
    (r"createContextualFragment|DOMParser\b", "markup from a string", ".js"),
    (r"https?://(?!www\.w3\.org/)", "an outer address", ".js .css .html .svg"),
    (r"\b(src|href)=[\"']//|url\(\s*[\"']?//", "an outer address", ".js .css .html .svg"),
    (r"\son[a-z]+=", "an inline handler", ".html .svg"),
    (r"\sstyle=", "an inline style", ".html .svg"),
    (r"\bstyle: ['\"`]|setAttribute\(['\"]style", "an inline style", ".js"),
    (r"<style\b|<script\b(?![^>]*\bsrc=)", "an inline script or style", ".html .svg"),
    (r"@import\b", "an import of a style: index.html names each", ".css"),
    (r"\bvar \w|\bwindow\.\w+ = |\bglobalThis\.\w+ = ", "a global or var", ".js"),
    (r"\t", "a tab", ".js .css .html .svg"),
]


def forbidden(file, text):
    for pattern, what, kinds in RULES:
        if file.suffix in kinds.split():
            for match in re.finditer(pattern, text):
                yield f"{file}:{text.count(chr(10), 0, match.start()) + 1}: {what}"


def named(file, text):
    """Files of the page that a file names, as paths below it."""
    if file.suffix == ".html":
        for name in re.findall(r'(?:src|href)="page/([^"]+)"', text):
            yield name
    if file.suffix == ".js":
        for name in re.findall(r"(?:from|import|import\()\s*'(\.[^'$]+)'", text):
            yield (file.parent / name).resolve().relative_to(PAGE.resolve()).as_posix()


def families():
    """Kinds of layers without a family in parts/layer.js, families of kinds that there are not, and those without a colour."""
    rows = re.search(r"#define NN_LAYERS\(.*?\n\n", KINDS.read_text(encoding="utf-8"), re.S).group()
    kinds = re.findall(r"\b(?:KIND|LAYER|ACTIVATION)\((\w+)\)", rows)
    table = re.search(r"const FAMILIES = \{(.*?)\n\};", (PAGE / "parts/layer.js").read_text(encoding="utf-8"), re.S).group(1)
    found = re.findall(r"^  (\w+): '([^']*)',$", table, re.M)
    listed = [kind for _, names in found for kind in names.split()]
    style = (PAGE / "style/network.css").read_text(encoding="utf-8")
    yield from (f"parts/layer.js: {kind} of {KINDS} is in no family of FAMILIES" for kind in kinds if kind not in listed)
    yield from (f"parts/layer.js: FAMILIES: there is no layer {kind}" for kind in listed if kind not in kinds)
    yield from (f"parts/layer.js: FAMILIES: {kind} stands twice" for kind in set(listed) if listed.count(kind) > 1)
    yield from (f"style/network.css: no colour for .family-{name}" for name, _ in found if f".family-{name}" not in style)


def main():
    files = sorted(p for p in PAGE.rglob("*") if p.is_file())
    there = {p.relative_to(PAGE).as_posix() for p in files} | LIBRARY
    index = (PAGE / "index.html").read_text(encoding="utf-8")
    bad = list(families())
    for file in files:
        text = file.read_text(encoding="utf-8")
        bad += forbidden(file, text)
        bad += [f"{file}: there is no {name}" for name in named(file, text) if name not in there]
        if file.suffix == ".js" and text.count("\n") > LINES:
            bad.append(f"{file}: {text.count(chr(10))} lines (limit {LINES})")
        if file.suffix == ".css" and f'href="page/{file.relative_to(PAGE).as_posix()}"' not in index:
            bad.append(f"{file}: not linked in index.html")
        if len(file.relative_to(PAGE).parts) > 3:
            bad.append(f"{file}: deeper than the routes reach")
    views = re.findall(r"view: '(\w+)'", (PAGE / "router.js").read_text(encoding="utf-8"))
    bad += [f"router.js: there is no views/{view}.js" for view in views if f"views/{view}.js" not in there]
    print("\n".join(bad) if bad else f"page: {len(files)} files, {len(views)} views")
    return 1 if bad or not views else 0


sys.exit(main())
