"""/v1/networks: catalogue and analysis."""
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
