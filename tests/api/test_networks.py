"""/v1/networks: catalogue and analysis."""
import re
import shutil
import subprocess

INPUT = {"height": 28, "width": 28, "channels": 1}


def analyze(daemon, **body):
    return daemon.post("/v1/networks/analyze", body, status=(200,))


def test_the_catalogue(daemon):
    names = [n["name"] for n in daemon.get("/v1/networks")["items"]]
    assert names == sorted(names) and "simple_cnn" in names
    one = daemon.get("/v1/networks/simple_cnn")
    assert {p["name"] for p in one["parameters"]} >= {"filters", "kernel"}
    assert one["description"]["layers"]
    inputs = {n["name"]: n["input"] for n in daemon.get("/v1/networks")["items"]}
    assert inputs["simple_cnn"] == "image_input" and inputs["lstm_regression"] == "sequence_input"
    takes = {n["name"]: n["takes"] for n in daemon.get("/v1/networks")["items"]}
    assert (takes["simple_cnn"], takes["drsn_cw_2d"], takes["drsn_cw_1d"], takes["gru"]) == ("image", "image", "signal", "sequence")
    assert {name for name, what in takes.items() if (what == "sequence") != (inputs[name] == "sequence_input")} == set()


def test_the_kinds_of_layers(daemon):
    """Each with a sentence and the schema of its options; the catalogue uses nothing else."""
    kinds = {row["name"]: row for row in daemon.get("/v1/layers")["items"]}
    assert {"convolution", "lstm", "gru", "attention", "soft_threshold", "embedding", "image_input"} <= set(kinds)
    assert all(row["text"] and row["options"]["type"] == "object" for row in kinds.values())
    assert kinds["addition"]["inputs"]["minimum"] == 2 and kinds["image_input"]["inputs"] == {"minimum": 0, "maximum": 0}
    assert kinds["convolution"]["options"]["properties"]["filters"]["description"]
    for network in daemon.get("/v1/networks")["items"]:
        report = analyze(daemon, network={"name": network["name"]})
        for layer in report["description"]["layers"]:
            known = set(kinds[layer["kind"]]["options"]["properties"]) | {"name", "kind"}
            assert set(layer) <= known, (network["name"], layer)


def test_a_variant_of_a_network(daemon):
    """Parts of the description hang on a choice: said in the catalogue, filled in by the analysis."""
    one = daemon.get("/v1/networks/efficientnet_lite0")
    assert one["derived"]["epsilon"] == {"variant": {"timm": 1e-05, "tensorflow": 0.001}}
    for variant, epsilon in one["derived"]["epsilon"]["variant"].items():
        report = analyze(daemon, network={"name": "efficientnet_lite0", "variant": variant}, classes=1000,
                         input={"height": 224, "width": 224, "channels": 3})
        assert report["valid"] and report["totals"]["learnables"] == 4652008
        norms = [layer for layer in report["description"]["layers"] if layer["kind"] == "batch_norm"]
        assert {layer["epsilon"] for layer in norms} == {epsilon} and len(norms) == 49


def test_simple_cnn_by_hand(daemon):
    """5x5 convolution to 20 channels, batch norm, fully connected: counted with a pencil."""
    report = analyze(daemon, network={"name": "simple_cnn"}, input=INPUT, classes=10)
    assert report["valid"] and report["issues"] == []
    learnables = {layer["name"]: layer["learnable_count"] for layer in report["layers"]}
    assert learnables["conv1"] == 5 * 5 * 20 + 20
    assert learnables["bn1"] == 40
    assert learnables["fc"] == 24 * 24 * 20 * 10 + 10
    assert report["totals"]["learnables"] == 520 + 40 + 115210
    shapes = {layer["name"]: layer["activation"] for layer in report["layers"]}
    assert shapes["conv1"] == [24, 24, 20] and shapes["fc"] == [10]


def test_the_description_can_be_edited_and_sent_back(daemon):
    named = analyze(daemon, network={"name": "simple_cnn", "filters": 7}, input=INPUT, classes=10)
    assert [layer for layer in named["description"]["layers"] if layer["kind"] == "convolution"][0]["filters"] == 7
    again = analyze(daemon, network=named["description"], input=INPUT, classes=10)
    assert again["valid"] and again["totals"] == named["totals"] and again["layers"] == named["layers"]
    assert analyze(daemon, network={"name": "no_such"})["description"] is None


def test_sizes_that_were_compared_with_nothing_are_said(daemon, dataset):
    report = analyze(daemon, network={"name": "simple_cnn"})
    [issue] = report["issues"]
    assert report["valid"] and (issue["severity"], issue["code"]) == ("warning", "sizes_not_checked")
    assert "unknown size" in issue["text"] and "data set" in issue["mend"]
    assert analyze(daemon, network={"name": "simple_cnn"}, dataset=dataset["id"])["issues"] == []


def test_sizes_come_from_a_data_set(daemon, dataset):
    report = analyze(daemon, network={"name": "simple_cnn"}, dataset=dataset["id"])
    assert {layer["name"]: layer["activation"] for layer in report["layers"]}["conv1"] == [8, 8, 20]


def test_sizes_of_sequences_can_be_given(daemon):
    """Counted by hand: four gates of 10 units on 3 inputs and 10 states, with a bias; then 10 to 2, or to 4."""
    small = {"units": 10, "hidden": []}
    lstm = 4 * 10 * (3 + 10 + 1)
    numbers = analyze(daemon, network={"name": "lstm_regression", **small}, sequence={"features": 3, "targets": 2})
    assert numbers["valid"] and numbers["totals"]["learnables"] == lstm + 10 * 2 + 2
    classes = analyze(daemon, network={"name": "lstm_classification", **small}, sequence={"features": 3}, classes=4)
    assert classes["valid"] and classes["totals"]["learnables"] == lstm + 10 * 4 + 4
    longer = analyze(daemon, network={"name": "lstm_regression", **small},
                     sequence={"features": 3, "targets": 2, "longest": 1000})
    assert longer["totals"]["training_bytes"] > numbers["totals"]["training_bytes"]


def test_recurrent_networks_of_either_task(daemon):
    """Counted by hand: 3 gates with two biases of a GRU; 4 gates with one, both ways, of a bilstm."""
    small = {"units": 10, "hidden": []}
    gru, both = 3 * 10 * (3 + 10 + 2), 2 * 4 * 10 * (3 + 10 + 1)
    for name, learnables, width in (("gru", gru, 10), ("bilstm", both, 20)):
        numbers = analyze(daemon, network={"name": name, **small}, sequence={"features": 3, "targets": 1})
        assert numbers["valid"] and numbers["totals"]["learnables"] == learnables + width + 1
        classes = analyze(daemon, network={"name": name, "task": "classification", **small},
                          sequence={"features": 3}, classes=4)
        assert classes["valid"] and classes["totals"]["learnables"] == learnables + (width + 1) * 4
        assert classes["layers"][-1]["kind"] == "softmax" and numbers["layers"][-1]["kind"] == "fully_connected"
    bad = analyze(daemon, network={"layers": [{"name": "in", "kind": "sequence_input"},
                                              {"name": "g", "kind": "gru", "units": 4, "direction": "backward"},
                                              {"name": "fc", "kind": "fully_connected"}]},
                  sequence={"features": 3, "targets": 1})
    assert not bad["valid"] and "/direction" in bad["issues"][0]["pointer"]


def test_without_a_data_set_sizes_are_unknown(daemon):
    report = analyze(daemon, network={"name": "simple_cnn"})
    assert report["valid"]


def test_all_issues_at_once(daemon):
    layers = [{"name": "a", "kind": "convolution", "filters": 0, "kernel": 3},
              {"name": "a", "kind": "relu"},
              {"name": "b", "kind": "no_such_layer"}]
    report = analyze(daemon, network={"layers": layers}, input=INPUT, classes=10)
    assert not report["valid"] and report["totals"]["learnables"] is None
    assert len([i for i in report["issues"] if i["severity"] == "error"]) >= 3
    assert all(i["text"] and i["mend"] for i in report["issues"])


def test_a_job_with_a_bad_network_lists_all_issues(daemon, dataset):
    problem = daemon.refused("POST", "/v1/jobs", 422, "invalid_network",
                             json={"kind": "solver_comparison", "dataset": dataset["id"],
                                   "network": {"name": "simple_cnn", "kernel": 64}})
    assert problem["issues"] and all(i["pointer"].startswith("/network") for i in problem["issues"])
    assert problem["pointer"].startswith("/network")


BRANCHES = {"layers": [{"name": "in", "kind": "image_input"},
                       {"name": "a", "kind": "convolution", "filters": 4, "kernel": 3, "padding": 1},
                       {"name": "b", "kind": "spatial_padding", "size": 1, "mode": "reflect"},
                       {"name": "k", "kind": "cropping", "size": 1},
                       {"name": "j", "kind": "concatenation"},
                       {"name": "fc", "kind": "fully_connected"}, {"name": "sm", "kind": "softmax"}],
            "connections": [["in", "a"], ["in", "b"], ["b", "k"], ["a", "j"], ["k", "j"], ["j", "fc"], ["fc", "sm"]]}


def text_of(daemon, form, network, accept=None):
    """The report as text, by the query or by Accept."""
    answer = daemon.request("POST", "/v1/networks/analyze" + ("" if accept else f"?format={form}"),
                            headers={"Accept": accept} if accept else {},
                            json={"network": network, "input": INPUT, "classes": 10, "batch_size": 16})
    kind = {"dot": "text/vnd.graphviz", "table": "text/plain; charset=utf-8"}[form]
    assert answer.status_code == 200 and answer.headers["Content-Type"] == kind
    return answer.text


def graph_of(text):
    """Nodes {number: (lines of the label, colour)} and edges of a graph in Graphviz's language."""
    lines = text.splitlines()
    assert lines[0].startswith("digraph ") and lines[0].endswith("{") and lines[-1] == "}"
    nodes, edges = {}, []
    for line in lines[1:-1]:
        node = re.fullmatch(r'  n(\d+) \[label="((?:[^"\\]|\\.)*)", fillcolor="(#[0-9a-f]{6})"\];', line)
        edge = re.fullmatch(r"  n(\d+) -> n(\d+);", line)
        if node:
            nodes[int(node[1])] = node[2].split("\\n"), node[3]
        elif edge:
            edges.append((int(edge[1]), int(edge[2])))
        else:
            assert re.fullmatch(r'  (label|fontname)="((?:[^"\\]|\\.)*)";|  node \[.*\];', line), line
    return nodes, edges


def test_the_graph(daemon):
    report = analyze(daemon, network=BRANCHES, input=INPUT, classes=10)
    text = text_of(daemon, "dot", BRANCHES)
    assert text == text_of(daemon, "dot", BRANCHES, "text/vnd.graphviz")
    nodes, edges = graph_of(text)
    names = [layer["name"] for layer in report["layers"]]
    assert sorted(edges) == sorted((names.index(a), i) for i, layer in enumerate(report["layers"])
                                   for a in layer["inputs"])
    for i, layer in enumerate(report["layers"]):
        label, colour = nodes[i]
        size = "x".join(str(n) for n in layer["activation"]) + " " + layer["format"]
        learns = layer["learnable_count"] > 0
        assert label == [layer["name"], layer["kind"], size] + learns * [f"{layer['learnable_count']} learnables"]
        assert (colour == nodes[1][1]) == learns
    if shutil.which("dot"):
        drawn = subprocess.run(["dot", "-Tsvg"], input=text, stdout=subprocess.PIPE, text=True, check=True).stdout
        assert drawn.count('class="node"') == len(nodes) and drawn.count('class="edge"') == len(edges)


def test_the_graph_of_a_broken_network(daemon):
    layers = [dict(layer) for layer in BRANCHES["layers"]]
    layers[1]["kernel"], layers[3]["size"] = 64, '"'
    broken = {**BRANCHES, "layers": layers}
    issues = {i["layer"]: i for i in analyze(daemon, network=broken, input=INPUT, classes=10)["issues"]}
    nodes, _ = graph_of(text_of(daemon, "dot", broken))
    red = {label[0]: label for label, colour in nodes.values() if colour == "#f9d0d0"}
    assert set(red) == set(issues) == {"a", "k"}
    assert red["a"][-1] == issues["a"]["text"] + "; " + issues["a"]["mend"]


def test_the_table(daemon):
    report = analyze(daemon, network=BRANCHES, input=INPUT, classes=10, batch_size=16)
    text = text_of(daemon, "table", BRANCHES)
    assert text == text_of(daemon, "table", BRANCHES, "text/plain")
    rows = {cells[1]: cells for cells in (re.split(r"  +", line.strip()) for line in text.splitlines())
            if len(cells) >= 7 and cells[0].isdigit()}
    assert len(rows) == len(report["layers"])
    for layer in report["layers"]:
        size = "x".join(str(n) for n in layer["activation"]) + " " + layer["format"]
        numbers = [str(layer[k]) for k in ("learnable_count", "multiply_adds", "activation_bytes")]
        inputs = [", ".join(layer["inputs"])] if layer["inputs"] else []
        assert rows[layer["name"]][2:] == [layer["kind"], *inputs, size, *numbers]
    for value in report["totals"].values():
        assert re.search(rf" {value}\n", text)
    broken = text_of(daemon, "table", {"name": "simple_cnn", "kernel": 64})
    assert "not valid" in broken and "error conv1: the 64x64 kernel does not fit" in broken


def test_a_report_in_another_form(daemon):
    body = {"network": {"name": "simple_cnn"}}
    daemon.refused("POST", "/v1/networks/analyze?format=svg", 400, "invalid_parameter", json=body)
    daemon.refused("POST", "/v1/networks/analyze", 406, "not_acceptable", json=body, headers={"Accept": "image/svg+xml"})
    assert daemon.request("POST", "/v1/networks/analyze?format=json", json=body).json()["valid"]
