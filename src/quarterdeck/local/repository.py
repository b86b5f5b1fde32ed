"""Fetching a repository into a workspace with git."""

import asyncio
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from quarterdeck.client.models.enums import GitProvider
from quarterdeck.local.errors import LocalServiceError
from quarterdeck.local.runtime.launching import inherited_environment

_CLONES_WITHIN = 300.0
"""Seconds that a clone may take."""
_HOSTS = {
    GitProvider.GITHUB: "github.com",
    GitProvider.GITLAB: "gitlab.com",
    GitProvider.BITBUCKET: "bitbucket.org",
}
_OWNER_AND_NAME = re.compile(r"[\w.-]+(/[\w.-]+)+")
_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh"}


@dataclass(frozen=True)
class Repository:
    """A repository to fetch: where it is, the branch if one is wanted, and the folder it is put in."""

    address: str
    branch: str | None
    name: str

    @classmethod
    def named(cls, text: str, branch: str | None, provider: GitProvider | None) -> "Repository":
        """Read what a person names: a local path, an address, or `owner/name` at a provider (GitHub if none is said).

        Raises `LocalServiceError` when that cannot be read.
        """
        name = text.rstrip("/").rpartition("/")[2].removesuffix(".git")
        if name in {"", ".", ".."} or not f"{text}{branch or ''}".isprintable():
            raise LocalServiceError("This names no repository. Give a path, an address, or owner/name.")
        if "://" in text or text.startswith(("/", "~/", "git@")):
            return cls(str(Path(text).expanduser()) if text.startswith("~/") else text, branch, name)
        host = _HOSTS.get(provider or GitProvider.GITHUB)
        if host is None or not _OWNER_AND_NAME.fullmatch(text):
            raise LocalServiceError("Give the whole address of the repository, such as https://host/owner/name.")
        return cls(f"https://{host}/{text}.git", branch, name)

    async def fetch(self, workspace: Path) -> None:
        """Clone it into a folder of the workspace; there is none unless the clone succeeded.

        Raises `LocalServiceError` with git's own last words. Cancelling ends git.
        """
        git = shutil.which("git")
        if git is None:
            raise LocalServiceError("git is not installed here, so the repository cannot be fetched.")
        unfinished = workspace / f".{self.name}.cloning"
        branch = [f"--branch={self.branch}"] if self.branch else []
        try:
            await _run(git, "clone", "--quiet", *branch, "--", self.address, str(unfinished))
            unfinished.rename(workspace / self.name)
        finally:
            await asyncio.to_thread(shutil.rmtree, unfinished, ignore_errors=True)


async def _run(*command: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={**inherited_environment(), **_QUIET},
        start_new_session=True,  # keeps ssh from asking for a password on the deck's terminal
    )
    try:
        async with asyncio.timeout(_CLONES_WITHIN):
            _, errors = await process.communicate()
    except TimeoutError:
        raise LocalServiceError(f"git was not done after {_CLONES_WITHIN:.0f} seconds.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        lines = errors.decode(errors="replace").strip().splitlines()
        raise LocalServiceError(
            _without_credentials(f"git could not fetch it: {lines[-1] if lines else 'no word why'}")
        )


def _without_credentials(text: str) -> str:
    return re.sub(r"://[^/@\s]*@", "://", text)
