import pkgutil
import subprocess
import sys

import quarterdeck.fleet

HEAVY = ("pydantic", "httpx", "textual", "rich", "quarterdeck.tui", "quarterdeck.draft", "quarterdeck.local")


def test_the_whole_room_loads_without_anything_heavy() -> None:
    modules = [f"quarterdeck.fleet.{module.name}" for module in pkgutil.iter_modules(quarterdeck.fleet.__path__)]
    assert len(modules) > 10
    program = f"import sys, {', '.join(modules)}; print([name for name in {HEAVY!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
