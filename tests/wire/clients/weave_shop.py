"""An agent of a shop whose ops declare their kinds, and one of which fails inside a library; prints the ids of its calls."""

import json
import os

import weave


@weave.op(kind="tool")
def check_stock(item: str) -> int:
    return len(item)


@weave.op(kind="search")
def find_offers(item: str) -> list[str]:
    return [f"{item} for two euros"]


# Its name sounds like a search, which it is not.
@weave.op(kind="tool")
def search_catalogue(page: str) -> dict:
    return json.loads(page)


@weave.op(kind="guardrail")
def is_polite(text: str) -> bool:
    return "please" in text


@weave.op(kind="agent")
def sell(item: str, page: str) -> dict:
    is_polite(f"One {item}, please")
    check_stock(item)
    find_offers(item)
    return search_catalogue(page)


@weave.op
def lookup(item: str) -> str:
    return item.upper()


client = weave.init(os.environ["PROJECT"])
_, sold = sell.call("lamp", '{"price": 2}')
_, failed = sell.call("lamp", "{price}", __should_raise=False)
_, looked = lookup.call("lamp")
client.flush()
print(json.dumps({"sold": sold.id, "failed": failed.id, "looked": looked.id}))
