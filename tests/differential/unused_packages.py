"""Stand-ins for packages that the reference imports at its start and that no request of the comparison reaches."""

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

# Clouds, queues and monitoring; and a module that the wheel itself leaves out.
UNUSED = (
    "azure",
    "boto3",
    "botocore",
    "confluent_kafka",
    "ddtrace",
    "google.api_core",
    "google.cloud",
    "google.oauth2",
    "redis",
    "weave.trace_server.model_providers",
)


def stand_in_for_unused_packages() -> None:
    """Lets the imports of `UNUSED` succeed without the packages."""
    sys.meta_path.insert(0, _Finder())


class _Anything:
    """Stands for a class, a constant, a decorator or the function that makes one, as the importer pleases."""

    def __getattr__(self, name: str) -> "_Anything":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args: object, **kwargs: object) -> "_Anything | Callable[..., object]":
        decorates = len(args) == 1 and callable(args[0]) and not isinstance(args[0], _Anything)
        return args[0] if decorates and callable(args[0]) else self

    def __enter__(self) -> "_Anything":
        return self

    def __exit__(self, *args: object) -> None:
        return None


class _Module(ModuleType):
    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        # Capitalised names are caught, inherited from and put in unions, which wants classes.
        return type(name, (Exception,), {}) if name[0].isupper() else _Anything()


class _Finder(MetaPathFinder, Loader):
    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        unused = any(fullname == name or fullname.startswith(f"{name}.") for name in UNUSED)
        return ModuleSpec(fullname, self, is_package=True) if unused else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        return None
