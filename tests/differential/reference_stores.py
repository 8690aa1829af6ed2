"""What weave's own server code can keep its data in. Imported after the stand-ins for packages that are not used."""

import typing
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import tenacity.nap
from weave.trace_server import trace_server_interface as tsi


def open_clickhouse(folder: Path) -> tsi.FullTraceServerInterface:
    """The hosted service's implementation, on ClickHouse inside this process."""
    import clickhouse_connect
    from clickhouse_connect.driver.client import Client
    from weave.trace_server import clickhouse_trace_server_batched as batched
    from weave.trace_server import clickhouse_trace_server_migrator as migrator

    database = "weave"
    client: typing.Any = clickhouse_connect.get_client(interface="chdb", path=str(folder))
    migrator.get_clickhouse_trace_server_migrator(client).apply_migrations(database)
    client.database = database
    client.query_rows_stream = lambda *args, **kwargs: WholeStream(client, args, kwargs)
    client.close = lambda: None
    # It would wait for replicas that may not know a new object yet; here there is one store.
    waiting: typing.Any = tenacity.nap
    waiting.time = SimpleNamespace(sleep=lambda seconds: None)

    class Embedded(batched.ClickHouseTraceServer):
        def _mint_client(self) -> Client:
            return client

    return Embedded(host="embedded", database=database)


def open_clickhouse_server(url: str) -> tsi.FullTraceServerInterface:
    """The hosted service's implementation, on a ClickHouse server."""
    import clickhouse_connect
    from weave.trace_server import clickhouse_trace_server_batched as batched
    from weave.trace_server import clickhouse_trace_server_migrator as migrator

    at = urlsplit(url)
    host, port, user, password = at.hostname or "", at.port or 8123, at.username or "", at.password or ""
    database = at.path.strip("/")
    client: typing.Any = clickhouse_connect.get_client(host=host, port=port, username=user, password=password)
    migrator.get_clickhouse_trace_server_migrator(client).apply_migrations(database)
    return batched.ClickHouseTraceServer(host=host, port=port, user=user, password=password, database=database)


class WholeStream:
    """Rows that are all read at once: the embedded ClickHouse has one open stream a connection."""

    def __init__(self, client: typing.Any, args: tuple, kwargs: dict) -> None:
        self.read = lambda: client.query(*args, **kwargs)

    def __enter__(self) -> "WholeStream":
        self.source = self.read()
        return self

    def __exit__(self, *args: object) -> None:
        return None

    def __iter__(self) -> Iterator:
        return iter(self.source.result_rows)


def open_sqlite(folder: Path) -> tsi.FullTraceServerInterface:
    """The implementation for local use, which takes more than the hosted one in a few places."""
    from weave.trace_server.sqlite_trace_server import SqliteTraceServer

    folder.mkdir(parents=True, exist_ok=True)
    server = SqliteTraceServer(str(folder / "reference.db"))
    server.setup_tables()
    return server
