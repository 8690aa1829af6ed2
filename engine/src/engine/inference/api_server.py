"""vLLM's API server. All that it imports stays, so no garbage is looked for meanwhile (docs/decisions/0016)."""

import gc


def main() -> None:
    gc.disable()
    from vllm.entrypoints.launchers.api_server.entry import main as serve

    gc.freeze()
    gc.enable()
    serve()


# On a GPU, processes that it spawns import this module again.
if __name__ == "__main__":
    main()
