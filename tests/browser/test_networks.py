"""The catalogue of networks: looked at, analysed, edited, taken into a job."""
import json

from selenium.webdriver.common.keys import Keys
from support import as_shown
from support.browser import of


def report(daemon, network, dataset, batch_size=128):
    return daemon.post("/v1/networks/analyze", {"network": network, "dataset": dataset["id"], "batch_size": batch_size})


def figures(page):
    names = ("layers", "learnables", "multiply-adds", "parameter-bytes", "training-bytes", "inference-bytes")
    return [page.shown(of(f"total-{name}")).splitlines()[0] for name in names]


def figures_of(analysis):
    totals = analysis["totals"]
    return [as_shown.count(len(analysis["layers"])), as_shown.count(totals["learnables"]),
            as_shown.count(totals["multiply_adds"]), as_shown.size(totals["parameter_bytes"]),
            as_shown.size(totals["training_bytes"]), as_shown.size(totals["inference_bytes"])]


def test_the_catalogue_is_that_of_the_api(page, daemon):
    page.go("#/networks")
    titles = [t["title"] for t in daemon.get("/v1/networks")["items"]]
    page.until(lambda: page.texts(of("network-card") + " h2") == titles, "a card for each network")


def test_the_catalogue_is_sorted_by_the_figures_of_its_cards(page, daemon):
    page.go("#/networks")
    names = [t["name"] for t in daemon.get("/v1/networks")["items"]]
    page.until(lambda: page.count(of("card-learnables")) == len(names), "figures on each card")

    def told(figure="card-learnables"):
        figures = [int(text.split("\n")[0].replace("\u202f", "")) for text in page.texts(of(figure))]
        return dict(zip(page.texts(of("network-card") + " > code"), figures))

    as_listed = told()
    assert list(as_listed) == names
    assert as_listed["resnet18"] == 11689512 and as_listed["simple_cnn"] == 520 + 40 + 115210  # as torchvision, and by hand
    page.script("document.querySelector(arguments[0]).focus()", of("sort-learnables"))
    descending = sorted(as_listed, key=lambda name: -as_listed[name])
    for order in (sorted(as_listed, key=as_listed.get), descending):
        page.keys(Keys.ENTER)
        page.until(lambda o=order: list(told()) == o, f"the order {order}")
    page.driver.refresh()
    page.until(lambda: list(told()) == descending, "the same order after a reload")
    page.click(of("sort-learnables"))
    page.until(lambda: list(told()) == names, "the order of the service")
    page.click(of("sort-takes"))
    page.until(lambda: list(dict.fromkeys(page.texts(of("network-card") + " .chip"))) == ["pictures", "sequences", "windows"], "what they take")
    page.click(of("sort-multiply_adds"))
    page.until(lambda: (adds := told("card-multiply-adds")) and list(adds.values()) == sorted(adds.values()), "multiply-adds")


def test_figures_and_layers_are_those_of_the_analysis(page, daemon, blobs):
    said = report(daemon, {"name": "simple_cnn"}, blobs)
    page.go(f"#/networks/simple_cnn?dataset={blobs['id']}")
    page.until(lambda: figures(page) == figures_of(said), "the figures of the analysis")
    rows = page.rows(of("layers"))
    assert [r[1] for r in rows] == [layer["name"] for layer in said["layers"]]
    assert [r[4] for r in rows] == [as_shown.count(layer["learnable_count"]) for layer in said["layers"]]
    assert page.count(of("graph-node")) == len(said["layers"])


def test_a_parameter_changes_the_figures(page, daemon, blobs):
    page.go(f"#/networks/simple_cnn?dataset={blobs['id']}")
    page.shown(of("total-learnables"))
    page.fill(of("parameter-filters"), "7")
    said = report(daemon, {"name": "simple_cnn", "filters": 7}, blobs)
    page.until(lambda: figures(page) == figures_of(said), "the figures of seven filters")


def test_an_own_network_is_judged_as_it_is_written(page, blobs):
    """What is no JSON is said at once; what is no network is said by the service, with its place."""
    page.go(f"#/networks/draft?dataset={blobs['id']}")
    page.shown(of("graph"))
    page.fill(of("json"), '{"layers": [')
    page.shown(of("json-wrong"), "no JSON yet")
    wrong = {"layers": [{"name": "input", "kind": "image_input"}, {"name": "<b>odd</b>", "kind": "no_such_kind"}]}
    page.fill(of("json"), json.dumps(wrong))
    page.gone(of("json-wrong"))
    page.until(lambda: "no_such_kind" in page.body_of(of("analysis")), "the service's word on the kind")
    assert page.count("main b b") == 0
    page.complaints()  # a refused analysis is a failed request


def test_layers_have_colours_of_their_families(page, blobs):
    """The list of families is compared with the kinds of layers by make lint; here it is one that is drawn."""
    page.go("#/networks/transformer_encoder")
    page.until(lambda: page.count(".graph-window .family-attention") > 0, "attention")
    network = {"layers": [{"name": "input", "kind": "image_input"}, {"name": "pad", "kind": "spatial_padding", "padding": 1},
                          {"name": "silu", "kind": "silu"}, {"name": "flat", "kind": "flatten"},
                          {"name": "fc", "kind": "fully_connected"}, {"name": "softmax", "kind": "softmax"}]}
    page.go(f"#/networks/draft?dataset={blobs['id']}")
    page.shown(of("graph"))
    page.fill(of("json"), json.dumps(network))
    families = "return [...document.querySelectorAll('.graph-window .node')].map(e => e.getAttribute('class').match(/family-(\\w+)/)[1])"
    page.until(lambda: page.script(families) == ["input", "shape", "activation", "shape", "connected", "activation"], "a colour each")


def test_a_network_goes_into_a_new_job(page, blobs):
    page.go(f"#/networks/simple_cnn?dataset={blobs['id']}")
    page.click(of("network-use"))
    page.until(lambda: page.script("return location.hash").startswith("#/submit?network=draft"), "the form of a new job")
