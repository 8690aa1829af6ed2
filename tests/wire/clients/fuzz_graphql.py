"""Hooks of schemathesis for GraphQL: values of the schema's scalars, and a check of every reply."""

import json

import schemathesis
from hypothesis import strategies as st
from schemathesis.graphql import nodes

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)

schemathesis.graphql.scalar("Int64", st.integers(-(2**63), 2**63 - 1).map(nodes.Int))
schemathesis.graphql.scalar("JSONString", _JSON.map(json.dumps).map(nodes.String))


@schemathesis.check
def is_graphql(_context, response, _case) -> None:
    """A refusal is an error with a message, in a reply that is no error of the server."""
    assert response.status_code < 500, response.text
    body = response.json()
    assert "data" in body or "errors" in body, response.text
