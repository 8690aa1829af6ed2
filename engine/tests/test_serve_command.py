"""The flags of vLLM that engine.serve passes."""

import sys

import pytest

from engine.serve import NO_MEDIA_HOST, command, environment, parse_arguments

ARGUMENTS = ["--model", "m", "--served-model-name", "m", "--port", "1"]
FLAG = "--allowed-media-domains"


@pytest.mark.parametrize(
    ("flags", "hosts"), [([], [NO_MEDIA_HOST]), (["--", FLAG, "media.test"], [NO_MEDIA_HOST, "media.test"])]
)
def test_media_of_no_other_host_are_fetched(
    flags: list[str], hosts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of several, vLLM takes the last."""
    monkeypatch.setattr(sys, "argv", ["serve", *ARGUMENTS, *flags])
    arguments = parse_arguments()
    words = command(arguments)
    assert [words[index + 1] for index, word in enumerate(words) if word == FLAG] == hosts
    assert environment(arguments)["VLLM_MEDIA_URL_ALLOW_REDIRECTS"] == "0"
