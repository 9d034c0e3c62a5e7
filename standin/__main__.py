"""``python -m standin --port 4000 --seed world.json``: a GitHub of your own on loopback."""

import argparse
from pathlib import Path

import uvicorn
from pydantic import ValidationError

from standin.app import create_app
from standin.world import World


def main() -> None:
    """Serve until a signal ends it; exits with 2 when the seed cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m standin", description="A stand-in for GitHub on loopback.")
    parser.add_argument("--port", type=int, default=4000)
    parser.add_argument("--seed", type=Path, help="JSON file with the world to start with; without it, an empty one")
    asked = parser.parse_args()
    world = World()
    if asked.seed is not None:
        try:
            world = World.from_json(asked.seed.read_bytes())
        except OSError as error:
            parser.error(f"--seed: {asked.seed}: {error.strerror}")
        except ValidationError as error:
            parser.error(f"--seed: {asked.seed}: {error}")
    uvicorn.run(
        create_app(world),
        host="127.0.0.1",
        port=asked.port,
        log_level="warning",
        access_log=False,
        ws="none",
        timeout_graceful_shutdown=2,
    )


if __name__ == "__main__":
    main()
