"""Status words and names on the wire. Records keep a server's word unchanged; these are the known ones."""

import re
from enum import StrEnum
from typing import Literal


class SandboxStatus(StrEnum):
    """Status of a sandbox."""

    STARTING = "STARTING"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    ERROR = "ERROR"
    MISSING = "MISSING"


class ExecutionStatus(StrEnum):
    """Status of the agent in a conversation; null if its sandbox does not read RUNNING."""

    IDLE = "idle"
    RUNNING = "running"
    PAUSED = "paused"
    WAITING_FOR_CONFIRMATION = "waiting_for_confirmation"
    FINISHED = "finished"
    ERROR = "error"
    STUCK = "stuck"
    DELETING = "deleting"


class StartTaskStatus(StrEnum):
    """Step of a start task, in the order of the steps."""

    WORKING = "WORKING"
    WAITING_FOR_SANDBOX = "WAITING_FOR_SANDBOX"
    PREPARING_REPOSITORY = "PREPARING_REPOSITORY"
    RUNNING_SETUP_SCRIPT = "RUNNING_SETUP_SCRIPT"
    SETTING_UP_GIT_HOOKS = "SETTING_UP_GIT_HOOKS"
    SETTING_UP_SKILLS = "SETTING_UP_SKILLS"
    STARTING_CONVERSATION = "STARTING_CONVERSATION"
    READY = "READY"
    ERROR = "ERROR"


class UrlName(StrEnum):
    """Name of an exposed address of a sandbox."""

    AGENT_SERVER = "AGENT_SERVER"
    VSCODE = "VSCODE"
    WORKER_1 = "WORKER_1"
    WORKER_2 = "WORKER_2"


class GitProvider(StrEnum):
    """The provider that hosts a repository, as releases know them; an older one refuses bitbucket_data_center."""

    GITHUB = "github"
    GITLAB = "gitlab"
    BITBUCKET = "bitbucket"
    BITBUCKET_DATA_CENTER = "bitbucket_data_center"
    FORGEJO = "forgejo"
    AZURE_DEVOPS = "azure_devops"
    ENTERPRISE_SSO = "enterprise_sso"


Grouping = Literal["NO_GROUPING", "GROUP_BY_NEWEST", "LEAST_RECENTLY_USED", "FEWEST_CONVERSATIONS", "ADD_TO_ANY"]
"""How a server that shares sandboxes chooses one for a new conversation."""

_MASK = re.compile(r"[*∗⁎＊•●∙·]+|<(?:hidden|redacted|masked|secret)>|\[(?:hidden|redacted|masked)\]", re.I)


def is_mask(text: str) -> bool:
    """Whether a text is a mask for a hidden value, which a server would store as the value (SERVERS.md: masks)."""
    return _MASK.fullmatch(text.strip()) is not None
