import os
import subprocess
import sys

from quarterdeck.local.runtime.sessions import Seen, identify, look, read_process, read_with_psutil


def test_both_ways_to_read_a_process_agree() -> None:
    one, other = read_process(os.getpid()), read_with_psutil(os.getpid())
    assert one
    assert other
    assert (one.pid, one.session) == (other.pid, other.session)
    assert read_process(2**22 + 1) is read_with_psutil(2**22 + 1) is None


def test_a_name_with_brackets_and_blanks_is_read() -> None:
    rename = "import ctypes, sys; ctypes.CDLL(None).prctl(15, b') S 1 (2'); print(flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", rename], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        found = read_process(process.pid)
        assert found
        assert found.state in "RS"
        assert found.session == os.getsid(0)
        process.communicate()


def test_a_zombie_is_gone() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        identity = identify(process.pid)
        assert identity
        assert look(identity) is Seen.ALIVE
        assert process.stdin
        process.stdin.close()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        found = read_process(process.pid)
        assert found
        assert found.state == "Z"
        assert look(identity) is Seen.GONE
        assert identify(process.pid) is None
