"""What an operator can set, from the environment or from the file that ``LIVEFIRST_ENV_FILE`` names.

No secret is ever shown: secrets are ``SecretStr``, and an error names the setting, never its value.
"""

import os
from pathlib import Path
from typing import Final, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

PREFIX: Final = "LIVEFIRST_"


class SettingsError(ValueError):
    """A setting that cannot be used; the message names it and its mend."""


class Settings(BaseSettings):
    """Every setting, with its default. Times in seconds."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, extra="ignore", frozen=True)

    database_url: str = "sqlite:///livefirst.db"
    queue_url: str | None = None
    app_id: int | None = None
    private_key: SecretStr | None = None
    private_key_file: Path | None = None
    webhook_secret: SecretStr | None = None
    client_id: str | None = None
    client_secret: SecretStr | None = None
    github_api_url: str = "https://api.github.com"
    github_web_url: str = "https://github.com"
    token: SecretStr | None = None
    public_url: str | None = None
    session_secret: SecretStr | None = None
    sign_in_token: SecretStr | None = None
    smtp_url: SecretStr | None = None
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    retain_days: int = Field(default=30, ge=1, le=3650)
    settle_seconds: float = Field(default=3.0, ge=0, le=300)
    lease_seconds: float = Field(default=30.0, ge=1, le=3600)
    sweep_seconds: float = Field(default=15.0, ge=0.2, le=3600)
    retry_seconds: float = Field(default=5.0, ge=0.1, le=600)
    workers: int = Field(default=2, ge=1, le=64)
    github_calls_per_minute: int = Field(default=600, ge=1)
    log_format: Literal["json", "text", "auto"] = "auto"
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, value: str) -> str:
        if value.startswith("postgresql://"):
            return "postgresql+psycopg://" + value.removeprefix("postgresql://")
        if not value.startswith(("sqlite:///", "postgresql+psycopg://")):
            raise ValueError("must start with sqlite:/// or postgresql+psycopg://")
        return value

    @field_validator("queue_url")
    @classmethod
    def _known_queue(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("redis://", "rediss://", "sqlite:///", "postgresql")):
            raise ValueError("must start with redis://, rediss://, sqlite:/// or postgresql")
        return value

    @field_validator("github_api_url", "github_web_url", "public_url")
    @classmethod
    def _address(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("https://", "http://")):
            raise ValueError("must start with https:// (or http:// on a private network)")
        return value.rstrip("/") if value else value

    @property
    def webhook_secrets(self) -> tuple[bytes, ...]:
        """The secrets that a delivery may be signed with, newest first; more than one while rotating."""
        if self.webhook_secret is None:
            return ()
        parts = self.webhook_secret.get_secret_value().split(",")
        return tuple(part.strip().encode() for part in parts if part.strip())

    def read_private_key(self) -> str | None:
        """Return the App's private key in PEM form, from the setting or from its file.

        Raises
        ------
        SettingsError
            When the file cannot be read.
        """
        if self.private_key is not None:  # escaped line ends are common where an environment holds one line only
            return self.private_key.get_secret_value().replace("\\n", "\n")
        if self.private_key_file is None:
            return None
        try:
            return self.private_key_file.read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not a PEM file"
            raise SettingsError(f"{PREFIX}PRIVATE_KEY_FILE: {self.private_key_file}: {reason}") from None


def load() -> Settings:
    """Read the settings.

    Raises
    ------
    SettingsError
        Naming every setting that cannot be used and why, never its value.
    """
    named = os.environ.get(PREFIX + "ENV_FILE")
    if named and not Path(named).is_file():
        raise SettingsError(f"{PREFIX}ENV_FILE: {named}: no such file")
    try:
        return Settings(_env_file=named or None)
    except ValidationError as error:
        problems = [
            f"{PREFIX}{str(one['loc'][0]).upper()}: {one['msg'].removeprefix('Value error, ')}"
            for one in error.errors(include_input=False, include_url=False)
        ]
        raise SettingsError("; ".join(problems)) from None
