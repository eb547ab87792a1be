"""What is wrong with the configuration is said before anything is made."""
import os
import subprocess

import pytest
from assay import BINARY


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
