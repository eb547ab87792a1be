"""Networks of the catalogue, and descriptions with blocks, trained through the front door."""
import assay

BLOCKS = {
    "parameters": {"depth": 2},
    "blocks": {"unit": {"parameters": {"filters": None, "stride": 1}, "layers": [
        {"name": "conv", "kind": "convolution", "filters": "$filters", "kernel": 3, "stride": "$stride", "padding": 1},
        {"name": "bn", "kind": "batch_norm"}, {"kind": "relu"}]}},
    "layers": [
        {"name": "in", "kind": "image_input"}, {"name": "stem", "block": "unit", "filters": 4, "stride": 2},
        {"for_each": "$depth", "layers": [{"name": "unit$index", "block": "unit", "filters": 4}]},
        {"name": "sum", "kind": "addition", "inputs": ["unit2", "stem"]},
        {"name": "fc", "kind": "fully_connected"}, {"name": "softmax", "kind": "softmax"}]}
NETWORKS = [{"name": "googlenet", "size": 0, "auxiliary_heads": True}, {"name": "resnet18", "size": 0},
            {"name": "resnet_2d"}, BLOCKS]


def test_a_step_of_each(daemon):
    """One step over 12 pictures of 16 x 16 in colour, with branches that only training has."""
    made = daemon.create_dataset(assay.blobs_idx(12, 6, side=16), "idx", name="small", channels=3)
    assert made["state"] == "ready", made
    job = daemon.submit({"kind": "solver_comparison", "dataset": made["id"], "split": {"train": 1},
                         "training": {"epochs": 1, "batch_size": 12, "solver": "sgdm"},
                         "search": {"strategy": "grid", "parameters": {"network": NETWORKS}}})
    trials = [daemon.get(f"/v1/trials/{t['id']}") for t in daemon.wait_job(job["id"])]
    assert [t["state"] for t in trials] == ["completed"] * 4, [t.get("error") for t in trials]
    layers = {row["name"]: row for row in trials[3]["resolved"]["network"]["layers"]}
    assert list(layers) == ["in", "stem.conv", "stem.bn", "stem", "unit1.conv", "unit1.bn", "unit1", "unit2.conv", "unit2.bn",
                            "unit2", "sum", "fc", "softmax"]
    assert "auxiliary_loss" in {row["kind"] for row in trials[0]["resolved"]["network"]["layers"]}


def test_every_network_of_images_is_taken_by_its_name(daemon):
    """As the network of a job, and as a value of an axis; those of a size at the data set's."""
    made = daemon.create_dataset(assay.blobs_idx(12, 6, side=96), "idx", name="by name", channels=3)
    networks = [row for row in daemon.get("/v1/networks")["items"] if row["input"] == "image_input"]
    sized = {row["name"]: any(p["name"] == "size" for p in row["parameters"]) for row in networks}
    assert {"googlenet", "googlenet_lrn", "inception_v3", "resnet50", "mobilenet_v2", "drsn_cw_2d"} <= set(sized)
    for kind in ("solver_comparison", "transfer_learning"):
        job = {"kind": kind, "dataset": made["id"], "training": {"solver": "sgdm", "batch_size": 4}}
        for name, has_size in sized.items():
            network = {"name": name, **({"size": 0} if has_size else {})}
            plan = daemon.post("/v1/jobs?dry_run=true", {**job, "network": network})
            assert plan["resolved"]["network"]["name"] == name, (kind, name)
        for has_size in (True, False):
            names = [name for name in sized if sized[name] == has_size]
            axes = {"network.name": names, **({"network.size": [0]} if has_size else {})}
            plan = daemon.post("/v1/jobs?dry_run=true", {**job, "search": {"parameters": axes}})
            assert plan["trial_count"] == len(names), (kind, plan["trial_count"])


def test_a_step_of_each_shrinkage_network(daemon):
    """Signals are images of one row to the 1-D ones, which take any height."""
    made = daemon.create_dataset(assay.blobs_idx(12, 6, side=16), "idx", name="small shrinkage", channels=3)
    assert made["state"] == "ready", made
    names = ["drsn_cs_1d", "drsn_cw_1d", "drsn_cs_2d", "drsn_cw_2d"]
    job = daemon.submit({"kind": "solver_comparison", "dataset": made["id"], "split": {"train": 1},
                         "training": {"epochs": 1, "batch_size": 12, "solver": "sgdm"},
                         "search": {"strategy": "grid", "parameters": {"network": [{"name": name} for name in names]}}})
    trials = [daemon.get(f"/v1/trials/{t['id']}") for t in daemon.wait_job(job["id"])]
    assert [t["state"] for t in trials] == ["completed"] * 4, [t.get("error") for t in trials]
    for name, trial in zip(names, trials):
        tau = [row for row in trial["resolved"]["network"]["layers"] if row["name"].endswith("threshold")]
        assert len(tau) == 12 and all(row["kind"] == "soft_threshold" for row in tau), name


def test_what_is_wrong_with_a_block_is_said_where_it_stands(daemon):
    wrong = {**BLOCKS, "layers": BLOCKS["layers"][:1] + [{"name": "u", "block": "unti"}] + BLOCKS["layers"][4:]}
    report = daemon.post("/v1/networks/analyze", {"network": wrong})
    pointers = {issue["pointer"] for issue in report["issues"]}
    assert not report["valid"] and any(p.endswith("/layers/1/block") for p in pointers), report["issues"]
