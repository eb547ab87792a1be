"""What is wrong with the configuration is said before anything is made."""
import os
import subprocess

import pytest
from assay import BINARY
from conftest import CheckedDaemon, wait_until


def start(directory, *arguments, **options):
    env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
    return subprocess.run([BINARY, *arguments], env={**env, "ASSAY_DATA_DIR": str(directory / "data"), **options},
                          capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1", "127.0.0.1:99999", "127.0.0.1:http", "[::1:80", ":8470"])
@pytest.mark.parametrize("role", [(), ("serve",)])
def test_a_bad_address(tmp_path, role, address):
    done = start(tmp_path, *role, "--listen", address)
    assert done.returncode == 2 and "listen" in done.stderr, done
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("text", ["host=/tmp geheim", "postgresql://[geheim"])
def test_a_malformed_connection_string(tmp_path, text):
    done = start(tmp_path, ASSAY_DATABASE=text, ASSAY_LISTEN="127.0.0.1:0")
    assert done.returncode == 2 and "malformed" in done.stderr and "geheim" not in done.stderr, done


def test_a_signal_stops_in_order(tmp_path):
    """A thread of a library must not take the signal: then the process would end at once, with its status."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("ASSAY_", "OPENBLAS_"))}
    options = {"ASSAY_DATA_DIR": str(tmp_path / "data"), "ASSAY_DATABASE": "host=/nonexistent", "ASSAY_LISTEN": "127.0.0.1:0"}
    for role in ([], ["serve"], ["work"]):
        log = tmp_path / "log"
        with open(log, "wb") as out:
            process = subprocess.Popen([BINARY, *role], env={**env, **options}, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
            wait_until(lambda: b"database_away" in log.read_bytes())
            process.terminate()
            assert process.wait(60) == 0, (role, log.read_text())


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small file system")
def test_a_full_disk_is_told_after_a_chunked_upload():
    """Nothing can be answered in the midst of a body of unknown length: it is read to its end, and then 507."""
    size, piece = 160 << 20, bytes(1 << 20)
    with CheckedDaemon() as small:
        spool = small.directory / "data/spool"
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", spool], check=True)
        try:
            made = small.post("/v1/datasets", {"name": "large", "layout": "archive", "files": [{"name": "a.zip"}]})
            url = f"/v1/datasets/{made['id']}/files/a.zip"
            headers = {"Content-Type": "application/octet-stream"}
            small.refused("PUT", url, 507, "insufficient_storage", data=(piece for _ in range(size >> 20)), headers=headers)
            small.refused("PUT", url, 507, "insufficient_storage", data=bytes(8 << 20), headers=headers)
            assert small.get(f"/v1/datasets/{made['id']}")["files"][0]["received"] == 0
            assert small.request("PUT", url, data=piece, headers=headers).status_code in (200, 202)
        finally:
            subprocess.run(["umount", "-l", spool], check=True)
