"""
Entry point of a worker's Python process. Its one argument is JSON: `parent` (process id), `files`, `socket` (null: only declare),
`device`, `memory_bytes`, `taken` (kinds and names of built-in components). Descriptor 3 is the channel to the worker.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from typing import Any

from .process import Control, isolate

# Raised whenever frames, calls or phases change; the worker refuses another one.
HOST_PROTOCOL = 1
_CONTROL = 3


def main(argument: str) -> None:
    options = json.loads(argument)
    isolate(options["parent"], options.get("memory_bytes"))
    control = Control(_CONTROL)
    control.end_with_parent()
    os.register_at_fork(after_in_child=control.close)
    try:
        control.report({"phase": "importing"})
        _run(options, control)
    except Exception as thrown:
        from .failures import report

        report(thrown)
        control.report({"phase": "refused", "failure": _refusal(thrown)})
        os._exit(1)


def _run(options: dict[str, Any], control: Control) -> None:
    from ..version import __version__
    from .call import Caller
    from .instances import Instances
    from .load import load_files
    from .own_device import open_device
    from .server import Server

    files = options["files"]
    components = load_files(files, {(kind, name) for kind, name in options["taken"]})
    control.report({"phase": "setup"})
    device = open_device(options["device"])
    server = None
    if options["socket"] is not None:
        caller = Caller(Instances(components, device.name), device.name)
        server = Server(options["socket"], caller, device, [os.path.dirname(file) for file in files])
    torch = sys.modules.get("torch")
    control.report(
        {
            "phase": "ready",
            "protocol": HOST_PROTOCOL,
            "package": __version__,
            "python": platform.python_version(),
            "torch": None if torch is None else str(torch.__version__),
            "device": device.as_dict(),
            "components": [component.as_dict() for component in components],
        }
    )
    if server is not None:
        server.serve()


def _refusal(thrown: Exception) -> dict[str, Any]:
    from .failures import failure_of
    from .load import LoadError
    from .own_device import DeviceError

    if isinstance(thrown, DeviceError):
        return {"code": "BACKEND", "message": str(thrown), "details": {}}
    if isinstance(thrown, LoadError):
        own = {"plugin": thrown.file}
        if thrown.thrown is None:
            return {"code": "PLUGIN", "message": f'plugin "{thrown.file}" {thrown}', "details": own}
        found = failure_of(thrown.thrown, f'plugin "{thrown.file}"', [os.path.dirname(thrown.file)])
        return {"code": "PLUGIN", "message": found["message"], "details": {**own, **found["details"]}}
    return {"code": "INTERNAL", "message": f"{type(thrown).__name__}: {thrown}", "details": {}}


if __name__ == "__main__":
    main(sys.argv[1])
