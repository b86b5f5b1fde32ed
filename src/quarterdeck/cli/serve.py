"""`quarterdeck serve`: the local service on loopback."""

import os

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.output import CommandError
from quarterdeck.cli.target import KEY_VARIABLE
from quarterdeck.config.files import ConfigError
from quarterdeck.config.keys import sendable
from quarterdeck.config.load import Config
from quarterdeck.local.errors import LocalServiceError
from quarterdeck.local.runtime.simulated import Simulation
from quarterdeck.local.serve import serve


async def run(arguments: CommandLine, config: Config) -> int:
    """Serve until a signal asks to stop; raises CommandError if it cannot."""
    try:
        key = sendable(os.environ.get(KEY_VARIABLE), f"environment variable {KEY_VARIABLE}")
        await serve(config.folders.data, arguments.port, key, _simulation(arguments))
    except ConfigError as error:
        raise CommandError(error.sentence) from None
    except LocalServiceError as error:
        raise CommandError(str(error)) from error
    return 0


def _simulation(arguments: CommandLine) -> Simulation | None:
    """Return what to simulate, None for nothing. Raises CommandError for options that need --simulate."""
    if arguments.simulate is None:
        if arguments.churn is not None or arguments.faults:
            words = "--churn and --faults are for a simulation."
            raise CommandError(words, "Give --simulate N too.", status=2)
        return None
    churn = 1.0 if arguments.churn is None else arguments.churn
    return Simulation(arguments.simulate, churn, faults=arguments.faults)
