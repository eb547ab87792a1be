"""Row 7 of the acceptance table: bad requests and bodies over all routes. Each answers 4xx (501, 505
where HTTP requires) with code and pointer, never another 5xx, and the daemon lives."""
import json
import socket

import pytest
from conftest import SPEC, STATUS, UNKNOWN_ID, check_problem

JSON = {"Content-Type": "application/json"}
BYTES = {"Content-Type": "application/octet-stream"}
DEEP = "[" * 2049 + "]" * 2049

# method, path, body, headers, status, code, pointer or parameter. {dataset} (in bodies too), {job}, {trial} stand
# for ids that exist, {unknown} for one that does not. A dict is sent as JSON, bytes and text as they
# are. ? before a name: a parameter, else a pointer; None: nothing to say.
ROWS = [
    # Addresses and methods.
    ("GET", "/", None, {}, 404, "not_found", None),
    ("GET", "/v1", None, {}, 404, "not_found", None),
    ("GET", "/v1/jobs/", None, {}, 404, "not_found", None),
    ("GET", "/v1/jobs/123", None, {}, 404, "not_found", None),
    ("GET", "/v1/jobs/0192A1B2C3D47E5F8A9B0C1D2E3F4A5B", None, {}, 404, "not_found", None),
    ("GET", "/v1/jobs/{job}/nothing", None, {}, 404, "not_found", None),
    ("GET", "/v1/jobs/{unknown}", None, {}, 404, "not_found", None),
    ("GET", "/v1/jobs/{unknown}/trials", None, {}, 404, "not_found", None),
    ("GET", "/v1/jobs/{unknown}/results", None, {}, 404, "not_found", None),
    ("GET", "/v1/jobs/{trial}", None, {}, 404, "not_found", None),
    ("GET", "/v1/trials/{unknown}", None, {}, 404, "not_found", None),
    ("GET", "/v1/trials/{job}", None, {}, 404, "not_found", None),
    ("GET", "/v1/trials/{unknown}/metrics", None, {}, 404, "not_found", None),
    ("GET", "/v1/trials/{unknown}/evaluations", None, {}, 404, "not_found", None),
    ("GET", "/v1/trials/{unknown}/confusion-matrix", None, {}, 404, "not_found", None),
    ("GET", "/v1/trials/{unknown}/predictions", None, {}, 404, "not_found", None),
    ("GET", "/v1/trials/{unknown}/log", None, {}, 404, "not_found", None),
    ("GET", "/v1/trials/{unknown}/network", None, {}, 404, "not_found", None),
    ("GET", "/v1/trials/{trial}/saliency", None, {}, 404, "not_found", None),
    ("GET", "/v1/datasets/{unknown}", None, {}, 404, "not_found", None),
    ("GET", "/v1/datasets/{dataset}/items/4000000000/image", None, {}, 404, "not_found", None),
    ("GET", "/v1/datasets/{dataset}/items/-1/image", None, {}, 404, "not_found", None),
    ("GET", "/v1/datasets/{dataset}/items/..%2f..%2fetc/image", None, {}, 404, "not_found", None),
    ("GET", "/v1/weights/{unknown}", None, {}, 404, "not_found", None),
    ("GET", "/v1/weights/{dataset}", None, {}, 404, "not_found", None),
    ("GET", "/v1/weights/{unknown}/tensors", None, {}, 404, "not_found", None),
    ("GET", "/v1/weights/{unknown}/content", None, {}, 404, "not_found", None),
    ("GET", "/v1/experiments/{unknown}", None, {}, 404, "not_found", None),
    ("GET", "/v1/networks/resnet9000", None, {}, 404, "not_found", None),
    ("GET", "/v1/networks/%2e%2e%2f%2e%2e%2fetc%2fpasswd", None, {}, 404, "not_found", None),
    ("GET", "/v1/networks/../../../../etc/passwd", None, {}, 404, "not_found", None),
    ("GET", "//etc/passwd", None, {}, 404, "not_found", None),
    ("POST", "/v1/jobs/{unknown}/cancel", None, {}, 404, "not_found", None),
    ("POST", "/v1/trials/{unknown}/restart", None, {}, 404, "not_found", None),
    ("PATCH", "/v1/jobs/{unknown}", {"name": "x"}, {}, 404, "not_found", None),
    ("PATCH", "/v1/trials/{unknown}", {"notes": "x"}, {}, 404, "not_found", None),
    ("DELETE", "/v1/datasets/{unknown}", None, {}, 404, "not_found", None),
    ("DELETE", "/v1/weights/{unknown}", None, {}, 404, "not_found", None),
    ("PATCH", "/v1/weights/{unknown}", {"name": "x"}, {}, 404, "not_found", None),
    ("PUT", "/v1/weights/{unknown}/files/a", b"x", BYTES, 404, "not_found", None),
    ("PUT", "/v1/weights/{dataset}/files/a", b"x", BYTES, 404, "not_found", None),
    ("PUT", "/v1/datasets/{unknown}/files/a", b"x", BYTES, 404, "not_found", None),
    ("PUT", "/v1/datasets/{dataset}/files/nothing", b"x", BYTES, 404, "not_found", None),
    ("DELETE", "/v1/jobs/{job}", None, {}, 405, "method_not_allowed", None),
    ("PUT", "/v1/jobs", {}, {}, 405, "method_not_allowed", None),
    ("POST", "/v1/networks", {}, {}, 405, "method_not_allowed", None),
    ("GET", "/v1/jobs/bulk", None, {}, 405, "method_not_allowed", None),
    ("GET", "/v1/jobs/{job}/cancel", None, {}, 405, "method_not_allowed", None),
    ("PATCH", "/healthz", {}, {}, 405, "method_not_allowed", None),
    ("BREW", "/v1/jobs", None, {}, 501, "not_implemented", None),
    # Query parameters.
    ("GET", "/v1/jobs?limit=0", None, {}, 400, "invalid_parameter", "?limit"),
    ("GET", "/v1/jobs?limit=501", None, {}, 400, "invalid_parameter", "?limit"),
    ("GET", "/v1/jobs?limit=ten", None, {}, 400, "invalid_parameter", "?limit"),
    ("GET", "/v1/jobs?limit=1&limit=2", None, {}, 400, "invalid_parameter", "?limit"),
    ("GET", "/v1/jobs?limit=99999999999999999999", None, {}, 400, "invalid_parameter", "?limit"),
    ("GET", "/v1/jobs?cursor=garbage", None, {}, 400, "invalid_parameter", "?cursor"),
    ("GET", "/v1/jobs?cursor=", None, {}, 400, "invalid_parameter", "?cursor"),
    ("GET", "/v1/jobs?state=happy", None, {}, 400, "invalid_parameter", "?state"),
    ("GET", "/v1/jobs?sort=colour", None, {}, 400, "invalid_parameter", "?sort"),
    ("GET", "/v1/jobs?fields=id,secret", None, {}, 400, "invalid_parameter", "?fields"),
    ("GET", "/v1/jobs?experiment=7", None, {}, 400, "invalid_parameter", "?experiment"),
    ("GET", "/v1/jobs?created_after=yesterday", None, {}, 400, "invalid_parameter", "?created_after"),
    ("GET", "/v1/jobs?nonsense=1", None, {}, 400, "invalid_parameter", "?nonsense"),
    ("GET", "/v1/jobs?wait=3600", None, {}, 400, "invalid_parameter", "?wait"),
    ("GET", "/v1/jobs?search=%ff%fe", None, {}, 400, None, None),
    ("GET", "/v1/jobs?search=a%00b", None, {}, 400, None, None),
    ("GET", "/v1/jobs/{job}?verbose=1", None, {}, 400, "invalid_parameter", "?verbose"),
    ("GET", "/v1/jobs/{job}/trials?sort=name", None, {}, 400, "invalid_parameter", "?sort"),
    ("GET", "/v1/jobs/{job}/trials?error_class=sad", None, {}, 400, "invalid_parameter", "?error_class"),
    ("GET", "/v1/jobs/{job}/results?over=time", None, {}, 400, "invalid_parameter", "?over"),
    ("GET", "/v1/trials/{trial}/metrics?max_points=3", None, {}, 400, "invalid_parameter", "?max_points"),
    ("GET", "/v1/trials/{trial}/metrics?max_points=1000000", None, {}, 400, "invalid_parameter", "?max_points"),
    ("GET", "/v1/trials/{trial}/metrics?after_step=-2", None, {}, 400, "invalid_parameter", "?after_step"),
    ("GET", "/v1/trials/{trial}/metrics?names=speed", None, {}, 400, "invalid_parameter", "?names"),
    ("GET", "/v1/trials/{trial}/confusion-matrix?part=all", None, {}, 400, "invalid_parameter", "?part"),
    ("GET", "/v1/trials/{trial}/activations", None, {}, 400, "invalid_parameter", "?layer"),
    ("GET", "/v1/trials/{trial}/activations?layer=fc&sample=-1", None, {}, 400, "invalid_parameter", "?sample"),
    ("GET", "/v1/trials/{trial}/activations?layer=fc&sample=1", None, {}, 404, "not_found", None),
    ("GET", "/v1/trials/{trial}/explanations?method=all", None, {}, 400, "invalid_parameter", "?method"),
    ("GET", "/v1/trials/{trial}/explanations/0?overlay=maybe", None, {}, 400, "invalid_parameter", "?overlay"),
    ("GET", "/v1/trials/{trial}/explanations/0", None, {}, 404, "not_found", None),
    ("POST", "/v1/trials/{trial}/predict?wait=99", b"x", {"Content-Type": "image/png"}, 400, "invalid_parameter", "?wait"),
    ("POST", "/v1/trials/{trial}/predict", b"x", {"Content-Type": "text/csv"}, 415, "unsupported_media_type", None),
    ("POST", "/v1/trials/{unknown}/predict", b"x", {"Content-Type": "image/png"}, 404, "not_found", None),
    ("GET", "/v1/predictions/{unknown}", None, {}, 404, "not_found", None),
    ("DELETE", "/v1/predictions/{unknown}", None, {}, 405, "method_not_allowed", None),
    ("GET", "/v1/trials/{trial}/predictions?true=nobody", None, {}, 400, "invalid_parameter", "?true"),
    ("GET", "/v1/trials/{trial}/predictions?wrong=maybe", None, {}, 400, "invalid_parameter", "?wrong"),
    ("GET", "/v1/trials/{trial}/predictions?sequence=-1", None, {}, 400, "invalid_parameter", "?sequence"),
    ("GET", "/v1/trials/{trial}/predictions?sequence=4294967296", None, {}, 400, "invalid_parameter", "?sequence"),
    ("GET", "/v1/trials/{trial}/predictions?sequence=0", None, {}, 400, "invalid_parameter", "?sequence"),
    ("GET", "/v1/trials/{trial}/network?format=zip", None, {}, 400, "invalid_parameter", "?format"),
    ("GET", "/v1/trials/{trial}/network?format=onnx", None, {}, 422, "not_supported", "?format"),
    ("GET", "/v1/datasets?kind=cats", None, {}, 400, "invalid_parameter", "?kind"),
    ("GET", "/v1/weights?state=heavy", None, {}, 400, "invalid_parameter", "?state"),
    ("GET", "/v1/weights?kind=image_classification", None, {}, 400, "invalid_parameter", "?kind"),
    ("GET", "/v1/weights/{unknown}/tensors?cursor=x", None, {}, 404, None, None),
    ("GET", "/v1/datasets/{dataset}/items?class=nobody", None, {}, 400, "invalid_parameter", "?class"),
    ("GET", "/v1/datasets/{dataset}/items?part=rest", None, {}, 400, "invalid_parameter", "?part"),
    ("GET", "/v1/events?job=7", None, {}, 400, "invalid_parameter", "?job"),
    ("GET", "/v1/events?job={unknown}", None, {}, 404, "not_found", None),
    ("GET", "/v1/events", None, {"Last-Event-ID": "x"}, 400, "invalid_parameter", "?Last-Event-ID"),
    ("GET", "/healthz?deep=1", None, {}, 400, "invalid_parameter", "?deep"),
    ("GET", "/v1/jobs?" + "a" * 5000, None, {}, 414, "uri_too_long", None),
    # Headers and content types.
    ("POST", "/v1/jobs", b"{}", {}, 415, "unsupported_media_type", None),
    ("POST", "/v1/jobs", b"{}", {"Content-Type": "text/plain"}, 415, "unsupported_media_type", None),
    ("POST", "/v1/jobs", b"{}", {**JSON, "Content-Encoding": "gzip"}, 415, "unsupported_media_type", None),
    ("POST", "/v1/jobs", b"{}", {"Content-Type": "application/json; charset=latin1"}, 415,
     "unsupported_media_type", None),
    ("GET", "/v1/jobs", None, {"Accept": "image/png"}, 406, "not_acceptable", None),
    ("GET", "/v1/jobs", None, {"Host": "evil.example"}, 403, "forbidden_origin", None),
    ("POST", "/v1/jobs", {}, {"Origin": "https://evil.example"}, 403, "forbidden_origin", None),
    ("GET", "/v1/jobs", None, {"X-Long": "a" * 60000}, 431, "headers_too_large", None),
    ("POST", "/v1/experiments", {"name": "x"}, {"Idempotency-Key": "a" * 201}, 400, "invalid_parameter",
     "?Idempotency-Key"),
    ("POST", "/v1/experiments", {"name": "x"}, {"Idempotency-Key": "two words"}, 400, "invalid_parameter",
     "?Idempotency-Key"),
    ("PATCH", "/v1/jobs/{job}", {"name": "x"}, {"If-Match": '"r0-0"'}, 412, "precondition_failed", "?If-Match"),
    # JSON.
    ("POST", "/v1/jobs", b"", JSON, 400, None, None),
    ("POST", "/v1/jobs", b"{", JSON, 400, "invalid_json", None),
    ("POST", "/v1/jobs", b"{} {}", JSON, 400, "invalid_json", None),
    ("POST", "/v1/jobs", b'{"kind": "a", "kind": "b"}', JSON, 400, "invalid_json", None),
    ("POST", "/v1/jobs", b'{"kind": "a", "\\u006bind": "b"}', JSON, 400, "invalid_json", None),
    ("POST", "/v1/jobs", b'{"kind": "\\u0000"}', JSON, 400, "invalid_json", None),
    ("POST", "/v1/jobs", b'{"kind": "\xff"}', JSON, 400, "invalid_json", None),
    ("POST", "/v1/jobs", b'{"kind": NaN}', JSON, 400, "invalid_json", None),
    ("POST", "/v1/jobs", b'{"kind": 1e400}', JSON, 400, "invalid_json", None),
    ("POST", "/v1/jobs", b'{"kind": 123456789012345678901234567890}', JSON, 400, "invalid_json", None),
    ("POST", "/v1/jobs", b'{"kind": "\\ud800"}', JSON, 400, "invalid_json", None),
    ("POST", "/v1/jobs", b'\xef\xbb\xbf{}', JSON, 400, "invalid_json", None),
    ("POST", "/v1/jobs", DEEP.encode(), JSON, 400, "invalid_json", None),
    ("POST", "/v1/jobs", b"[" * 1000000, JSON, 400, "invalid_json", None),
    ("POST", "/v1/jobs", b"3", JSON, 400, "invalid_json", None),
    ("POST", "/v1/jobs", b'{"a": "' + b"a" * 2000000 + b'"}', JSON, 413, "too_large", None),
    ("POST", "/v1/jobs/{job}/cancel", {"force": True}, {}, 422, "unknown_field", "/force"),
    # Jobs.
    ("POST", "/v1/jobs", [], {}, 422, "invalid_field", None),
    ("POST", "/v1/jobs", {}, {}, 422, "invalid_field", "/kind"),
    ("POST", "/v1/jobs", {"kind": "transfer_learning"}, {}, 422, "invalid_field", "/dataset"),
    ("POST", "/v1/jobs", {"kind": "solver_comparison"}, {}, 422, "invalid_field", "/dataset"),
    ("POST", "/v1/jobs", {"kind": "solver_comparison", "dataset": UNKNOWN_ID}, {}, 422, "invalid_field", "/dataset"),
    ("POST", "/v1/jobs", {"kind": "solver_comparison", "dataset": "' or 1=1 --"}, {}, 422, "invalid_field",
     "/dataset"),
    *[("POST", "/v1/jobs", {"kind": "solver_comparison", "dataset": "{dataset}", **fields}, {}, 422, "invalid_field", place)
      for fields, place in (
          ({"training": {"learning_rate": 1e-310}}, "/training/learning_rate"),
          ({"evaluation": {"phm08": {"a_early": 1}}}, "/evaluation/phm08"),
          ({"network": {"name": "mlp"}, "search": {"parameters": {"network": [{"name": "simple_cnn"}]}}},
           "/search/parameters/network"),
          ({"search": {"parameters": {"training.epochs": [1], "training": [{"l2": 0}]}}}, "/search/parameters/training"),
          ({"search": {"parameters": {"training": [{"epochs": 1}], "training.epochs": [1]}}},
           "/search/parameters/training.epochs"),
          ({"search": {"parameters": {"training": [{"epochs": 0}]}}}, "/search/parameters/training/0"))],
    ("POST", "/v1/jobs", {"kind": "solver_comparison", "dataset": UNKNOWN_ID, "augmentation": {"rotation_degrees": [-10, 10]}}, {},
     422, "not_supported", "/augmentation/rotation_degrees"),
    ("POST", "/v1/jobs", {"kind": "solver_comparison", "dataset": UNKNOWN_ID, "augmentation": {"x_translation": [-30, 30]}}, {},
     422, "not_supported", "/augmentation/x_translation"),
    ("POST", "/v1/jobs", {"kind": "solver_comparison", "dataset": UNKNOWN_ID, "explain": {"methods": ["grad_cam", "occlusion"]}}, {},
     422, "not_supported", "/explain/methods/1"),
    ("POST", "/v1/jobs", {"kind": "solver_comparison", "dataset": UNKNOWN_ID, "search": {"strategy": "random"}}, {}, 422,
     "not_supported", "/search/strategy"),
    ("POST", "/v1/jobs", {"kind": "solver_comparison", "dataset": UNKNOWN_ID, "precision": "bf16"}, {}, 422, "not_supported",
     "/precision"),
    ("POST", "/v1/jobs", {"kind": "solver_comparison", "dataset": UNKNOWN_ID, "parallel": 2}, {}, 422, "not_supported", "/parallel"),
    ("POST", "/v1/jobs/{job}/extend", {"epochs": 3}, {}, 422, "not_supported", None),
    ("POST", "/v1/jobs/{job}/duplicate", None, {}, 422, "not_supported", None),
    ("POST", "/v1/jobs/{unknown}/duplicate", None, {}, 404, "not_found", None),
    ("POST", "/v1/jobs/bulk", {"action": "extend", "ids": [UNKNOWN_ID]}, {}, 422, "not_supported", "/action"),
    ("POST", "/v1/trials/{trial}/fork", {"step": 3}, {}, 422, "not_supported", None),
    ("POST", "/v1/trials/{trial}/extend", None, {}, 422, "not_supported", None),
    ("POST", "/v1/trials/{trial}/duplicate", None, {}, 422, "not_supported", None),
    ("POST", "/v1/trials/{unknown}/fork", None, {}, 404, "not_found", None),
    ("POST", "/v1/jobs?dry_run=perhaps", {}, {}, 400, "invalid_parameter", "?dry_run"),
    ("PATCH", "/v1/jobs/{job}", {}, {}, 422, "invalid_field", None),
    ("PATCH", "/v1/jobs/{job}", {"state": "completed"}, {}, 422, "unknown_field", "/state"),
    ("PATCH", "/v1/jobs/{job}", {"name": "a" * 201}, {}, 422, "invalid_field", "/name"),
    ("PATCH", "/v1/jobs/{job}", {"name": None}, {}, 422, "invalid_field", "/name"),
    ("PATCH", "/v1/jobs/{job}", {"labels": ["a", 1]}, {}, 422, "invalid_field", "/labels/1"),
    ("PATCH", "/v1/jobs/{job}", {"labels": [str(i) for i in range(33)]}, {}, 422, "invalid_field", "/labels"),
    ("POST", "/v1/jobs/{job}/stop", None, {}, 409, "wrong_state", None),
    ("POST", "/v1/jobs/{job}/cancel", None, {}, 409, "wrong_state", None),
    ("POST", "/v1/jobs/{job}/restart", None, {}, 409, "wrong_state", None),
    ("POST", "/v1/jobs/{job}/restart", {"states": ["completed"]}, {}, 422, "invalid_field", "/states/0"),
    ("POST", "/v1/jobs/{job}/restart", {"states": []}, {}, 422, "invalid_field", "/states"),
    ("POST", "/v1/jobs/bulk", {}, {}, 422, "invalid_field", "/action"),
    ("POST", "/v1/jobs/bulk", {"action": "explode", "ids": [UNKNOWN_ID]}, {}, 422, "invalid_field", "/action"),
    ("POST", "/v1/jobs/bulk", {"action": "stop", "ids": []}, {}, 422, "invalid_field", "/ids"),
    ("POST", "/v1/jobs/bulk", {"action": "stop", "ids": [UNKNOWN_ID] * 501}, {}, 422, "invalid_field", "/ids"),
    ("POST", "/v1/jobs/bulk", {"action": "stop"}, {}, 422, "invalid_field", "/ids"),
    ("POST", "/v1/jobs/bulk", {"action": "stop", "filter": {}}, {}, 422, "invalid_field", "/filter"),
    ("POST", "/v1/jobs/bulk", {"action": "stop", "ids": [UNKNOWN_ID], "filter": {"label": "x"}}, {}, 422,
     "invalid_field", "/filter"),
    ("POST", "/v1/jobs/bulk", {"action": "stop", "filter": {"state": "sad"}}, {}, 422, "invalid_field",
     "/filter/state"),
    ("POST", "/v1/jobs/bulk", {"action": "stop", "filter": {"dataset": "' or 1=1"}}, {}, 422, "invalid_field",
     "/filter/dataset"),
    ("POST", "/v1/jobs/bulk", {"action": "stop", "filter": {"owner": "me"}}, {}, 422, "unknown_field",
     "/filter/owner"),
    ("POST", "/v1/jobs/bulk", {"action": "stop", "ids": [UNKNOWN_ID], "states": ["failed"]}, {}, 422,
     "unknown_field", "/states"),
    # Trials.
    ("POST", "/v1/trials/{trial}/pause", None, {}, 409, "wrong_state", None),
    ("POST", "/v1/trials/{trial}/stop", None, {}, 409, "wrong_state", None),
    ("POST", "/v1/trials/{trial}/cancel", None, {}, 409, "wrong_state", None),
    ("POST", "/v1/trials/{trial}/restart", None, {}, 409, "wrong_state", None),
    ("POST", "/v1/trials/{trial}/resume", {"now": True}, {}, 422, "unknown_field", "/now"),
    ("PATCH", "/v1/trials/{trial}", {"discarded": "yes"}, {}, 422, "invalid_field", "/discarded"),
    ("PATCH", "/v1/trials/{trial}", {"labels": "x"}, {}, 422, "invalid_field", "/labels"),
    ("PATCH", "/v1/trials/{trial}", {"labels": ["x", "x"]}, {}, 422, "invalid_field", "/labels/1"),
    ("PATCH", "/v1/trials/{trial}", {"labels": ["x\n"]}, {}, 422, "invalid_field", "/labels/0"),
    ("PATCH", "/v1/trials/{trial}", {"seed": 3}, {}, 422, "unknown_field", "/seed"),
    # Data sets.
    ("POST", "/v1/datasets", {}, {}, 422, "invalid_field", "/name"),
    ("POST", "/v1/datasets", {"name": "", "layout": "idx", "files": []}, {}, 422, "invalid_field", "/name"),
    ("POST", "/v1/datasets", {"name": "x", "layout": "csv", "files": [{"name": "a"}]}, {}, 422, "invalid_field",
     "/layout"),
    ("POST", "/v1/datasets", {"name": "x", "kind": "image_classification", "layout": "table",
                              "files": [{"name": "a"}]}, {}, 422, "invalid_field", "/layout"),
    ("POST", "/v1/datasets", {"name": "x", "kind": "sequences", "layout": "idx", "files": [{"name": "a"}]}, {}, 422,
     "invalid_field", "/layout"),
    ("POST", "/v1/datasets", {"name": "x", "kind": "signals", "layout": "idx", "files": [{"name": "a"}]}, {}, 422,
     "not_supported", "/kind"),
    ("POST", "/v1/datasets", {"name": "x", "layout": "folder", "files": [{"name": "a"}]}, {}, 422, "not_supported",
     "/layout"),
    *[("POST", "/v1/datasets", {"name": "x", "kind": "sequences", "layout": layout, "files": [{"name": "a.csv"}],
                                **({"table": table} if table is not None else {}), **more}, {}, 422, code, pointer)
      for layout, table, more, code, pointer in (
          ("table", None, {}, "invalid_field", "/table/target"),
          ("table", 3, {}, "invalid_field", "/table"),
          ("table", {"target": "y", "colour": 1}, {}, "unknown_field", "/table/colour"),
          ("table", {"target": 1.5}, {}, "invalid_field", "/table/target"),
          ("table", {"target": ["y", "y"]}, {}, "invalid_field", "/table/target"),
          ("table", {"target": "y", "separator": "|"}, {}, "invalid_field", "/table/separator"),
          ("table", {"target": "y", "time": []}, {}, "invalid_field", "/table/time"),
          ("table", {"target": "y", "files": {"a.csv": "spare"}}, {}, "invalid_field", "/table/files/a.csv"),
          ("table", {"target": "y", "missing": "value"}, {}, "invalid_field", "/table/missing_value"),
          ("table", {"target": "y"}, {"image_size": 8}, "invalid_field", "/image_size"),
          ("table", {"target": "y"}, {"classes": ["a"]}, "invalid_field", "/classes"),
          ("cmapss", {"inputs": [3]}, {}, "invalid_field", "/table/inputs"))],
    ("POST", "/v1/datasets", {"name": "x", "layout": "archive", "files": [{"name": "a"}], "table": {}}, {}, 422,
     "invalid_field", "/table"),
    ("POST", "/v1/datasets", {"name": "x", "layout": "archive", "files": []}, {}, 422, "invalid_field", "/files"),
    ("POST", "/v1/datasets", {"name": "x", "layout": "archive", "files": [3]}, {}, 422, "invalid_field", "/files/0"),
    ("POST", "/v1/datasets", {"name": "x", "layout": "archive", "files": [{}]}, {}, 422, "invalid_field",
     "/files/0/name"),
    ("POST", "/v1/datasets", {"name": "x", "layout": "archive", "files": [{"name": "../a"}]}, {}, 422,
     "invalid_field", "/files/0/name"),
    ("POST", "/v1/datasets", {"name": "x", "layout": "archive", "files": [{"name": "a"}, {"name": "b"}]}, {}, 422,
     "invalid_field", "/files"),
    ("POST", "/v1/datasets", {"name": "x", "layout": "idx", "files": [{"name": "a"}, {"name": "a"}]}, {}, 422,
     "invalid_field", "/files/1/name"),
    ("POST", "/v1/datasets", {"name": "x", "layout": "archive", "files": [{"name": "a", "size": -1}]}, {}, 422,
     "invalid_field", "/files/0/size"),
    ("POST", "/v1/datasets", {"name": "x", "layout": "archive", "files": [{"name": "a", "sha256": "z" * 64}]}, {},
     422, "invalid_field", "/files/0/sha256"),
    ("POST", "/v1/datasets", {"name": "x", "layout": "archive", "files": [{"path": "/etc/passwd"}]}, {}, 422,
     "invalid_field", "/files/0/path"),
    ("POST", "/v1/datasets", {"name": "x", "layout": "archive", "files": [{"path": "../../etc/passwd"}]}, {}, 422,
     "invalid_field", "/files/0/path"),
    ("POST", "/v1/datasets", {"name": "x", "layout": "archive", "files": [{"name": "a"}], "image_size": 0}, {}, 422,
     "invalid_field", "/image_size"),
    ("POST", "/v1/datasets", {"name": "x", "layout": "archive", "files": [{"name": "a"}], "on_refused": "cry"}, {},
     422, "invalid_field", "/on_refused"),
    ("POST", "/v1/datasets", {"name": "x", "layout": "archive", "files": [{"name": "a"}], "url": "http://x"}, {},
     422, "not_supported", "/url"),
    ("POST", "/v1/datasets", {"name": "x\n", "layout": "archive", "files": [{"name": "a"}]}, {}, 422,
     "invalid_field", "/name"),
    ("POST", "/v1/datasets", {"name": "blobs", "layout": "archive", "files": [{"name": "a"}]}, {}, 409, "conflict",
     None),
    ("PUT", "/v1/datasets/{dataset}/files/train-images-idx3-ubyte", b"x", BYTES, 409, "wrong_state", None),
    ("PUT", "/v1/datasets/{dataset}/files/train-images-idx3-ubyte", b"x", JSON, 415, "unsupported_media_type", None),
    ("PUT", "/v1/datasets/{dataset}/files/train-images-idx3-ubyte?offset=-1", b"x", BYTES, 400, "invalid_parameter",
     "?offset"),
    ("PATCH", "/v1/datasets/{dataset}", {"layout": "archive"}, {}, 422, "unknown_field", "/layout"),
    ("PATCH", "/v1/datasets/{dataset}", {"name": ""}, {}, 422, "invalid_field", "/name"),
    ("DELETE", "/v1/datasets/{dataset}", None, {}, 409, "conflict", None),
    # Weights.
    ("POST", "/v1/weights", {}, {}, 422, "invalid_field", "/name"),
    ("POST", "/v1/weights", [], {}, 422, "invalid_field", None),
    ("POST", "/v1/weights", {"name": "x"}, {}, 422, "invalid_field", "/files"),
    ("POST", "/v1/weights", {"name": "x", "files": []}, {}, 422, "invalid_field", "/files"),
    ("POST", "/v1/weights", {"name": "x", "files": [{"name": "a"}, {"name": "b"}]}, {}, 422, "invalid_field",
     "/files"),
    ("POST", "/v1/weights", {"name": "x", "files": [{"name": "a/b"}]}, {}, 422, "invalid_field", "/files/0/name"),
    ("POST", "/v1/weights", {"name": "x", "files": [{"path": "/etc/passwd"}]}, {}, 422, "invalid_field",
     "/files/0/path"),
    ("POST", "/v1/weights", {"name": "x", "files": [{"name": "a", "size": 1 << 33}]}, {}, 422, "invalid_field",
     "/files/0/size"),
    ("POST", "/v1/weights", {"name": "x\t", "files": [{"name": "a"}]}, {}, 422, "invalid_field", "/name"),
    ("POST", "/v1/weights", {"name": "x", "files": [{"name": "a"}], "url": "http://x\n"}, {}, 422, "invalid_field",
     "/url"),
    ("POST", "/v1/weights", {"name": "x", "files": [{"name": "a"}], "origin": 7}, {}, 422, "invalid_field",
     "/origin"),
    ("POST", "/v1/weights", {"name": "x", "files": [{"name": "a"}], "format": "onnx"}, {}, 422, "unknown_field",
     "/format"),
    ("POST", "/v1/weights", {"name": "x", "files": [{"name": "a"}], "preprocessing": {}}, {}, 422, "invalid_field",
     "/preprocessing/mean"),
    ("POST", "/v1/weights", {"name": "x", "files": [{"name": "a"}],
                             "preprocessing": {"mean": [0, 0], "std": [1]}}, {}, 422, "invalid_field",
     "/preprocessing/std"),
    ("POST", "/v1/weights", {"name": "x", "files": [{"name": "a"}],
                             "preprocessing": {"mean": [0], "std": [0]}}, {}, 422, "invalid_field",
     "/preprocessing/std/0"),
    ("POST", "/v1/weights", {"name": "x", "files": [{"name": "a"}],
                             "preprocessing": {"mean": [0] * 65, "std": [1] * 65}}, {}, 422, "invalid_field",
     "/preprocessing/mean"),
    ("POST", "/v1/weights/{unknown}/match", {"network": {"name": "simple_cnn"}, "classes": 2}, {}, 404, "not_found",
     None),
    ("POST", "/v1/weights/{unknown}/match", {"classes": 2}, {}, 422, "invalid_field", "/network"),
    ("PUT", "/v1/weights/{unknown}/files/a?final=maybe", b"x", BYTES, 400, "invalid_parameter", "?final"),
    # Experiments and networks.
    ("POST", "/v1/experiments", {"title": "x"}, {}, 422, None, None),
    ("POST", "/v1/experiments", {"name": 3}, {}, 422, "invalid_field", "/name"),
    ("POST", "/v1/experiments", {"name": "session"}, {}, 409, "conflict", None),
    ("POST", "/v1/networks/analyze", {}, {}, 422, "invalid_field", "/network"),
    ("POST", "/v1/networks/analyze", {"network": "simple_cnn"}, {}, 422, "invalid_field", "/network"),
    ("POST", "/v1/networks/analyze", {"network": {}, "classes": 3}, {}, 422, "invalid_field", "/input"),
    ("POST", "/v1/networks/analyze", {"network": {}, "input": {"height": 1}}, {}, 422, "invalid_field",
     "/input/width"),
    ("POST", "/v1/networks/analyze", {"network": {}, "dataset": UNKNOWN_ID}, {}, 422, "invalid_field", "/dataset"),
    ("POST", "/v1/networks/analyze", {"network": {}, "batch_size": 0}, {}, 422, "invalid_field", "/batch_size"),
]


@pytest.mark.parametrize("row", ROWS, ids=[f"{i}-{r[0]}-{r[1][:40]}" for i, r in enumerate(ROWS)])
def test_bad_request(daemon, dataset, finished, trial, row):
    method, path, body, headers, status, code, place = row
    path = (path.replace("{dataset}", dataset["id"]).replace("{job}", finished[0]["id"])
            .replace("{trial}", trial["id"]).replace("{unknown}", UNKNOWN_ID))
    if isinstance(body, (dict, list)):
        body = json.dumps(body).replace("{dataset}", dataset["id"]).encode()
        headers = {**JSON, **headers}
    answer = send(daemon, method, path, body, headers)
    assert answer.status_code == status, answer.text
    problem = check_problem(answer)
    assert code is None or problem["code"] == code, problem
    if place and place.startswith("?"):
        assert problem["parameter"] == place[1:], problem
    elif place is not None:
        assert problem["pointer"] == place, problem


def send(daemon, method, path, body, headers):
    """As it stands: requests would mend paths and headers."""
    import requests
    request = requests.Request(method, daemon.url, data=body, headers=headers).prepare()
    request.url = daemon.url + path
    if body is not None and "Content-Type" not in headers:
        request.headers.pop("Content-Type", None)
    return daemon.session.send(request, timeout=60)


def test_the_table_is_long_enough_and_covers_every_path():
    assert len(ROWS) >= 80
    for path in SPEC["paths"]:
        fixed = path.split("{")[0].rstrip("/")
        assert any(fixed in row[1] for row in ROWS) or path in ("/readyz", "/metrics", "/openapi.json"), path


def test_slow_and_broken_connections_do_no_harm(daemon):
    """Half a request, half a body, a client that vanishes while it waits."""
    for text in (b"GET /v1/jobs", b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\n",
                 f"POST /v1/jobs HTTP/1.1\r\nHost: {daemon.host}\r\nContent-Type: application/json\r\n"
                 f"Content-Length: 1000\r\n\r\n{{".encode(),
                 f"GET /v1/jobs?wait=50 HTTP/1.1\r\nHost: {daemon.host}\r\nIf-None-Match: *\r\n\r\n".encode()):
        with socket.create_connection(("127.0.0.1", daemon.port)) as s:
            s.sendall(text)
    assert daemon.get("/healthz")["status"] == "ok"


def test_every_code_has_its_status():
    codes = set(SPEC["components"]["schemas"]["Problem"]["properties"]["code"]["enum"])
    assert codes == set(STATUS) - {"ok"}
